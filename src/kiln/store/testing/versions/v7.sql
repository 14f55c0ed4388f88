-- A store of version 7, as the Kiln of that time wrote it: one finished group, one interrupted, one still running.
BEGIN TRANSACTION;
CREATE TABLE allocation (                  -- what of it the lab could use
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: processors, CPU time, memory
) STRICT, WITHOUT ROWID;
INSERT INTO allocation VALUES('e6456642ed1f1e363e32de0e29f2fc4c','{"processors":[0,1]}');
CREATE TABLE IF NOT EXISTS "calibration" (
  hardware TEXT NOT NULL REFERENCES hardware,
  allocation TEXT NOT NULL REFERENCES allocation,
  taken INTEGER NOT NULL,
  ceilings TEXT NOT NULL,                  -- JSON
  PRIMARY KEY (hardware, allocation, taken)
) STRICT, WITHOUT ROWID;
INSERT INTO calibration VALUES('edb9e8299998c1755f0ec7ce86b59642','e6456642ed1f1e363e32de0e29f2fc4c',1789999999999999997,'{"threads":2,"gflops":{"f32":170.5,"f16":85},"gb_per_s":21.5}');
CREATE TABLE IF NOT EXISTS "candidate" (
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
INSERT INTO candidate VALUES('10d98e0efb1934249161c1c583d1856a','e03fe12a5e5f51add26e3f692b64c22a','openblas','1.0','','','-O3','',2);
INSERT INTO candidate VALUES('2065e04e8e85544d49152197788ba9c5','1d469ea2dfba52666345edc0daf4ebbe','reference','1.0','','','-O3','',2);
INSERT INTO candidate VALUES('259e00be91ddfa46ed146eb51903733f','e03fe12a5e5f51add26e3f692b64c22a','onednn','1.0','','preferred layout','-O3','',2);
INSERT INTO candidate VALUES('39283719427e370b811a16109af73621','e03fe12a5e5f51add26e3f692b64c22a','kiln','1.0','tile_config_96x64_128x1_fma_6x32','','-O3','dd2cd6da34940ab13c99e8c8b97e5914',2);
INSERT INTO candidate VALUES('3a7c76c642ecaf8be3451d295e0cadd1','e03fe12a5e5f51add26e3f692b64c22a','kiln','1.0','tile_config_64x64_128x1_fma_6x32_packb','','-O3','8f95f73cea936099dd411a1c001b28d1',2);
INSERT INTO candidate VALUES('4832cf55b8bd32dec36ed903fd268428','08e25c51f6dc15a674a7c684b1cf2c9f','onednn','1.0','','','-O3','',2);
INSERT INTO candidate VALUES('52bbb1295d433ddd4f8938d007a4b8c7','e03fe12a5e5f51add26e3f692b64c22a','onednn','1.0','','','-O3','',2);
INSERT INTO candidate VALUES('5d1490f978bf74b7edef7b095e971485','1d469ea2dfba52666345edc0daf4ebbe','kiln','1.0','tile_config_32x64_128x1_fma_6x32','','-O3','af7ace54bd12e9aac63c27e587233ee0',2);
INSERT INTO candidate VALUES('718697491241f2cd21f3294c2c0c63a5','1d469ea2dfba52666345edc0daf4ebbe','onednn','1.0','','','-O3','',2);
INSERT INTO candidate VALUES('8cc96f28ddf8ffed4790e3dfca9032ab','1d469ea2dfba52666345edc0daf4ebbe','openblas','1.0','','','-O3','',2);
INSERT INTO candidate VALUES('8e4efa2346db0da2e51672ce2268820f','e03fe12a5e5f51add26e3f692b64c22a','kiln','1.0','tile_config_32x64_128x1_fma_6x32','','-O3','af7ace54bd12e9aac63c27e587233ee0',2);
INSERT INTO candidate VALUES('9f2c11a7e837e02c3fff68a088b2a424','1d469ea2dfba52666345edc0daf4ebbe','onednn','1.0','','preferred layout','-O3','',2);
INSERT INTO candidate VALUES('ac1a14f0a54a604a2efe8f6b584dfa2a','1d469ea2dfba52666345edc0daf4ebbe','kiln','1.0','tile_config_64x64_128x1_fma_6x32_packb','','-O3','8f95f73cea936099dd411a1c001b28d1',2);
INSERT INTO candidate VALUES('c1d4c1dcccaf6bd45897f2cf2e545ad7','e03fe12a5e5f51add26e3f692b64c22a','reference','1.0','','','-O3','',2);
INSERT INTO candidate VALUES('e834aa29bffb40790a73a1f465f5de87','1d469ea2dfba52666345edc0daf4ebbe','kiln','1.0','tile_config_96x64_128x1_fma_6x32','','-O3','dd2cd6da34940ab13c99e8c8b97e5914',2);
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
INSERT INTO estimate VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',19703008.499999999999,19441832.658823531121,20527417.223529413341,19658949.571764707565,19816852.78117647022,NULL,NULL,4,80,3,'[]',63.917525773195876582,63.597938144329894784,64.237113402061851276,0);
INSERT INTO estimate VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',318336.0,313679.13292713020929,331194.21141544712009,317182.14862479356815,319729.79640491242753,NULL,NULL,4,80,2,'[]',1.0312604997288783437,1.0261041972302340496,1.0364168022275226377,0);
INSERT INTO estimate VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',309636.49999999999999,304170.60772675520274,321154.75333586341003,307567.43684857682091,310037.8580280835158,NULL,NULL,4,80,1,'[]',1.0,0.99499999999999999555,1.0049999999999998934,0);
CREATE TABLE IF NOT EXISTS "grp" (
  key TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run,
  problem TEXT NOT NULL REFERENCES problem,
  started INTEGER NOT NULL,
  node TEXT REFERENCES node,               -- where it was measured; null, as those below: where its run was begun
  hardware TEXT REFERENCES hardware,
  allocation TEXT REFERENCES allocation
) STRICT, WITHOUT ROWID;
INSERT INTO grp VALUES('449c71327e72fa96921ee3b2f7cb7321','addf78fa1e9543e3ed04962787f34662','08e25c51f6dc15a674a7c684b1cf2c9f',1790000180000000000,NULL,NULL,NULL);
INSERT INTO grp VALUES('4ae5d5d8f09f05ea77a6573001095a05','addf78fa1e9543e3ed04962787f34662','e03fe12a5e5f51add26e3f692b64c22a',1790000120000000000,NULL,NULL,NULL);
INSERT INTO grp VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','addf78fa1e9543e3ed04962787f34662','1d469ea2dfba52666345edc0daf4ebbe',1790000060000000000,NULL,NULL,NULL);
CREATE TABLE grp_cut (
  grp TEXT PRIMARY KEY REFERENCES grp,
  seconds REAL NOT NULL                    -- that its rounds had
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS "grp_end" (                 -- finished; none: running, or interrupted
  grp TEXT PRIMARY KEY REFERENCES grp,
  ended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO grp_end VALUES('ca5e06ecb4f729cfbf17a7518474ca6f',1795345232942502493);
CREATE TABLE grp_interrupted (             -- stopped before it was finished
  grp TEXT PRIMARY KEY REFERENCES grp
) STRICT, WITHOUT ROWID;
INSERT INTO grp_interrupted VALUES('4ae5d5d8f09f05ea77a6573001095a05');
CREATE TABLE hardware (                    -- its kind
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: cpu, cores, caches, gpus, clock limits, kernel, governor
) STRICT, WITHOUT ROWID;
INSERT INTO hardware VALUES('edb9e8299998c1755f0ec7ce86b59642','{"cpu":"Test CPU","cores":2,"kernel":"6.1","governor":"performance"}');
CREATE TABLE node (                        -- which machine
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: host name, machine id
) STRICT, WITHOUT ROWID;
INSERT INTO node VALUES('f61da499015b759a35ca5c2b9574be59','{"host":"test-node"}');
CREATE TABLE IF NOT EXISTS "problem" (
  key TEXT PRIMARY KEY,                    -- of all that follows
  name TEXT NOT NULL,
  family TEXT NOT NULL,
  fields TEXT NOT NULL,                    -- JSON: [[name, value], ...]
  flops REAL NOT NULL,
  bytes REAL NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO problem VALUES('08e25c51f6dc15a674a7c684b1cf2c9f','matmul_96x96x96_f32t_f32t_f32t','matmul','[["m","96"],["n","96"],["k","96"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',1769472.0,110592.0);
INSERT INTO problem VALUES('1d469ea2dfba52666345edc0daf4ebbe','matmul_256x512x128_f32t_f32t_f32t','matmul','[["m","256"],["n","512"],["k","128"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',33554432.0,917504.0);
INSERT INTO problem VALUES('e03fe12a5e5f51add26e3f692b64c22a','matmul_320x512x256_f32t_f32t_f32t','matmul','[["m","320"],["n","512"],["k","256"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',83886080.0,1507328.0);
CREATE TABLE IF NOT EXISTS "result" (
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
INSERT INTO result VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0000000000000000834e-30,'{}',NULL);
INSERT INTO result VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','5d1490f978bf74b7edef7b095e971485','incorrect','pass ''sums'': dropped tail: the last 3 columns of each row are 0; 768 of 131072 elements are wrong','exact: projection modulo 2^61-1, 2 rounds','dropped tail','the last 3 columns of each row are 0; 768 of 131072 elements are wrong',1.0000000000000000834e-30,'{"wrong":768,"total":131072,"examples":[{"index":[0,509],"expected":14,"actual":0,"ulps":1e9}],"tilePattern":"...x\n...x","ulpHistogram":"inf: 768"}',37.565169934104602588);
INSERT INTO result VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','718697491241f2cd21f3294c2c0c63a5','unsupported','the tile does not divide the problem','exact: projection modulo 2^61-1, 2 rounds','none','',1.0000000000000000834e-30,'{}',NULL);
INSERT INTO result VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0000000000000000834e-30,'{}',NULL);
INSERT INTO result VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0000000000000000834e-30,'{}',NULL);
INSERT INTO result VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','ac1a14f0a54a604a2efe8f6b584dfa2a','crashed','the worker was killed by signal 11 (segmentation fault) while it ran round 3','exact: projection modulo 2^61-1, 2 rounds','none','',1.0000000000000000834e-30,'{}',35.153572233049310113);
INSERT INTO result VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','e834aa29bffb40790a73a1f465f5de87','timeout','no answer within 10 s; raise --timeout if the problem is that large','exact: projection modulo 2^61-1, 2 rounds','none','',1.0000000000000000834e-30,'{}',24.243380416724232162);
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
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114d0ac27fd6dd28702d79e02ce8a01e49601c782028e33e155a24f8e09d4e001a1b7028cba02d3c102c41ce472d104e16585140000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',0,1790000000000000000,0.5,3000.0,1,'cold',X'01149ac6b113aa834aa9cea901ead98901d5e212cfea76ba9a24ea900fb6e563cf998301e1c20ad322ead64c89fb6494d303ee8c1e92a523d3c333ccf837b1b13d0000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',0,1790000000000000000,0.5,3000.0,1,'cold',X'011486e725e34bcacd01dddf01d2378a13e3319e0db09501f71dc38201b23d86b401d3d801bc12c742b2f00195ef01fe9a01a3630000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',1,1790000001000000000,0.5,3000.0,1,'cold',X'011490f226f150dec001f243f58b01d739ad33cecc0290e203b3aa059d68dd0eef1eb017d410beed03f3f401ede701911da7150000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114b0fcc012fcedd601a2bf3bc9b2bf01e4978c01b9f78d01bfc52c98bf2cd58c3a929c169fc823e292b301f3919201f28457dffd4895b11df6f40381c904d4956d85b36b0000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114c69426ab8a01a216b4980195ab01c259be13e52ff264d94aae28d725d74ac615bcdd02b9c301855cf81edc86038e080000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114eecd26e122f879933fae08dd1a92ab01f36f801bb40eef50a232e68f028f8602fb33bf50d6dc018554b005e61e0000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114e48bdb12b3ff10f6bf21bb931ab0e60c87ba01f5d50b999109b6ff2e8fe82397b112eef52f90964fe39174d6a61fe7b128d1a601989d43e7dc3bd2f4160000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114a4b025ac73b509c4b301b1798d45d35fcb0baa3bda8a028796018c609192028915f69301a72ac5198f529e02e287010000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab',3,1790000003000000000,0.5,3000.0,1,'cold',X'011482dd28bdaf02f430aa0fcc03f324ac01ef0cf606ec8201c258ade6019ab401afa301fd279024970fe470df8601cf040000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5',3,1790000003000000000,0.5,3000.0,1,'cold',X'011496ddfb1285ff0cf1b421febe12e1a914d1d101e98806aac309af27d690be018bd378aa9814e3cd4dcdf509bca93eebb726fc5de8d4468bd83f95dc0f0000');
INSERT INTO round VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424',3,1790000003000000000,0.5,3000.0,1,'cold',X'01149c8725f23acb2dbc37824fa4e502a7cb03803fe09d01c9fb018205b48601dd7c920a9e0298b502c9a701e45cbd04ddf7010000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','10d98e0efb1934249161c1c583d1856a',0,1790000000000000000,0.5,3000.0,1,'cold',X'01149ee55fc429d03df2bb05e98b069ed1039ede03dbb204d5b6019a7f87b302ce8103afa403a8d004aad302c3db06d68702d76bf7dc01d0320000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','c1d4c1dcccaf6bd45897f2cf2e545ad7',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114ea8bfe2fd3aa2cd5b32fb4e565e39975bbf0528cbe80019bd79601e2ae2da69a40a0c68303f3b38a03b8d6b501878a9c01c1b8528b9226caedae02e5ec9d01e2d93eedc7b4010000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','259e00be91ddfa46ed146eb51903733f',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114dcc85ec0a90281e2038ae501e7ce019862b79401e4d404f96291d701b3ae0286b807e7b604c1bc01ca4a819b01bcc701cf96028c4bf4dd020000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','10d98e0efb1934249161c1c583d1856a',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114dadf5f9020e4d0049d8c058ca602989c06879503f99304975acea803d9ac03f09601e89d01d2ae01ada701e1dd01ed679e23974494dd040000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','c1d4c1dcccaf6bd45897f2cf2e545ad7',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114aa94a82fb2efdf0193a0c402909daa0185fd9701dabdb001c9f9db01b4fe8706fbedc105a0c866eeda1f849b1ec7cf7da8ec24f78e9301feb7cd0295e7d002a6c9e1018bb961f7da0c0000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','259e00be91ddfa46ed146eb51903733f',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114f4f35f89718b6ceba101bd1d9ada01d994019a920188fb02878503b7bd01f6e402e5f202b8aa0aff9f09ee5fcbcf01be28a3479e8c040000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','10d98e0efb1934249161c1c583d1856a',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114989c60e68b03f65c8b8002dd8f01debc019e9b02ebbf04c814f4e001b08f01bbfd02d8bc02d8a401878304a48104bfad03da9801bf9e01fa4a0000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','c1d4c1dcccaf6bd45897f2cf2e545ad7',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114c28d982f868f1091c25cba954d85bb08b1e857b09c1db5970ddee838b7a235b9ae21faa64182f47af1cab1019bf404efe00ab299409ef1128cae0198a21c0000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','259e00be91ddfa46ed146eb51903733f',2,1790000002000000000,0.5,3000.0,1,'cold',X'0114f2a95dd6fa03a76aa78d01ece903f18e0295e803ecb302fa8302d3b002fcf80190bf01efbf04d4c903eda501dff602acda07cbdc02e1b005a2ae040000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','10d98e0efb1934249161c1c583d1856a',3,1790000003000000000,0.5,3000.0,1,'cold',X'0114ea9060b401b701dd23ccc502f19801975f8715a6e10699bd06a0f00395cb02bfad01d142ae2bfa33d177d29f03cf970394a5020000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','c1d4c1dcccaf6bd45897f2cf2e545ad7',3,1790000003000000000,0.5,3000.0,1,'cold',X'0114dadce131a599ef02b82783ca4ffe8263f5832cc5b831c2ff8c02b7e597018f992596da72c1b2c601faed6adef2be019dd48e02ba8d5e80868402e7d8e702aa8fce02c3e9d8020000');
INSERT INTO round VALUES('4ae5d5d8f09f05ea77a6573001095a05','259e00be91ddfa46ed146eb51903733f',3,1790000003000000000,0.5,3000.0,1,'cold',X'0114d2f85db510cd7d882e8b23ee15e4c501fcd508bf8908f58e02e4c401d9bb018931eac4048bfc03b6b201c79001e143d6ea02b7160000');
CREATE TABLE IF NOT EXISTS "run" (
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
INSERT INTO run VALUES('addf78fa1e9543e3ed04962787f34662','51f40128e9f7b0583acca28b89692515',1790000000000000000,'f61da499015b759a35ca5c2b9574be59','edb9e8299998c1755f0ec7ce86b59642','e6456642ed1f1e363e32de0e29f2fc4c','kiln-dispatch sweep --problem-m=256','{"problem-m":"256"}',-1,'cold','integers -7..7','[["branch","main"],["note","a, \"b\""]]','0.1.0');
CREATE TABLE IF NOT EXISTS "run_end" (                 -- none: still running, or interrupted; several: of copies, the last counts
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
INSERT INTO worker VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','2065e04e8e85544d49152197788ba9c5','reference','1.0','',4,100663296);
INSERT INTO worker VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','5d1490f978bf74b7edef7b095e971485','kiln','1.0','',4,100663296);
INSERT INTO worker VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','718697491241f2cd21f3294c2c0c63a5','onednn','1.0','all tensors in the problem''s layouts',4,100663296);
INSERT INTO worker VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','8cc96f28ddf8ffed4790e3dfca9032ab','openblas','1.0','',4,100663296);
INSERT INTO worker VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','9f2c11a7e837e02c3fff68a088b2a424','onednn','1.0','all tensors in the problem''s layouts',4,100663296);
INSERT INTO worker VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','ac1a14f0a54a604a2efe8f6b584dfa2a','kiln','1.0','',4,100663296);
INSERT INTO worker VALUES('ca5e06ecb4f729cfbf17a7518474ca6f','e834aa29bffb40790a73a1f465f5de87','kiln','1.0','',4,100663296);
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
LEFT JOIN estimate e ON e.grp = r.grp AND e.candidate = r.candidate
  AND r.outcome IN ('ok', 'not verified', 'not profiled')
;
COMMIT;
PRAGMA application_id = 1265200238;
PRAGMA user_version = 7;
