-- A store of version 5, as the Kiln of that time wrote it: one finished group, one interrupted, one still running.
BEGIN TRANSACTION;
CREATE TABLE calibration (
  machine TEXT NOT NULL REFERENCES machine,
  taken INTEGER NOT NULL,
  ceilings TEXT NOT NULL,                  -- JSON
  PRIMARY KEY (machine, taken)
) STRICT, WITHOUT ROWID;
INSERT INTO "calibration" VALUES('a893f98584f08403f6fa4aa81226dbe0',1789999999999999997,'{"threads":2,"gflops":{"f32":170.5,"f16":85},"gb_per_s":21.5}');
CREATE TABLE candidate (
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
INSERT INTO "candidate" VALUES('0cd454adf564e6216be0773bf7a0f9b4','matmul_320x512x256_f32t_f32t_f32t','onednn','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('0fdd011f86504a325524dc288f570666','matmul_320x512x256_f32t_f32t_f32t','onednn','1.0','','preferred layout','-O3','',2);
INSERT INTO "candidate" VALUES('162dd279c288dc619f5d5d24008a191b','matmul_256x512x128_f32t_f32t_f32t','kiln','1.0','tile_config_96x64_128x1_fma_6x32','','-O3','dd2cd6da34940ab13c99e8c8b97e5914',2);
INSERT INTO "candidate" VALUES('18d55e15dd78c7236934ce784ee5d210','matmul_320x512x256_f32t_f32t_f32t','reference','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('50108c146efcb393a52e992b725fe303','matmul_256x512x128_f32t_f32t_f32t','onednn','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('58907ed661fb461ba33df267d8b9ea7b','matmul_256x512x128_f32t_f32t_f32t','onednn','1.0','','preferred layout','-O3','',2);
INSERT INTO "candidate" VALUES('77b1b777829bb5be52c4e86a48c5760d','matmul_320x512x256_f32t_f32t_f32t','kiln','1.0','tile_config_64x64_128x1_fma_6x32_packb','','-O3','8f95f73cea936099dd411a1c001b28d1',2);
INSERT INTO "candidate" VALUES('7a4cf8fb76e14b2dc0494afe0b6f24e8','matmul_320x512x256_f32t_f32t_f32t','kiln','1.0','tile_config_96x64_128x1_fma_6x32','','-O3','dd2cd6da34940ab13c99e8c8b97e5914',2);
INSERT INTO "candidate" VALUES('7c4e2eca9edff366f674a2c79275376a','matmul_256x512x128_f32t_f32t_f32t','kiln','1.0','tile_config_32x64_128x1_fma_6x32','','-O3','af7ace54bd12e9aac63c27e587233ee0',2);
INSERT INTO "candidate" VALUES('843a1478864633368e4fe8227c15f5af','matmul_256x512x128_f32t_f32t_f32t','kiln','1.0','tile_config_64x64_128x1_fma_6x32_packb','','-O3','8f95f73cea936099dd411a1c001b28d1',2);
INSERT INTO "candidate" VALUES('8f267810338300bf89d5f5b13faac4b0','matmul_320x512x256_f32t_f32t_f32t','openblas','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('8fe4d4e755512a6430adbcfb7fdf2977','matmul_320x512x256_f32t_f32t_f32t','kiln','1.0','tile_config_32x64_128x1_fma_6x32','','-O3','af7ace54bd12e9aac63c27e587233ee0',2);
INSERT INTO "candidate" VALUES('bdd05332c093568f22942a90a3d6edaf','matmul_256x512x128_f32t_f32t_f32t','reference','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('d3d3db2dcd341f5f2e2310c1ab5bb6fa','matmul_256x512x128_f32t_f32t_f32t','openblas','1.0','','','-O3','',2);
INSERT INTO "candidate" VALUES('eae3ae85c864c5ff67fc471939096c00','matmul_96x96x96_f32t_f32t_f32t','onednn','1.0','','','-O3','',2);
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
INSERT INTO "estimate" VALUES('3d88486c3d0ac995be8b204388fd94d4','58907ed661fb461ba33df267d8b9ea7b',3.08802647438330168374e+05,3.04170607726755202744e+05,3.21154753335863410034e+05,3.07567436848576820918e+05,3.10037858028083515809e+05,NULL,NULL,2,40,1,'[]',1.0,0.995,1.005,0);
INSERT INTO "estimate" VALUES('3d88486c3d0ac995be8b204388fd94d4','bdd05332c093568f22942a90a3d6edaf',1.97379011764705888931e+07,1.94418326588235311214e+07,2.05274172235294133414e+07,1.9658949571764707565e+07,1.98168527811764702203e+07,NULL,NULL,2,40,3,'[]',6.39175257731958765825e+01,6.35979381443298947846e+01,6.42371134020618512767e+01,0);
INSERT INTO "estimate" VALUES('3d88486c3d0ac995be8b204388fd94d4','d3d3db2dcd341f5f2e2310c1ab5bb6fa',318455.972514853,3.1367913292713020929e+05,3.31194211415447120096e+05,3.17182148624793568158e+05,3.19729796404912427532e+05,NULL,NULL,2,40,2,'[]',1.03126049972887834371e+00,1.02610419723023404969e+00,1.03641680222752263773e+00,0);
CREATE TABLE grp (
  key TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run,
  problem TEXT NOT NULL REFERENCES problem,
  started INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "grp" VALUES('3d88486c3d0ac995be8b204388fd94d4','11b534cebbb036c821f329a7eca2cd73','matmul_256x512x128_f32t_f32t_f32t',1790000060000000000);
INSERT INTO "grp" VALUES('a2e73ed8adcf695be3f3e614a3e5b149','11b534cebbb036c821f329a7eca2cd73','matmul_320x512x256_f32t_f32t_f32t',1790000120000000000);
INSERT INTO "grp" VALUES('784e7526f97dc5896f6ff2d9265d6be9','11b534cebbb036c821f329a7eca2cd73','matmul_96x96x96_f32t_f32t_f32t',1790000600000000000);
CREATE TABLE grp_cut (
  grp TEXT PRIMARY KEY REFERENCES grp,
  seconds REAL NOT NULL                    -- that its rounds had
) STRICT, WITHOUT ROWID;
CREATE TABLE grp_end (                     -- none: running
  grp TEXT PRIMARY KEY REFERENCES grp,
  status TEXT NOT NULL CHECK (status IN ('finished', 'interrupted')),
  ended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "grp_end" VALUES('3d88486c3d0ac995be8b204388fd94d4','finished',1795318857568693662);
INSERT INTO "grp_end" VALUES('a2e73ed8adcf695be3f3e614a3e5b149','interrupted',1795318857569750101);
CREATE TABLE machine (
  key TEXT PRIMARY KEY,
  provenance TEXT NOT NULL                 -- JSON: cpu, cores, caches, kernel, governor, libraries
) STRICT, WITHOUT ROWID;
INSERT INTO "machine" VALUES('a893f98584f08403f6fa4aa81226dbe0','{"cpu":"Test CPU","cores":2,"kernel":"6.1","governor":"performance"}');
CREATE TABLE problem (
  name TEXT PRIMARY KEY,
  family TEXT NOT NULL,
  fields TEXT NOT NULL,                    -- JSON: [[name, value], ...]
  flops REAL NOT NULL,
  bytes REAL NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "problem" VALUES('matmul_256x512x128_f32t_f32t_f32t','matmul','[["m","256"],["n","512"],["k","128"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',33554432.0,917504.0);
INSERT INTO "problem" VALUES('matmul_320x512x256_f32t_f32t_f32t','matmul','[["m","320"],["n","512"],["k","256"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',83886080.0,1507328.0);
INSERT INTO "problem" VALUES('matmul_96x96x96_f32t_f32t_f32t','matmul','[["m","96"],["n","96"],["k","96"],["lhs","f32t"],["rhs","f32t"],["result","f32t"]]',1769472.0,110592.0);
CREATE TABLE result (
  grp TEXT NOT NULL REFERENCES grp,
  candidate TEXT NOT NULL REFERENCES candidate,
  outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'failed', 'unsupported', 'crashed', 'timeout', 'incorrect',
                                           'not verified', 'not profiled')),
  error TEXT NOT NULL,
  method TEXT NOT NULL,                    -- of verification; empty: none
  cause TEXT NOT NULL,
  explanation TEXT NOT NULL,
  escape_probability REAL NOT NULL,
  details TEXT NOT NULL,                   -- JSON: wrong, total, examples, tilePattern, ulpHistogram
  compile_ms REAL,                         -- null: not compiled for this group
  PRIMARY KEY (grp, candidate)
) STRICT, WITHOUT ROWID;
INSERT INTO "result" VALUES('3d88486c3d0ac995be8b204388fd94d4','162dd279c288dc619f5d5d24008a191b','timeout','no answer within 10 s; raise --timeout if the problem is that large','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',2.42433804167242321629e+01);
INSERT INTO "result" VALUES('3d88486c3d0ac995be8b204388fd94d4','50108c146efcb393a52e992b725fe303','unsupported','the tile does not divide the problem','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',NULL);
INSERT INTO "result" VALUES('3d88486c3d0ac995be8b204388fd94d4','58907ed661fb461ba33df267d8b9ea7b','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',NULL);
INSERT INTO "result" VALUES('3d88486c3d0ac995be8b204388fd94d4','7c4e2eca9edff366f674a2c79275376a','incorrect','pass ''sums'': dropped tail: the last 3 columns of each row are 0; 768 of 131072 elements are wrong','exact: projection modulo 2^61-1, 2 rounds','dropped tail','the last 3 columns of each row are 0; 768 of 131072 elements are wrong',1.0e-30,'{"wrong":768,"total":131072,"examples":[{"index":[0,509],"expected":14,"actual":0,"ulps":1e9}],"tilePattern":"...x\n...x","ulpHistogram":"inf: 768"}',37.5651699341046);
INSERT INTO "result" VALUES('3d88486c3d0ac995be8b204388fd94d4','843a1478864633368e4fe8227c15f5af','crashed','the worker was killed by signal 11 (segmentation fault) while it ran round 3','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',3.51535722330493101135e+01);
INSERT INTO "result" VALUES('3d88486c3d0ac995be8b204388fd94d4','bdd05332c093568f22942a90a3d6edaf','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',NULL);
INSERT INTO "result" VALUES('3d88486c3d0ac995be8b204388fd94d4','d3d3db2dcd341f5f2e2310c1ab5bb6fa','ok','','exact: projection modulo 2^61-1, 2 rounds','none','',1.0e-30,'{}',NULL);
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
INSERT INTO "round" VALUES('3d88486c3d0ac995be8b204388fd94d4','d3d3db2dcd341f5f2e2310c1ab5bb6fa',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114D0AC27FD6DD28702D79E02CE8A01E49601C782028E33E155A24F8E09D4E001A1B7028CBA02D3C102C41CE472D104E16585140000');
INSERT INTO "round" VALUES('3d88486c3d0ac995be8b204388fd94d4','bdd05332c093568f22942a90a3d6edaf',0,1790000000000000000,0.5,3000.0,1,'cold',X'01149AC6B113AA834AA9CEA901EAD98901D5E212CFEA76BA9A24EA900FB6E563CF998301E1C20AD322EAD64C89FB6494D303EE8C1E92A523D3C333CCF837B1B13D0000');
INSERT INTO "round" VALUES('3d88486c3d0ac995be8b204388fd94d4','58907ed661fb461ba33df267d8b9ea7b',0,1790000000000000000,0.5,3000.0,1,'cold',X'011486E725E34BCACD01DDDF01D2378A13E3319E0DB09501F71DC38201B23D86B401D3D801BC12C742B2F00195EF01FE9A01A3630000');
INSERT INTO "round" VALUES('3d88486c3d0ac995be8b204388fd94d4','d3d3db2dcd341f5f2e2310c1ab5bb6fa',1,1790000001000000000,0.5,3000.0,1,'cold',X'011490F226F150DEC001F243F58B01D739AD33CECC0290E203B3AA059D68DD0EEF1EB017D410BEED03F3F401EDE701911DA7150000');
INSERT INTO "round" VALUES('3d88486c3d0ac995be8b204388fd94d4','bdd05332c093568f22942a90a3d6edaf',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114B0FCC012FCEDD601A2BF3BC9B2BF01E4978C01B9F78D01BFC52C98BF2CD58C3A929C169FC823E292B301F3919201F28457DFFD4895B11DF6F40381C904D4956D85B36B0000');
INSERT INTO "round" VALUES('3d88486c3d0ac995be8b204388fd94d4','58907ed661fb461ba33df267d8b9ea7b',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114C69426AB8A01A216B4980195AB01C259BE13E52FF264D94AAE28D725D74AC615BCDD02B9C301855CF81EDC86038E080000');
INSERT INTO "round" VALUES('a2e73ed8adcf695be3f3e614a3e5b149','8f267810338300bf89d5f5b13faac4b0',0,1790000000000000000,0.5,3000.0,1,'cold',X'01149EE55FC429D03DF2BB05E98B069ED1039EDE03DBB204D5B6019A7F87B302CE8103AFA403A8D004AAD302C3DB06D68702D76BF7DC01D0320000');
INSERT INTO "round" VALUES('a2e73ed8adcf695be3f3e614a3e5b149','18d55e15dd78c7236934ce784ee5d210',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114EA8BFE2FD3AA2CD5B32FB4E565E39975BBF0528CBE80019BD79601E2AE2DA69A40A0C68303F3B38A03B8D6B501878A9C01C1B8528B9226CAEDAE02E5EC9D01E2D93EEDC7B4010000');
INSERT INTO "round" VALUES('a2e73ed8adcf695be3f3e614a3e5b149','0fdd011f86504a325524dc288f570666',0,1790000000000000000,0.5,3000.0,1,'cold',X'0114DCC85EC0A90281E2038AE501E7CE019862B79401E4D404F96291D701B3AE0286B807E7B604C1BC01CA4A819B01BCC701CF96028C4BF4DD020000');
INSERT INTO "round" VALUES('a2e73ed8adcf695be3f3e614a3e5b149','8f267810338300bf89d5f5b13faac4b0',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114DADF5F9020E4D0049D8C058CA602989C06879503F99304975ACEA803D9AC03F09601E89D01D2AE01ADA701E1DD01ED679E23974494DD040000');
INSERT INTO "round" VALUES('a2e73ed8adcf695be3f3e614a3e5b149','18d55e15dd78c7236934ce784ee5d210',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114AA94A82FB2EFDF0193A0C402909DAA0185FD9701DABDB001C9F9DB01B4FE8706FBEDC105A0C866EEDA1F849B1EC7CF7DA8EC24F78E9301FEB7CD0295E7D002A6C9E1018BB961F7DA0C0000');
INSERT INTO "round" VALUES('a2e73ed8adcf695be3f3e614a3e5b149','0fdd011f86504a325524dc288f570666',1,1790000001000000000,0.5,3000.0,1,'cold',X'0114F4F35F89718B6CEBA101BD1D9ADA01D994019A920188FB02878503B7BD01F6E402E5F202B8AA0AFF9F09EE5FCBCF01BE28A3479E8C040000');
INSERT INTO "round" VALUES('784e7526f97dc5896f6ff2d9265d6be9','eae3ae85c864c5ff67fc471939096c00',0,1790000600000000001,0.5,NULL,1,'cold',X'0102C801020000');
CREATE TABLE run (
  key TEXT PRIMARY KEY,
  sweep TEXT NOT NULL,                     -- content key of problems, candidates and settings
  started INTEGER NOT NULL,                -- nanoseconds since 1970, as all times of day here
  machine TEXT NOT NULL REFERENCES machine,
  command_line TEXT NOT NULL,
  flags TEXT NOT NULL,                     -- JSON
  seed INTEGER NOT NULL,                   -- unsigned, in two's complement
  cache_mode TEXT NOT NULL,
  data_distribution TEXT NOT NULL,
  tags TEXT NOT NULL,                      -- JSON: [[name, value], ...]
  kiln_version TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "run" VALUES('11b534cebbb036c821f329a7eca2cd73','51f40128e9f7b0583acca28b89692515',1790000000000000000,'a893f98584f08403f6fa4aa81226dbe0','kiln-dispatch sweep --problem-m=256','{"problem-m":"256"}',-1,'cold','integers -7..7','[["branch","main"],["note","a, \"b\""]]','0.1.0');
CREATE TABLE run_end (                     -- none: still running, or interrupted
  run TEXT PRIMARY KEY REFERENCES run,
  ended INTEGER NOT NULL
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
INSERT INTO "worker" VALUES('3d88486c3d0ac995be8b204388fd94d4','162dd279c288dc619f5d5d24008a191b','kiln','1.0','',2,100663296);
INSERT INTO "worker" VALUES('3d88486c3d0ac995be8b204388fd94d4','50108c146efcb393a52e992b725fe303','onednn','1.0','all tensors in the problem''s layouts',2,100663296);
INSERT INTO "worker" VALUES('3d88486c3d0ac995be8b204388fd94d4','58907ed661fb461ba33df267d8b9ea7b','onednn','1.0','all tensors in the problem''s layouts',2,100663296);
INSERT INTO "worker" VALUES('3d88486c3d0ac995be8b204388fd94d4','7c4e2eca9edff366f674a2c79275376a','kiln','1.0','',2,100663296);
INSERT INTO "worker" VALUES('3d88486c3d0ac995be8b204388fd94d4','843a1478864633368e4fe8227c15f5af','kiln','1.0','',2,100663296);
INSERT INTO "worker" VALUES('3d88486c3d0ac995be8b204388fd94d4','bdd05332c093568f22942a90a3d6edaf','reference','1.0','',2,100663296);
INSERT INTO "worker" VALUES('3d88486c3d0ac995be8b204388fd94d4','d3d3db2dcd341f5f2e2310c1ab5bb6fa','openblas','1.0','',2,100663296);
CREATE INDEX run_by_start ON run (started);
CREATE INDEX grp_by_run ON grp (run, problem, started);
CREATE TRIGGER machine_never_UPDATE BEFORE UPDATE ON machine BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER machine_never_DELETE BEFORE DELETE ON machine BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
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
CREATE TRIGGER result_never_UPDATE BEFORE UPDATE ON result BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER result_never_DELETE BEFORE DELETE ON result BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER round_never_UPDATE BEFORE UPDATE ON round BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER round_never_DELETE BEFORE DELETE ON round BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER estimate_never_UPDATE BEFORE UPDATE ON estimate BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER estimate_never_DELETE BEFORE DELETE ON estimate BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER calibration_never_UPDATE BEFORE UPDATE ON calibration BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER calibration_never_DELETE BEFORE DELETE ON calibration BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER counters_never_UPDATE BEFORE UPDATE ON counters BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER counters_never_DELETE BEFORE DELETE ON counters BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE VIEW dispatch AS                    -- for questions by hand: one row for each result of a finished group
SELECT g.run, g.problem, c.provider, c.variant, c.configuration, r.outcome, r.cause, e.rank,
       e.median / 1e6 AS ms, e.low / 1e6 AS low_ms, e.high / 1e6 AS high_ms, NULLIF(p.flops, 0) / e.median AS gflops,
       e.rounds, e.samples, c.threads, u.cache_mode, r.grp, r.candidate
FROM result r
JOIN grp_end x ON x.grp = r.grp AND x.status = 'finished'
JOIN grp g ON g.key = r.grp
JOIN run u ON u.key = g.run
JOIN problem p ON p.name = g.problem
JOIN candidate c ON c.key = r.candidate
LEFT JOIN estimate e ON e.grp = r.grp AND e.candidate = r.candidate;
CREATE TRIGGER worker_never_UPDATE BEFORE UPDATE ON worker BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER worker_never_DELETE BEFORE DELETE ON worker BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_cut_never_UPDATE BEFORE UPDATE ON grp_cut BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
CREATE TRIGGER grp_cut_never_DELETE BEFORE DELETE ON grp_cut BEGIN SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END;
COMMIT;
PRAGMA application_id = 1265200238;
PRAGMA user_version = 5;
