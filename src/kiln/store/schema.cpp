#include "kiln/store/schema.h"

#include <algorithm>
#include <iterator>

#include "kiln/store/facts.h"
#include "kiln/store/json.h"

namespace kiln::store {

// "Kiln" in ASCII: `file results.db` shows it, and other programs' databases lack it.
static constexpr int64_t kApplicationId = 0x4B696C6E;

static constexpr const char *kTables = R"sql(
CREATE TABLE machine (
  key TEXT PRIMARY KEY,
  provenance TEXT NOT NULL                 -- JSON: cpu, cores, caches, kernel, governor, libraries
) STRICT, WITHOUT ROWID;

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
CREATE INDEX run_by_start ON run (started);

CREATE TABLE run_end (                     -- none: still running, or interrupted
  run TEXT PRIMARY KEY REFERENCES run,
  ended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE problem (
  name TEXT PRIMARY KEY,
  family TEXT NOT NULL,
  fields TEXT NOT NULL,                    -- JSON: [[name, value], ...]
  flops REAL NOT NULL,
  bytes REAL NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE TABLE grp (
  key TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run,
  problem TEXT NOT NULL REFERENCES problem,
  started INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX grp_by_run ON grp (run, problem, started);

CREATE TABLE grp_end (                     -- none: running
  grp TEXT PRIMARY KEY REFERENCES grp,
  status TEXT NOT NULL CHECK (status IN ('finished', 'interrupted')),
  ended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE TABLE calibration (
  machine TEXT NOT NULL REFERENCES machine,
  taken INTEGER NOT NULL,
  ceilings TEXT NOT NULL,                  -- JSON
  PRIMARY KEY (machine, taken)
) STRICT, WITHOUT ROWID;

CREATE VIEW dispatch AS                    -- for questions by hand: one row for each result of a finished group
SELECT g.run, g.problem, c.provider, c.variant, c.configuration, r.outcome, r.cause, e.rank,
       e.median / 1e6 AS ms, e.low / 1e6 AS low_ms, e.high / 1e6 AS high_ms, p.flops / e.median AS gflops,
       e.rounds, e.samples, c.threads, u.cache_mode, r.grp, r.candidate
FROM result r
JOIN grp_end x ON x.grp = r.grp AND x.status = 'finished'
JOIN grp g ON g.key = r.grp
JOIN run u ON u.key = g.run
JOIN problem p ON p.name = g.problem
JOIN candidate c ON c.key = r.candidate
LEFT JOIN estimate e ON e.grp = r.grp AND e.candidate = r.candidate;
)sql";

// A row where something was counted.
static constexpr const char *kCounters = R"sql(
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
)sql";

// A row where a worker answered.
static constexpr const char *kWorkers = R"sql(
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
)sql";

// A row for each group whose rounds ended because their time was over.
static constexpr const char *kCuts = R"sql(
CREATE TABLE grp_cut (
  grp TEXT PRIMARY KEY REFERENCES grp,
  seconds REAL NOT NULL                    -- that its rounds had
) STRICT, WITHOUT ROWID;
)sql";

// A row where the device told how it was.
static constexpr const char *kDeviceStates = R"sql(
CREATE TABLE device_state (                -- of a device, while a round's calls were made on it
  grp TEXT NOT NULL,
  candidate TEXT NOT NULL,
  idx INTEGER NOT NULL,
  low_megahertz REAL,                      -- the clock of its multiprocessors; null, as those below: not told
  high_megahertz REAL,
  watts REAL,                              -- the most
  celsius REAL,
  throttling TEXT NOT NULL,                -- what held the clock down, with commas between; empty: nothing
  PRIMARY KEY (grp, candidate, idx),
  FOREIGN KEY (grp, candidate, idx) REFERENCES round
) STRICT, WITHOUT ROWID;
)sql";

// Where something was measured becomes three facts; problems are known by their content; ends of runs and interruptions
// of groups become sets, so that copies of a store that went different ways can meet. Tables are made anew where a key
// or a constraint changes. {0} and {1} are the keys of a node and of an allocation of which nothing is known.
static constexpr const char *kMeetingShards = R"sql(
DROP VIEW dispatch;

CREATE TABLE node (                        -- which machine
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: host name, machine id
) STRICT, WITHOUT ROWID;
CREATE TABLE hardware (                    -- its kind
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: cpu, cores, caches, gpus, clock limits, kernel, governor
) STRICT, WITHOUT ROWID;
CREATE TABLE allocation (                  -- what of it the lab could use
  key TEXT PRIMARY KEY,
  description TEXT NOT NULL                -- JSON: processors, CPU time, memory
) STRICT, WITHOUT ROWID;
INSERT INTO hardware SELECT key, provenance FROM machine;
INSERT INTO node SELECT '{0}', '{{}}' WHERE EXISTS (SELECT 1 FROM machine);
INSERT INTO allocation SELECT '{1}', '{{}}' WHERE EXISTS (SELECT 1 FROM machine);

CREATE TABLE new_run (
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
INSERT INTO new_run SELECT key, sweep, started, '{0}', machine, '{1}', command_line, flags, seed, cache_mode,
  data_distribution, tags, kiln_version FROM run;
DROP TABLE run;
ALTER TABLE new_run RENAME TO run;
CREATE INDEX run_by_start ON run (started);

CREATE TABLE new_run_end (                 -- none: still running, or interrupted; several: of copies, the last counts
  run TEXT NOT NULL REFERENCES run,
  ended INTEGER NOT NULL,
  PRIMARY KEY (run, ended)
) STRICT, WITHOUT ROWID;
INSERT INTO new_run_end SELECT run, ended FROM run_end;
DROP TABLE run_end;
ALTER TABLE new_run_end RENAME TO run_end;

CREATE TABLE new_problem (
  key TEXT PRIMARY KEY,                    -- of all that follows
  name TEXT NOT NULL,
  family TEXT NOT NULL,
  fields TEXT NOT NULL,                    -- JSON: [[name, value], ...]
  flops REAL NOT NULL,
  bytes REAL NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO new_problem SELECT k.key, p.name, p.family, p.fields, p.flops, p.bytes
  FROM problem p JOIN problem_key k ON k.name = p.name;
DROP TABLE problem;
ALTER TABLE new_problem RENAME TO problem;
CREATE INDEX problem_by_name ON problem (name);

CREATE TABLE new_candidate (
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
INSERT INTO new_candidate SELECT c.key, k.key, c.provider, c.provider_version, c.configuration, c.variant,
  c.compiler_flags, c.module_hash, c.threads FROM candidate c JOIN problem_key k ON k.name = c.problem;
DROP TABLE candidate;
ALTER TABLE new_candidate RENAME TO candidate;

CREATE TABLE new_grp (
  key TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run,
  problem TEXT NOT NULL REFERENCES problem,
  started INTEGER NOT NULL,
  node TEXT REFERENCES node,               -- where it was measured; null, as those below: where its run was begun
  hardware TEXT REFERENCES hardware,
  allocation TEXT REFERENCES allocation
) STRICT, WITHOUT ROWID;
INSERT INTO new_grp SELECT g.key, g.run, k.key, g.started, NULL, NULL, NULL
  FROM grp g JOIN problem_key k ON k.name = g.problem;
DROP TABLE grp;
ALTER TABLE new_grp RENAME TO grp;
CREATE INDEX grp_by_run ON grp (run, problem, started);

CREATE TABLE grp_interrupted (             -- stopped before it was finished
  grp TEXT PRIMARY KEY REFERENCES grp
) STRICT, WITHOUT ROWID;
INSERT INTO grp_interrupted SELECT grp FROM grp_end WHERE status = 'interrupted';
CREATE TABLE new_grp_end (                 -- finished; none: running, or interrupted
  grp TEXT PRIMARY KEY REFERENCES grp,
  ended INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO new_grp_end SELECT grp, ended FROM grp_end WHERE status = 'finished';
DROP TABLE grp_end;
ALTER TABLE new_grp_end RENAME TO grp_end;

CREATE TABLE new_result (
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
INSERT INTO new_result SELECT grp, candidate, outcome, error, method, cause, explanation, escape_probability, details,
  compile_ms FROM result;
DROP TABLE result;
ALTER TABLE new_result RENAME TO result;

CREATE TABLE new_calibration (
  hardware TEXT NOT NULL REFERENCES hardware,
  allocation TEXT NOT NULL REFERENCES allocation,
  taken INTEGER NOT NULL,
  ceilings TEXT NOT NULL,                  -- JSON
  PRIMARY KEY (hardware, allocation, taken)
) STRICT, WITHOUT ROWID;
INSERT INTO new_calibration SELECT machine, '{1}', taken, ceilings FROM calibration;
DROP TABLE calibration;
ALTER TABLE new_calibration RENAME TO calibration;
DROP TABLE machine;
DROP TABLE problem_key;
)sql";

static constexpr FactTable kFactTables[] = {
    {"node", 1, "key, description"},
    {"hardware", 1, "key, description"},
    {"allocation", 1, "key, description"},
    {"run", 1,
     "key, sweep, started, node, hardware, allocation, command_line, flags, seed, cache_mode, data_distribution, tags, "
     "kiln_version"},
    {"run_end", 2, "run, ended"},
    {"problem", 1, "key, name, family, fields, flops, bytes"},
    {"candidate", 1,
     "key, problem, provider, provider_version, configuration, variant, compiler_flags, module_hash, threads"},
    {"grp", 1, "key, run, problem, started, node, hardware, allocation"},
    {"grp_end", 1, "grp, ended"},
    {"grp_interrupted", 1, "grp"},
    {"grp_cut", 1, "grp, seconds"},
    {"result", 2,
     "grp, candidate, outcome, error, method, cause, explanation, escape_probability, details, compile_ms"},
    {"worker", 2, "grp, candidate, name, version, note, processes, peak_memory"},
    {"round", 3, "grp, candidate, idx, started, load, megahertz, batch, cache_mode, samples"},
    {"counters", 3, "grp, candidate, idx, calls, cycles, instructions, cache_misses, flops"},
    {"device_state", 3, "grp, candidate, idx, low_megahertz, high_megahertz, watts, celsius, throttling"},
    {"estimate", 2,
     "grp, candidate, median, p10, p90, low, high, device_median, launch_median, rounds, samples, rank, ties, "
     "ratio, ratio_low, ratio_high, dropped"},
    {"calibration", 3, "hardware, allocation, taken, ceilings"},
};

// Stores before version 6 have it, too.
static constexpr std::string_view kEarlyMachine = "machine";

std::span<const FactTable> factTables() {
  return kFactTables;
}

static constexpr std::string_view kForbidden[] = {"UPDATE", "DELETE"};

// The only triggers that a store has, as SQLite keeps their text.
static std::string triggerThatForbids(std::string_view change, std::string_view table) {
  return fmt::format("CREATE TRIGGER {0}_never_{1} BEFORE {1} ON {0} BEGIN "
                     "SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END",
                     table, change);
}

static Status forbidChanges(Connection &connection, std::span<const std::string_view> tables) {
  for (std::string_view table : tables)
    for (std::string_view change : kForbidden)
      KILN_RETURN_IF_ERROR(connection.execute(triggerThatForbids(change, table)));
  return okStatus();
}

static Status createTables(Connection &connection) {
  static constexpr std::string_view kNew[] = {"machine", "run",    "run_end", "problem",  "candidate",  "grp",
                                              "grp_end", "result", "round",   "estimate", "calibration"};
  KILN_RETURN_IF_ERROR(connection.execute(kTables));
  KILN_RETURN_IF_ERROR(forbidChanges(connection, kNew));
  return connection.execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
}

static Status createCounters(Connection &connection) {
  static constexpr std::string_view kTable[] = {"counters"};
  KILN_RETURN_IF_ERROR(connection.execute(kCounters));
  return forbidChanges(connection, kTable);
}

static Status createWorkers(Connection &connection) {
  static constexpr std::string_view kTable[] = {"worker"};
  KILN_RETURN_IF_ERROR(connection.execute(kWorkers));
  return forbidChanges(connection, kTable);
}

static Status createCuts(Connection &connection) {
  static constexpr std::string_view kTable[] = {"grp_cut"};
  KILN_RETURN_IF_ERROR(connection.execute(kCuts));
  return forbidChanges(connection, kTable);
}

static Status createDeviceStates(Connection &connection) {
  static constexpr std::string_view kTable[] = {"device_state"};
  KILN_RETURN_IF_ERROR(connection.execute(kDeviceStates));
  return forbidChanges(connection, kTable);
}

// Arithmetic that is not known is stored as 0: such a row has no speed.
static Status leaveUnknownSpeedEmpty(Connection &connection) {
  std::string_view tables = kTables;
  std::string view(tables.substr(tables.find("CREATE VIEW dispatch")));
  constexpr std::string_view kFlops = "p.flops / e.median";
  view.replace(view.find(kFlops), kFlops.size(), "NULLIF(p.flops, 0) / e.median");
  KILN_RETURN_IF_ERROR(connection.execute("DROP VIEW dispatch"));
  return connection.execute(view);
}

// What was rejected has no times: what was measured is not what was asked for. Samples and estimates stay as they are.
// The migration before took the view away where it made the tables anew.
static Status leaveRejectedTimesOut(Connection &connection) {
  KILN_RETURN_IF_ERROR(connection.execute("DROP VIEW IF EXISTS dispatch"));
  return connection.execute(R"sql(
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
  AND r.outcome IN ('ok', 'not verified', 'not profiled'))sql");
}

// The key that each problem has from version 6 on, in a table that the migration uses up.
static Status makeProblemKeys(Connection &connection) {
  KILN_RETURN_IF_ERROR(connection.execute("CREATE TABLE problem_key (name TEXT PRIMARY KEY, key TEXT) STRICT"));
  KILN_ASSIGN_OR_RETURN(Statement read, connection.prepare("SELECT name, family, fields, flops, bytes FROM problem"));
  KILN_ASSIGN_OR_RETURN(Statement write, connection.prepare("INSERT INTO problem_key VALUES (?1, ?2)"));
  while (true) {
    KILN_ASSIGN_OR_RETURN(bool more, read.step());
    if (!more)
      return okStatus();
    Problem problem{read.text(0), read.text(1), {}, read.real(3), read.real(4)};
    KILN_ASSIGN_OR_RETURN(problem.fields, pairsFromJson(read.text(2)));
    write.bindAll(problem.name, problem.key());
    KILN_RETURN_IF_ERROR(write.run());
  }
}

static Status letShardsMeet(Connection &connection) {
  static constexpr std::string_view kNew[] = {"node",    "hardware",        "allocation", "run",
                                              "run_end", "problem",         "candidate",  "grp",
                                              "grp_end", "grp_interrupted", "result",     "calibration"};
  KILN_RETURN_IF_ERROR(makeProblemKeys(connection));
  const MachineKeys unknown = Machine().keys();
  KILN_RETURN_IF_ERROR(connection.execute(fmt::format(fmt::runtime(kMeetingShards), unknown.node, unknown.allocation)));
  return forbidChanges(connection, kNew);
}

static constexpr Migration kMigrations[] = {
    {"the first tables", createTables},
    {"counters of rounds", createCounters},
    {"no GFLOP/s where FLOPs are not known", leaveUnknownSpeedEmpty},
    {"what workers say of themselves", createWorkers},
    {"groups that time cut short", createCuts},
    {"facts of copies that meet", letShardsMeet},
    {"no times of rows that were rejected", leaveRejectedTimesOut},
    {"how devices were", createDeviceStates},
};

std::span<const Migration> migrations() {
  return kMigrations;
}

std::vector<int> jsonColumns(const Statement &statement) {
  static constexpr std::string_view kNames[] = {"description", "flags", "tags",    "fields",
                                                "details",     "ties",  "ceilings"};
  std::vector<int> columns;
  for (int i = 0; i < statement.columns(); ++i)
    if (std::ranges::find(kNames, statement.columnName(i)) != std::end(kNames))
      columns.push_back(i);
  return columns;
}

Status checkJson(const Statement &row, std::span<const int> columns) {
  for (int column : columns)
    if (Status status = checkJsonSize(row.text(column)); !status.ok())
      return std::move(status).withContext(fmt::format("column '{}'", row.columnName(column)));
  return okStatus();
}

// A view, or a table of an extension, in the place of a table may go on without an end; a computed column may be as
// large as it likes.
static Status checkTables(Connection &connection) {
  std::string names = fmt::format("'{}'", kEarlyMachine);
  for (const FactTable &table : kFactTables)
    names += fmt::format(", '{}'", table.name);
  KILN_ASSIGN_OR_RETURN(
      std::string other,
      connection.text(fmt::format(
          "SELECT name FROM pragma_table_list AS t WHERE schema = 'main' AND name COLLATE NOCASE IN ({}) AND "
          "(type <> 'table' OR EXISTS (SELECT 1 FROM pragma_table_xinfo(t.name) WHERE hidden <> 0))",
          names)));
  if (other.empty())
    return okStatus();
  return dataLoss("'{}' is no store: '{}' is no table of plain columns", connection.path(), other);
}

// A trigger of somebody else runs when facts are added to the store, and may change them or go on without an end.
static Status checkTriggers(Connection &connection) {
  std::vector<std::string> own;
  for (std::string_view change : kForbidden) {
    own.push_back(triggerThatForbids(change, kEarlyMachine));
    for (const FactTable &table : kFactTables)
      own.push_back(triggerThatForbids(change, table.name));
  }
  KILN_ASSIGN_OR_RETURN(Statement triggers,
                        connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"));
  while (true) {
    KILN_ASSIGN_OR_RETURN(bool more, triggers.step());
    if (!more)
      return okStatus();
    if (std::ranges::find(own, triggers.text(1)) == own.end())
      return dataLoss("'{}' is no store: its trigger '{}' is not one of Kiln's, and would run when results are added; "
                      "take another store, or a copy without it",
                      connection.path(), triggers.text(0));
  }
}

Result<size_t> readVersion(Connection &connection, std::span<const Migration> known) {
  KILN_ASSIGN_OR_RETURN(int64_t version, connection.integer("PRAGMA user_version"));
  KILN_ASSIGN_OR_RETURN(int64_t application, connection.integer("PRAGMA application_id"));
  KILN_ASSIGN_OR_RETURN(int64_t objects, connection.integer("SELECT count(*) FROM sqlite_schema"));
  if (version == 0 && application == 0 && objects == 0)
    return static_cast<size_t>(0);
  if (application != kApplicationId)
    return invalidArgument("'{}' is a database of another program; give the path of a store, or of a new file",
                           connection.path());
  if (version < 1 || version > static_cast<int64_t>(known.size()))
    return failedPrecondition(
        "'{}' is a store of version {}; this build knows version {}: use a newer Kiln, or another "
        "file",
        connection.path(), version, known.size());
  KILN_RETURN_IF_ERROR(checkTables(connection));
  KILN_RETURN_IF_ERROR(checkTriggers(connection));
  return static_cast<size_t>(version);
}

Status migrate(Connection &connection, std::span<const Migration> all) {
  KILN_ASSIGN_OR_RETURN(size_t version, readVersion(connection, all));
  if (version == all.size())
    return okStatus();
  KILN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(connection));
  for (; version < all.size(); ++version)
    if (Status status = all[version].apply(connection); !status.ok())
      return std::move(status).withContext(
          fmt::format("cannot bring '{}' to version {} ({})", connection.path(), version + 1, all[version].summary));
  KILN_RETURN_IF_ERROR(connection.execute(fmt::format("PRAGMA user_version = {}", all.size())));
  return transaction.commit();
}

Result<std::unique_ptr<Connection>> openForReading(const std::string &path, int waitMilliseconds) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                        Connection::open(path, Connection::Mode::Read, waitMilliseconds));
  KILN_ASSIGN_OR_RETURN(size_t version, readVersion(*connection, migrations()));
  if (version == 0)
    return failedPrecondition("'{}' is empty: nothing was measured into it yet", path);
  if (version == migrations().size())
    return connection;
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Connection> copy, Connection::copy(*connection));
  KILN_RETURN_IF_ERROR(migrate(*copy, migrations()));
  return copy;
}

} // namespace kiln::store
