#include "kiln/store/writer.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <unordered_set>

#include "kiln/base/split.h"
#include "kiln/store/database.h"
#include "kiln/store/json.h"
#include "kiln/store/lock.h"
#include "kiln/store/samples.h"
#include "kiln/store/schema.h"
#include "kiln/store/shard_check.h"
#include "kiln/store/shared_groups.h"

namespace kiln::store {

static constexpr int kShardWaitMilliseconds = 5000;
// In KiB, as negative numbers: what merging may take, and SQLite's default.
static constexpr const char *kLargeCache = "PRAGMA cache_size = -524288", *kUsualCache = "PRAGMA cache_size = -2000";

// INSERT into one table, and whether the same row was there before.
class Insert {
public:
  static Result<Insert> prepare(Connection &connection, const FactTable &table) {
    std::string parameters, same;
    int count = 0;
    for (std::string_view column : split(table.columns, ',')) {
      column.remove_prefix(column.starts_with(' ') ? 1 : 0);
      ++count;
      parameters += fmt::format("{}?{}", count == 1 ? "" : ", ", count);
      same += fmt::format("{}{} IS ?{}", count == 1 ? "" : " AND ", column, count);
    }
    KILN_ASSIGN_OR_RETURN(Statement insert,
                          connection.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
                                                         table.name, table.columns, parameters)));
    KILN_ASSIGN_OR_RETURN(Statement find,
                          connection.prepare(fmt::format("SELECT 1 FROM {} WHERE {}", table.name, same)));
    return Insert(connection, table, std::move(insert), std::move(find));
  }

  template <typename... Values> Status run(const Values &...values) {
    return add([&](Statement &statement) { statement.bindAll(values...); }).status();
  }
  // The current row of a statement that has the table's columns. Whether it is new.
  Result<bool> copy(const Statement &row) {
    return add([&](Statement &statement) { statement.bindRow(row); });
  }

private:
  Insert(Connection &connection, const FactTable &table, Statement insert, Statement find)
      : connection(&connection), table(&table), insert(std::move(insert)), find(std::move(find)) {}

  template <typename Bind> Result<bool> add(const Bind &bind) {
    bind(insert);
    KILN_RETURN_IF_ERROR(insert.run());
    if (connection->changes() > 0)
      return true;
    bind(find);
    KILN_ASSIGN_OR_RETURN(bool same, find.step());
    find.reset();
    if (same)
      return false;
    return alreadyExists("'{}' holds another fact of the same key in table '{}': {}; facts are never changed",
                         connection->path(), table->name, keyOf(bind));
  }

  // "grp 1f09..., candidate 77ac..."
  template <typename Bind> std::string keyOf(const Bind &bind) {
    std::vector<std::string_view> columns = split(table->columns, ',');
    columns.resize(static_cast<size_t>(table->keyColumns));
    std::string sql, text;
    for (size_t i = 0; i < columns.size(); ++i)
      sql += fmt::format("{}?{}", i ? ", " : "SELECT ", i + 1);
    Result<Statement> key = connection->prepare(sql);
    if (!key.ok())
      return {};
    bind(*key);
    if (Result<bool> row = key->step(); !row.ok() || !*row)
      return {};
    for (size_t i = 0; i < columns.size(); ++i)
      text += fmt::format("{}{} {}", i ? "," : "", columns[i], key->text(static_cast<int>(i)));
    return text;
  }

  Connection *connection;
  const FactTable *table;
  Statement insert, find;
};

struct Writer::Impl {
  FileLock lock;
  // Before the statements that need it: members end in reverse order.
  std::unique_ptr<Connection> connection;
  std::map<std::string_view, Insert> inserts;

  template <typename... Values> Status add(std::string_view table, const Values &...values) {
    auto found = inserts.find(table);
    return found->second.run(values...);
  }

  // Runs `body` as one transaction. What must survive a loss of power is flushed to the disk; rounds are not, because
  // flushing takes milliseconds beside the measurement.
  template <typename Body> Status transact(bool durable, const Body &body) {
    KILN_RETURN_IF_ERROR(connection->execute(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"));
    KILN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(*connection));
    KILN_RETURN_IF_ERROR(body());
    return transaction.commit();
  }

  Status addResult(const CandidateResult &result);
  Status addEstimate(const CandidateEstimate &estimate);
  Status checkOpen(const std::string &group);
  Result<MergedFacts> mergeShard(const std::string &path);
};

static Status limitSize(Connection &connection, uint64_t maxBytes) {
  if (maxBytes == 0)
    return okStatus();
  KILN_ASSIGN_OR_RETURN(int64_t page, connection.integer("PRAGMA page_size"));
  return connection.execute(fmt::format("PRAGMA max_page_count = {}", maxBytes / static_cast<uint64_t>(page)));
}

// Locks and the shared memory of the write-ahead log hold within one node: two nodes that write one file damage it, and
// nothing tells them. So it is an error, which somebody may allow who knows that there is one node.
static Status checkFileSystem(const std::string &path, const WriterOptions &options) {
  if (options.allowNetwork)
    return okStatus();
  FileSystem system;
  if (options.fileSystem) {
    system = *options.fileSystem;
  } else {
    KILN_ASSIGN_OR_RETURN(system, fileSystemOf(path));
  }
  if (std::optional<std::string_view> network = networkName(system))
    return failedPrecondition(
        "'{0}' is on a network file system ({1}), where nothing keeps nodes from writing at the same time: let each "
        "node write a store of its own on a local disk (--generated-dir, --db), and take them into one with "
        "`kiln-dispatch merge`; --allow-network-store writes here all the same, for where one node does",
        path, *network);
  return okStatus();
}

Result<std::unique_ptr<Writer>> Writer::open(const std::string &path, const WriterOptions &options) {
  if (std::filesystem::path folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      return errnoStatus(error.value(), fmt::format("cannot make the folder '{}'", folder.string()));
  }
  KILN_RETURN_IF_ERROR(checkFileSystem(path, options));
  KILN_ASSIGN_OR_RETURN(FileLock lock, FileLock::acquire(path + ".lock", options.waitMilliseconds));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                        Connection::open(path, Connection::Mode::Write, options.waitMilliseconds));
  // Asked before anything is written, so that another program's file stays as it is.
  KILN_ASSIGN_OR_RETURN([[maybe_unused]] size_t version, readVersion(*connection, migrations()));
  KILN_RETURN_IF_ERROR(connection->execute("PRAGMA journal_mode = WAL"));
  KILN_RETURN_IF_ERROR(migrate(*connection, migrations()));
  KILN_RETURN_IF_ERROR(connection->execute("PRAGMA foreign_keys = ON"));
  KILN_RETURN_IF_ERROR(limitSize(*connection, options.maxBytes));

  std::unique_ptr<Impl> impl(new Impl{std::move(lock), std::move(connection), {}});
  for (const FactTable &table : factTables()) {
    KILN_ASSIGN_OR_RETURN(Insert insert, Insert::prepare(*impl->connection, table));
    impl->inserts.emplace(table.name, std::move(insert));
  }
  return std::unique_ptr<Writer>(new Writer(std::move(impl)));
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Writer::~Writer() = default;

Status Writer::addMachine(const Machine &machine) {
  KILN_RETURN_IF_ERROR(checkObject(machine.node, "a node's description"));
  KILN_RETURN_IF_ERROR(checkObject(machine.hardware, "the description of hardware"));
  KILN_RETURN_IF_ERROR(checkObject(machine.allocation, "an allocation's description"));
  return impl->transact(false, [&] {
    const MachineKeys keys = machine.keys();
    KILN_RETURN_IF_ERROR(impl->add("node", keys.node, machine.node));
    KILN_RETURN_IF_ERROR(impl->add("hardware", keys.hardware, machine.hardware));
    return impl->add("allocation", keys.allocation, machine.allocation);
  });
}

Status Writer::addRun(const Run &run) {
  KILN_RETURN_IF_ERROR(checkObject(run.flags, "a run's flags"));
  return impl->transact(true, [&] {
    return impl->add("run", run.key(), run.sweep, run.started, run.machine.node, run.machine.hardware,
                     run.machine.allocation, run.commandLine, run.flags, run.seed, run.cacheMode, run.dataDistribution,
                     pairsToJson(run.tags), run.kilnVersion);
  });
}

Status Writer::addProblem(const Problem &problem) {
  return impl->transact(false, [&] {
    return impl->add("problem", problem.key(), problem.name, problem.family, pairsToJson(problem.fields), problem.flops,
                     problem.bytes);
  });
}

Status Writer::addCandidates(std::span<const Candidate> candidates) {
  return impl->transact(false, [&] {
    for (const Candidate &c : candidates)
      KILN_RETURN_IF_ERROR(impl->add("candidate", c.key(), c.problem, c.provider, c.providerVersion, c.configuration,
                                     c.variant, c.compilerFlags, c.moduleHash, c.threads));
    return okStatus();
  });
}

Status Writer::addCalibration(const Calibration &calibration) {
  KILN_RETURN_IF_ERROR(checkObject(calibration.ceilings, "a calibration"));
  return impl->transact(true, [&] {
    return impl->add("calibration", calibration.hardware, calibration.allocation, calibration.taken,
                     calibration.ceilings);
  });
}

Status Writer::startGroup(const Group &group) {
  const auto &machine = group.machine;
  auto keyOf = [&](std::string MachineKeys::*which) {
    return machine ? std::optional(*machine.*which) : std::optional<std::string>();
  };
  return impl->transact(false, [&] {
    return impl->add("grp", group.key(), group.run, group.problem, group.started, keyOf(&MachineKeys::node),
                     keyOf(&MachineKeys::hardware), keyOf(&MachineKeys::allocation));
  });
}

Status Writer::Impl::checkOpen(const std::string &group) {
  KILN_ASSIGN_OR_RETURN(Statement find,
                        connection->prepare("SELECT CASE WHEN EXISTS (SELECT 1 FROM grp_end WHERE grp = ?1) THEN "
                                            "'finished' WHEN EXISTS (SELECT 1 FROM grp_interrupted WHERE grp = ?1) "
                                            "THEN 'interrupted' END FROM grp WHERE key = ?1"));
  find.bindAll(group);
  KILN_ASSIGN_OR_RETURN(bool known, find.step());
  if (!known)
    return failedPrecondition("'{}' holds no group {}: start it first", connection->path(), group);
  if (!find.isNull(0))
    return failedPrecondition("group {} of '{}' is {} already", group, connection->path(), find.text(0));
  return okStatus();
}

Status Writer::Impl::addResult(const CandidateResult &r) {
  KILN_RETURN_IF_ERROR(checkObject(r.verification.details, "a verification's details"));
  const Verification &v = r.verification;
  KILN_RETURN_IF_ERROR(add("result", r.group, r.candidate, std::string_view(outcomeName(r.outcome)), r.error, v.method,
                           v.cause, v.explanation, v.escapeProbability, v.details, r.compileMilliseconds));
  const std::optional<WorkerFacts> &w = r.worker;
  return w ? add("worker", r.group, r.candidate, w->name, w->version, w->note, w->processes, w->peakMemoryBytes)
           : okStatus();
}

Status Writer::Impl::addEstimate(const CandidateEstimate &e) {
  for (double value : {e.median, e.p10, e.p90, e.low, e.high, e.deviceMedian.value_or(0), e.launchMedian.value_or(0),
                       e.ratio, e.ratioLow, e.ratioHigh})
    if (!std::isfinite(value))
      return invalidArgument("an estimate holds {}, which is no time and no ratio", value);
  return add("estimate", e.group, e.candidate, e.median, e.p10, e.p90, e.low, e.high, e.deviceMedian, e.launchMedian,
             e.rounds, e.samples, e.rank, namesToJson(e.ties), e.ratio, e.ratioLow, e.ratioHigh, e.dropped);
}

Status Writer::addResult(const CandidateResult &result) {
  return impl->transact(false, [&] {
    KILN_RETURN_IF_ERROR(impl->checkOpen(result.group));
    return impl->addResult(result);
  });
}

static Status checkSamples(const Samples &samples) {
  for (const std::vector<int64_t> *part : {&samples.device, &samples.launch})
    if (!part->empty() && part->size() != samples.call.size())
      return invalidArgument("a round has {} samples of calls, and {} of a part of them: it must have as many, or none",
                             samples.call.size(), part->size());
  return okStatus();
}

Status Writer::addRounds(std::span<const Round> rounds) {
  return impl->transact(false, [&] {
    for (const Round &r : rounds) {
      KILN_RETURN_IF_ERROR(checkSamples(r.samples));
      KILN_RETURN_IF_ERROR(impl->checkOpen(r.group));
      std::string blob = encodeSamples(r.samples);
      std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(blob.data()), blob.size());
      KILN_RETURN_IF_ERROR(impl->add("round", r.group, r.candidate, r.index, r.started, r.load, r.megahertz, r.batch,
                                     r.cacheMode, bytes));
      if (const Counters &c = r.counters; c.any())
        KILN_RETURN_IF_ERROR(impl->add("counters", r.group, r.candidate, r.index, c.calls, c.cycles, c.instructions,
                                       c.cacheMisses, c.flops));
      if (const DeviceState &d = r.device; d.any())
        KILN_RETURN_IF_ERROR(impl->add("device_state", r.group, r.candidate, r.index, d.lowMegahertz, d.highMegahertz,
                                       d.watts, d.celsius, d.throttling));
    }
    return okStatus();
  });
}

Status Writer::finishGroup(const std::string &group, std::span<const CandidateResult> results,
                           std::span<const CandidateEstimate> estimates, std::optional<double> cutSeconds) {
  return impl->transact(true, [&]() -> Status {
    KILN_RETURN_IF_ERROR(impl->checkOpen(group));
    for (const CandidateResult &result : results) {
      if (result.group != group)
        return invalidArgument("a result of group {} cannot be stored with group {}", result.group, group);
      KILN_RETURN_IF_ERROR(impl->addResult(result));
    }
    for (const CandidateEstimate &estimate : estimates) {
      if (estimate.group != group)
        return invalidArgument("an estimate of group {} cannot be stored with group {}", estimate.group, group);
      KILN_RETURN_IF_ERROR(impl->addEstimate(estimate));
    }
    KILN_ASSIGN_OR_RETURN(Statement known, impl->connection->prepare("SELECT 1 FROM result WHERE grp = ?1"));
    known.bindAll(group);
    KILN_ASSIGN_OR_RETURN(bool any, known.step());
    if (!any)
      return invalidArgument("group {} cannot be finished without a result", group);
    if (cutSeconds)
      KILN_RETURN_IF_ERROR(impl->add("grp_cut", group, *cutSeconds));
    return impl->add("grp_end", group, unixNanoseconds());
  });
}

Status Writer::interruptGroup(const std::string &group) {
  return impl->transact(true, [&] {
    KILN_RETURN_IF_ERROR(impl->checkOpen(group));
    return impl->add("grp_interrupted", group);
  });
}

Status Writer::endRun(const std::string &run) {
  return impl->transact(true, [&] {
    KILN_ASSIGN_OR_RETURN(Statement find, impl->connection->prepare("SELECT 1 FROM run_end WHERE run = ?1"));
    find.bindAll(run);
    KILN_ASSIGN_OR_RETURN(bool ended, find.step());
    return ended ? okStatus() : impl->add("run_end", run, unixNanoseconds());
  });
}

static Result<std::unique_ptr<Connection>> openShard(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return notFound("there is no store '{}' to merge", path);
  return openForReading(path, kShardWaitMilliseconds);
}

static Status notMerged(Status status, const std::string &path) {
  return std::move(status).withContext(fmt::format("cannot merge '{}', and nothing was merged", path));
}

Status Writer::checkMergeable(std::span<const std::string> paths) {
  for (const std::string &path : paths)
    if (Status status = openShard(path).status(); !status.ok())
      return notMerged(std::move(status), path);
  return okStatus();
}

// Which column holds the key of the run or of the group that a row belongs to; nothing for what is of no run.
static std::optional<int> ownerColumn(const FactTable &table) {
  if (table.name == "grp")
    return 1;
  return table.columns.starts_with("run") || table.columns.starts_with("grp") ? std::optional(0) : std::nullopt;
}

// All facts of a store that are not here yet, and what they are. A store that another process is writing to is read as
// it is at this moment.
Result<MergedFacts> Writer::Impl::mergeShard(const std::string &path) {
  std::error_code error;
  if (std::filesystem::equivalent(path, connection->path(), error))
    return invalidArgument("'{}' cannot be merged into itself", path);
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Connection> shard, openShard(path));
  KILN_ASSIGN_OR_RETURN(Transaction moment, Transaction::beginReading(*shard));
  MergedFacts facts;
  std::unordered_set<std::string> ofNewRuns; // new runs, and their groups
  KILN_ASSIGN_OR_RETURN(ShardCheck shardCheck, ShardCheck::open(*shard));
  KILN_ASSIGN_OR_RETURN(SharedGroups sharedGroups, SharedGroups::open(*connection, *shard));
  for (const FactTable &table : factTables()) {
    KILN_ASSIGN_OR_RETURN(Statement rows, shard->prepare(fmt::format("SELECT {} FROM {}", table.columns, table.name)));
    Insert &insert = inserts.find(table.name)->second;
    const std::optional<int> owner = ownerColumn(table);
    while (true) {
      KILN_ASSIGN_OR_RETURN(bool more, rows.step());
      if (!more)
        break;
      KILN_RETURN_IF_ERROR(shardCheck.check(table, rows));
      KILN_ASSIGN_OR_RETURN(bool added, insert.copy(rows));
      if (!added)
        continue;
      KILN_RETURN_IF_ERROR(sharedGroups.added(table, rows));
      if (table.name == "run") {
        ++facts.runs;
        ofNewRuns.insert(rows.text(0));
      } else if (owner && !ofNewRuns.contains(rows.text(*owner))) {
        ++facts.rowsOfKnownRuns[table.name];
      } else if (table.name == "grp") {
        ofNewRuns.insert(rows.text(0));
      }
    }
  }
  KILN_RETURN_IF_ERROR(sharedGroups.checkFinished());
  return facts;
}

Result<std::vector<MergedFacts>> Writer::merge(std::span<const std::string> paths) {
  std::vector<MergedFacts> facts;
  // Rows of many stores have their places all over the tables: what is changed stays in memory until the end.
  KILN_RETURN_IF_ERROR(impl->connection->execute(kLargeCache));
  Status status = impl->transact(true, [&]() -> Status {
    for (const std::string &path : paths) {
      Result<MergedFacts> merged = impl->mergeShard(path);
      if (!merged.ok())
        return notMerged(std::move(merged).status(), path);
      facts.push_back(*merged);
    }
    return okStatus();
  });
  KILN_RETURN_IF_ERROR(impl->connection->execute(kUsualCache));
  if (!status.ok())
    return status;
  return facts;
}

} // namespace kiln::store
