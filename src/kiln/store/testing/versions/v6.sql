-- A store of version 6, as the Kiln of that time wrote it: one finished group, one interrupted, one still running.
BEGIN TRANSACTION;
CREATE TABLE allocation (                  -- what of it the lab could use
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: processors, CPU time, memory
) STRICT, WITHOUT ROWID;
INSERT INTO "allocation" VALUES('e6456642ed1f1e363e32de0e29f2fc4c','{"processors":[0,1]}');
CREATE TABLE "calibration" (
  hardware TEXT NOT NULL REFERENCES hardware,
  allocation TEXT NOT NULL REFERENCES allocation,
  taken INTEGER NOT NULL,
  ceilings TEXT NOT NULL,                  -- JSON
  PRIMARY KEY (hardware, allocation, taken)
) STRICT, WITHOUT ROWID;
INSERT INTO "calibration" VALUES('edb9e8299998c1755f0ec7ce86b59642','e6456642ed1f1e363e32de0e29f2fc4c',1789999999999999997,'{"threads":2,"gflops":{"f32":170.5,"f16":85},"gb_per_s":21.5}');
CREATE TABLE "candidate" (
  key TEXT PRIMARY KEY,
  problem TEXT NOT NULL REFERENCES problem,
  provider TEXT NOT NULL,
  provider_version TEXT NOT NULL,
  configuration TEXT NOT NULL,
  variant TEXT NOT NULL,
  compiler_flags TEXT NOT NULL,
  module_hash TEXT NOT NULL,
  threads INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "candidate" VALUES('10d98e0efb1934249161c1c583d1856a','e03fe12a5e5f51add26e3f692b64c22a','openblas','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('2065e04e8e85544d49152197788ba9c5','1d469ea2dfba52666345edc0daf4ebbe','reference','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('259e00be91ddfa46ed146eb51903733f','e03fe12a5e5f51add26e3f692b64c22a','onednn','1.0','','preferred layout','-O3','',2);
INSERT INTO "candidate" VALUES('39283719427e370b811a16109af73621','e03fe12a5e5f51add26e3f692b64c22a','kiln','1.0','tile_config_96x64_128x1_fma_6x32','','-O3','dd2cd6da34940ab13c99e8c8b97e5914',2);
INSERT INTO "candidate" VALUES('3a7c76c642ecaf8be3451d295e0cadd1','e03fe12a5e5f51add26e3f692b64c22a','kiln','1.0','tile_config_64x64_128x1_fma_6x32_packb','','-O3','8f95f73cea936099dd411a1c001b28d1',2);
INSERT INTO "candidate" VALUES('4832cf55b8bd32dec36ed903fd268428','08e25c51f6dc15a674a7c684b1cf2c9f','onednn','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('52bbb1295d433ddd4f8938d007a4b8c7','e03fe12a5e5f51add26e3f692b64c22a','onednn','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('5d1490f978bf74b7edef7b095e971485','1d469ea2dfba52666345edc0daf4ebbe','kiln','1.0','tile_config_32x64_128x1_fma_6x32','','-O3','af7ace54bd12e9aac63c27e587233ee0',2);
INSERT INTO "candidate" VALUES('718697491241f2cd21f3294c2c0c63a5','1d469ea2dfba52666345edc0daf4ebbe','onednn','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('8cc96f28ddf8ffed4790e3dfca9032ab','1d469ea2dfba52666345edc0daf4ebbe','openblas','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('8e4efa2346db0da2e51672ce2268820f','e03fe12a5e5f51add26e3f692b64c22a','kiln','1.0','tile_config_32x64_128x1_fma_6x32','','-O3','af7ace54bd12e9aac63c27e587233ee0',2);
INSERT INTO "candidate" VALUES('9f2c11a7e837e02c3fff68a088b2a424','1d469ea2dfba52666345edc0daf4ebbe','onednn','1.0','','preferred layout','-O3','',2);
INSERT INTO "candidate" VALUES('ac1a14f0a54a604a2efe8f6b584dfa2a','1d469ea2dfba52666345edc0daf4ebbe','kiln','1.0','tile_config_64x64_128x1_fma_6x32_packb','','-O3','8f95f73cea936099dd411a1c001b28d1',2);
INSERT INTO "candidate" VALUES('c1d4c1dcccaf6bd45897f2cf2e545ad7','e03fe12a5e5f51add26e3f692b64c22a','reference','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('e834aa29bffb40790a73a1f465f5de87','1d469ea2dfba52666345edc0daf4ebbe','kiln','1.0','tile_config_96x64_128x1_fma_6x32','','-O3','dd2cd6da34940ab13c99e8c8b97e5914',2);
CREATE TABLE counters (                    -- of all calls of a round
  grp TEXT NOT NULL,
  candidate TEXT NOT NULL,
  idx INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  cycles INTEGER,                          -- null, as those below: not counted
  instructions INTEGER,
  cache_misses INTEGER,
  flops INTEGER,                           -- floating-point operations, a multiply-add as two
  PRIMARY KEY (grp, candidate, idx),
  FOREIGN KEY (grp, candidate, idx) REFERENCES round
) STRICT, WITHOUT ROWID;
CREATE TABLE estimate (                    -- nanoseconds of one call
  grp TEXT NOT NULL REFERENCES grp,
  candidate TEXT NOT NULL REFERENCES candidate,
  median REAL NOT NULL,
  p10 REAL NOT NULL,
  p90 REAL NOT NULL,
  low REAL NOT NULL,                       -- interval of the median
  high REAL NOT NULL,
  device_median REAL,
  launch_median REAL,
  rounds INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  rank INTEGER NOT NULL,                   -- 0: not ranked
  ties TEXT NOT NULL,                      -- JSON: keys of candidates
  ratio REAL NOT NULL,                     -- of its time to the leader's
  ratio_low REAL NOT NULL,
  ratio_high REAL NOT NULL,
  dropped INTEGER NOT NULL,                -- 1: left the rounds early
  PRIMARY KEY (grp, candidate)
) STRICT, WITHOUT ROWID;
INSERT INTO "estimate" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',19703008.5,1.94418326588235311214e+07,2.05274172235294133414e+07,1.9658949571764707565e+07,1.98168527811764702203e+07,NULL,NULL,4,80,3,'[]',6.39175257731958765825e+01,6.35979381443298947846e+01,6.42371134020618512767e+01,0);
INSERT INTO "estimate" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',318336.0,3.1367913292713020929e+05,3.31194211415447120096e+05,3.17182148624793568158e+05,3.19729796404912427532e+05,NULL,NULL,4,80,2,'[]',1.03126049972887834371e+00,1.02610419723023404969e+00,1.03641680222752263773e+00,0);
INSERT INTO "estimate" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',309636.5,3.04170607726755202744e+05,3.21154753335863410034e+05,3.07567436848576820918e+05,3.10037858028083515809e+05,NULL,NULL,4,80,1,'[]',1.0,0.995,1.005,0);
CREATE TABLE "grp" (
  key TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run,
  problem TEXT NOT NULL REFERENCES problem,
  started INTEGER NOT NULL,
  node TEXT REFERENCES node,               -- where it was measured; null, as those below: where its run was begun
  hardware TEXT REFERENCES hardware,
  allocation TEXT REFERENCES allocation
) STRICT, WITHOUT ROWID;
INSERT INTO "grp" VALUES('449c71327e72fa96921ee3b2f7cb7321','addf78fa1e9543e3ed04962787f34662','08e25c51f6dc15a674a7c684b1cf2c9f',1790000180000000000,NULL,NULL,NULL);
INSERT INTO "grp" VALUES('4ae5d5d8f09f05ea77a6573001095a05','addf78fa1e9543e3ed04962787f34662','e03fe12a5e5f51add26e3f692b64c22a',1790000120000000000,NULL,NULL,NULL);
INSERT INTO "grp" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','addf78fa1e9543e3ed04962787f34662','1d469ea2dfba52666345edc0daf4ebbe',1790000060000000000,NULL,NULL,NULL);
CREATE TABLE grp_cut (
  grp TEXT PRIMARY KEY REFERENCES grp,
  seconds REAL NOT NULL                    -- that its rounds had
) STRICT, WITHOUT ROWID;
CREATE TABLE "grp_end" (                 -- finished; none: running, or interrupted
  grp TEXT PRIMARY KEY REFERENCES grp,
  ended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "grp_end" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f',1795345232942502493);
CREATE TABLE grp_interrupted (             -- stopped before it was finished
  grp TEXT PRIMARY KEY REFERENCES grp
) STRICT, WITHOUT ROWID;
INSERT INTO "grp_interrupted" VALUES('4ae5d5d8f09f05ea77a6573001095a05');
CREATE TABLE hardware (                    -- its kind
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: cpu, cores, caches, gpus, clock limits, kernel, governor
) STRICT, WITHOUT ROWID;
INSERT INTO "hardware" VALUES('edb9e8299998c1755f0ec7ce86b59642','{"cpu":"Test CPU","cores":2,"kernel":"6.1","governor":"performance"}');
CREATE TABLE node (                        -- which machine
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: host name, machine id
) STRICT, WITHOUT ROWID;
INSERT INTO "node" VALUES('f61da499015b759a35ca5c2b9574be59','{"host":"test-node"}');
CREATE TABLE "problem" (
  key TEXT PRIMARY KEY,                    -- of all that follows
  name TEXT NOT NULL,
  family TEXT NOT NULL,
  fields TEXT NOT NULL,                    -- JSON: [[name, value], ...]
  flops REAL NOT NULL,
  bytes REAL NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "problem" VALUES('08e25c51f6dc15a674a7c684b1cf2c9f','matmul_96x96x96_f32t_f32t_f32t','matmul','[["m","96"],["n","96"],["k","96"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',1769472.0,110592.0);
INSERT INTO "problem" VALUES('1d469ea2dfba52666345edc0daf4ebbe','matmul_256x512x128_f32t_f32t_f32t','matmul','[["m","256"],["n","512"],["k","128"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',33554432.0,917504.0);
INSERT INTO "problem" VALUES('e03fe12a5e5f51add26e3f692b64c22a','matmul_320x512x256_f32t_f32t_f32t','matmul','[["m","320"],["n","512"],["k","256"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',83886080.0,1507328.0);
CREATE TABLE "result" (
  grp TEXT NOT NULL REFERENCES grp,
  candidate TEXT NOT NULL REFERENCES candidate,
  outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'failed', 'unsupported', 'crashed', 'timeout', 'incorrect',
                                           'not verified', 'not profiled', 'implausible')),
  error TEXT NOT NULL,
  method TEXT NOT NULL,                    -- of verification; empty: none
  cause TEXT NOT NULL,
  explanation TEXT NOT NULL,
  escape_probability REAL NOT NULL,
  details TEXT NOT NULL,                   -- JSON: wrong, total, examples, tilePattern, ulpHistogram
  compile_ms REAL,                         -- null: not compiled for this group
  PRIMARY KEY (grp, candidate)
) STRICT, WITHOUT ROWID;
INSERT INTO "result" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',NULL);
INSERT INTO "result" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','5d1490f978bf74b7edef7b095e971485','incorrect','pass ''sums'': dropped tail: the last 3 columns of each row are 0; 768 of 131072 elements are wrong','exact: projection modulo 2^61-1, 2 rounds','dropped tail','the last 3 columns of each row are 0; 768 of 131072 elements are wrong',1.0e-30,'{"wrong":768,"total":131072,"examples":[{"index":[0,509],"expected":14,"actual":0,"ulps":1e9}],"tilePattern":"...x\n...x","ulpHistogram":"inf: 768"}',37.5651699341046);
INSERT INTO "result" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','718697491241f2cd21f3294c2c0c63a5','unsupported','the tile does not divide the problem','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',NULL);
INSERT INTO "result" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',NULL);
INSERT INTO "result" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',NULL);
INSERT INTO "result" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','ac1a14f0a54a604a2efe8f6b584dfa2a','crashed','the worker was killed by signal 11 (segmentation fault) while it ran round 3','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',3.51535722330493101135e+01);
INSERT INTO "result" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','e834aa29bffb40790a73a1f465f5de87','timeout','no answer within 10 s; raise --timeout if the problem is that large','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',2.42433804167242321629e+01);
CREATE TABLE round (
  grp TEXT NOT NULL REFERENCES grp,
  candidate TEXT NOT NULL REFERENCES candidate,
  idx INTEGER NOT NULL,
  started INTEGER NOT NULL,
  load REAL NOT NULL,
  megahertz REAL,
  batch INTEGER NOT NULL,                  -- calls that each sample sums
  cache_mode TEXT NOT NULL,
  samples BLOB NOT NULL,                   -- nanoseconds; see docs/store.md
  PRIMARY KEY (grp, candidate, idx)
) STRICT;
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114D0AC27FD6DD28702D79E02CE8A01E49601C782028E33E155A24F8E09D4E001A1B7028CBA02D3C102C41CE472D104E16585140000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',0,1790000000000000000,0.5,3000.0,1,'cold',X'01149AC6B113AA834AA9CEA901EAD98901D5E212CFEA76BA9A24EA900FB6E563CF998301E1C20AD322EAD64C89FB6494D303EE8C1E92A523D3C333CCF837B1B13D0000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',0,1790000000000000000,0.5,3000.0,1,'cold',X'011486E725E34BCACD01DDDF01D2378A13E3319E0DB09501F71DC38201B23D86B401D3D801BC12C742B2F00195EF01FE9A01A3630000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',1,1790000001000000000,0.5,3000.0,1,'cold',X'011490F226F150DEC001F243F58B01D739AD33CECC0290E203B3AA059D68DD0EEF1EB017D410BEED03F3F401EDE701911DA7150000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114B0FCC012FCEDD601A2BF3BC9B2BF01E4978C01B9F78D01BFC52C98BF2CD58C3A929C169FC823E292B301F3919201F28457DFFD4895B11DF6F40381C904D4956D85B36B0000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114C69426AB8A01A216B4980195AB01C259BE13E52FF264D94AAE28D725D74AC615BCDD02B9C301855CF81EDC86038E080000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114EECD26E122F879933FAE08DD1A92AB01F36F801BB40EEF50A232E68F028F8602FB33BF50D6DC018554B005E61E0000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114E48BDB12B3FF10F6BF21BB931AB0E60C87BA01F5D50B999109B6FF2E8FE82397B112EEF52F90964FE39174D6A61FE7B128D1A601989D43E7DC3BD2F4160000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114A4B025AC73B509C4B301B1798D45D35FCB0BAA3BDA8A028796018C609192028915F69301A72AC5198F529E02E287010000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',3,1790000003000000000,0.5,3000.0,1,'cold',X'011482DD28BDAF02F430AA0FCC03F324AC01EF0CF606EC8201C258ADE6019AB401AFA301FD279024970FE470DF8601CF040000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',3,1790000003000000000,0.5,3000.0,1,'cold',X'011496DDFB1285FF0CF1B421FEBE12E1A914D1D101E98806AAC309AF27D690BE018BD378AA9814E3CD4DCDF509BCA93EEBB726FC5DE8D4468BD83F95DC0F0000');
INSERT INTO "round" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',3,1790000003000000000,0.5,3000.0,1,'cold',X'01149C8725F23ACB2DBC37824FA4E502A7CB03803FE09D01C9FB018205B48601DD7C920A9E0298B502C9A701E45CBD04DDF7010000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','10d98e0efb1934249161c1c583d1856a',0,1790000000000000000,0.5,3000.0,1,'cold',X'01149EE55FC429D03DF2BB05E98B069ED1039EDE03DBB204D5B6019A7F87B302CE8103AFA403A8D004AAD302C3DB06D68702D76BF7DC01D0320000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','c1d4c1dcccaf6bd45897f2cf2e545ad7',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114EA8BFE2FD3AA2CD5B32FB4E565E39975BBF0528CBE80019BD79601E2AE2DA69A40A0C68303F3B38A03B8D6B501878A9C01C1B8528B9226CAEDAE02E5EC9D01E2D93EEDC7B4010000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','259e00be91ddfa46ed146eb51903733f',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114DCC85EC0A90281E2038AE501E7CE019862B79401E4D404F96291D701B3AE0286B807E7B604C1BC01CA4A819B01BCC701CF96028C4BF4DD020000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','10d98e0efb1934249161c1c583d1856a',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114DADF5F9020E4D0049D8C058CA602989C06879503F99304975ACEA803D9AC03F09601E89D01D2AE01ADA701E1DD01ED679E23974494DD040000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','c1d4c1dcccaf6bd45897f2cf2e545ad7',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114AA94A82FB2EFDF0193A0C402909DAA0185FD9701DABDB001C9F9DB01B4FE8706FBEDC105A0C866EEDA1F849B1EC7CF7DA8EC24F78E9301FEB7CD0295E7D002A6C9E1018BB961F7DA0C0000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','259e00be91ddfa46ed146eb51903733f',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114F4F35F89718B6CEBA101BD1D9ADA01D994019A920188FB02878503B7BD01F6E402E5F202B8AA0AFF9F09EE5FCBCF01BE28A3479E8C040000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','10d98e0efb1934249161c1c583d1856a',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114989C60E68B03F65C8B8002DD8F01DEBC019E9B02EBBF04C814F4E001B08F01BBFD02D8BC02D8A401878304A48104BFAD03DA9801BF9E01FA4A0000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','c1d4c1dcccaf6bd45897f2cf2e545ad7',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114C28D982F868F1091C25CBA954D85BB08B1E857B09C1DB5970DDEE838B7A235B9AE21FAA64182F47AF1CAB1019BF404EFE00AB299409EF1128CAE0198A21C0000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','259e00be91ddfa46ed146eb51903733f',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114F2A95DD6FA03A76AA78D01ECE903F18E0295E803ECB302FA8302D3B002FCF80190BF01EFBF04D4C903EDA501DFF602ACDA07CBDC02E1B005A2AE040000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','10d98e0efb1934249161c1c583d1856a',3,1790000003000000000,0.5,3000.0,1,'cold',X'0114EA9060B401B701DD23CCC502F19801975F8715A6E10699BD06A0F00395CB02BFAD01D142AE2BFA33D177D29F03CF970394A5020000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','c1d4c1dcccaf6bd45897f2cf2e545ad7',3,1790000003000000000,0.5,3000.0,1,'cold',X'0114DADCE131A599EF02B82783CA4FFE8263F5832CC5B831C2FF8C02B7E597018F992596DA72C1B2C601FAED6ADEF2BE019DD48E02BA8D5E80868402E7D8E702AA8FCE02C3E9D8020000');
INSERT INTO "round" VALUES('4ae5d5d8f09f05ea77a6573001095a05','259e00be91ddfa46ed146eb51903733f',3,1790000003000000000,0.5,3000.0,1,'cold',X'0114D2F85DB510CD7D882E8B23EE15E4C501FCD508BF8908F58E02E4C401D9BB018931EAC4048BFC03B6B201C79001E143D6EA02B7160000');
CREATE TABLE "run" (
  key TEXT PRIMARY KEY,
  sweep TEXT NOT NULL,                     -- content key of problems, candidates and settings
  started INTEGER NOT NULL,                -- nanoseconds since 1970, as all times of day here
  node TEXT NOT NULL REFERENCES node,      -- where it was begun
  hardware TEXT NOT NULL REFERENCES hardware,
  allocation TEXT NOT NULL REFERENCES allocation,
  command_line TEXT NOT NULL,
  flags TEXT NOT NULL,                     -- JSON
  seed INTEGER NOT NULL,                   -- unsigned, in two's complement
  cache_mode TEXT NOT NULL,
  data_distribution TEXT NOT NULL,
  tags TEXT NOT NULL,                      -- JSON: [[name, value], ...]
  kiln_version TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "run" VALUES('addf78fa1e9543e3ed04962787f34662','51f40128e9f7b0583acca28b89692515',1790000000000000000,'f61da499015b759a35ca5c2b9574be59','edb9e8299998c1755f0ec7ce86b59642','e6456642ed1f1e363e32de0e29f2fc4c','kiln-dispatch sweep --problem-m=256','{"problem-m":"256"}',-1,'cold','integers -7..7','[["branch","main"],["note","a, \"b\""]]','0.1.0');
CREATE TABLE "run_end" (                 -- none: still running, or interrupted; several: of copies, the last counts
  run TEXT NOT NULL REFERENCES run,
  ended INTEGER NOT NULL,
  PRIMARY KEY (run, ended)
) STRICT, WITHOUT ROWID;
CREATE TABLE worker (                      -- of a candidate in a group: what it said of itself, and took
  grp TEXT NOT NULL,
  candidate TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  note TEXT NOT NULL,                      -- for readers of the results; empty: none
  processes INTEGER NOT NULL,              -- that were timed
  peak_memory INTEGER NOT NULL,            -- bytes, resident, of the largest process
  PRIMARY KEY (grp, candidate),
  FOREIGN KEY (grp, candidate) REFERENCES result
) STRICT, WITHOUT ROWID;
INSERT INTO "worker" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5','reference','1.0','',4,100663296);
INSERT INTO "worker" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','5d1490f978bf74b7edef7b095e971485','kiln','1.0','',4,100663296);
INSERT INTO "worker" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','718697491241f2cd21f3294c2c0c63a5','onednn','1.0','all tensors in the problem''s layouts',4,100663296);
INSERT INTO "worker" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab','openblas','1.0','',4,100663296);
INSERT INTO "worker" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424','onednn','1.0','all tensors in the problem''s layouts',4,100663296);
INSERT INTO "worker" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','ac1a14f0a54a604a2efe8f6b584dfa2a','kiln','1.0','',4,100663296);
INSERT INTO "worker" VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','e834aa29bffb40790a73a1f465f5de87','kiln','1.0','',4,100663296);
CREATE TRIGGER round_never_UPDATE BEFORE UPDATE ON round BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER round_never_DELETE BEFORE DELETE ON round BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER estimate_never_UPDATE BEFORE UPDATE ON estimate BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER estimate_never_DELETE BEFORE DELETE ON estimate BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER counters_never_UPDATE BEFORE UPDATE ON counters BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER counters_never_DELETE BEFORE DELETE ON counters BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER worker_never_UPDATE BEFORE UPDATE ON worker BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER worker_never_DELETE BEFORE DELETE ON worker BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_cut_never_UPDATE BEFORE UPDATE ON grp_cut BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_cut_never_DELETE BEFORE DELETE ON grp_cut BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE INDEX run_by_start ON run (started);
CREATE INDEX problem_by_name ON problem (name);
CREATE INDEX grp_by_run ON grp (run, problem, started);
CREATE VIEW dispatch AS                    -- for questions by hand: one row for each result of a finished group
SELECT g.run, p.name AS problem, c.provider, c.variant, c.configuration, r.outcome, r.cause, e.rank,
       e.median / 1e6 AS ms, e.low / 1e6 AS low_ms, e.high / 1e6 AS high_ms,
       NULLIF(p.flops, 0) / e.median AS gflops,
       e.rounds, e.samples, c.threads, u.cache_mode, r.grp, r.candidate
FROM result r
JOIN grp_end x ON x.grp = r.grp
JOIN grp g ON g.key = r.grp
JOIN run u ON u.key = g.run
JOIN problem p ON p.key = g.problem
JOIN candidate c ON c.key = r.candidate
LEFT JOIN estimate e ON e.grp = r.grp AND e.candidate = r.candidate;
CREATE TRIGGER node_never_UPDATE BEFORE UPDATE ON node BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER node_never_DELETE BEFORE DELETE ON node BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER hardware_never_UPDATE BEFORE UPDATE ON hardware BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER hardware_never_DELETE BEFORE DELETE ON hardware BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER allocation_never_UPDATE BEFORE UPDATE ON allocation BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER allocation_never_DELETE BEFORE DELETE ON allocation BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER run_never_UPDATE BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER run_never_DELETE BEFORE DELETE ON run BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER run_end_never_UPDATE BEFORE UPDATE ON run_end BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER run_end_never_DELETE BEFORE DELETE ON run_end BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER problem_never_UPDATE BEFORE UPDATE ON problem BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER problem_never_DELETE BEFORE DELETE ON problem BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER candidate_never_UPDATE BEFORE UPDATE ON candidate BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER candidate_never_DELETE BEFORE DELETE ON candidate BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_never_UPDATE BEFORE UPDATE ON grp BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_never_DELETE BEFORE DELETE ON grp BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_end_never_UPDATE BEFORE UPDATE ON grp_end BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_end_never_DELETE BEFORE DELETE ON grp_end BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_interrupted_never_UPDATE BEFORE UPDATE ON grp_interrupted BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_interrupted_never_DELETE BEFORE DELETE ON grp_interrupted BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER result_never_UPDATE BEFORE UPDATE ON result BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER result_never_DELETE BEFORE DELETE ON result BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER calibration_never_UPDATE BEFORE UPDATE ON calibration BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER calibration_never_DELETE BEFORE DELETE ON calibration BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
COMMIT;
PRAGMA application_id = 1265200238;
PRAGMA user_version = 6;
