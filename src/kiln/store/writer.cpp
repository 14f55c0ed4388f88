#include "kiln/store/writer.h"

#include <cmath>
#include <filesystem>
#include <map>

#include "kiln/store/database.h"
#include "kiln/store/json.h"
#include "kiln/store/lock.h"
#include "kiln/store/samples.h"
#include "kiln/store/schema.h"

namespace kiln::store {

// INSERT into one table, and whether the same row was there before.
class Insert {
public:
  static Result<Insert> prepare(Connection &connection, std::string_view table, std::string_view columns) {
    std::string parameters, same;
    int count = 0;
    for (std::string_view rest = columns; !rest.empty();) {
      std::string_view column = rest.substr(0, rest.find(", "));
      rest.remove_prefix(std::min(rest.size(), column.size() + 2));
      ++count;
      parameters += fmt::format("{}?{}", count == 1 ? "" : ", ", count);
      same += fmt::format("{}{} IS ?{}", count == 1 ? "" : " AND ", column, count);
    }
    KILN_ASSIGN_OR_RETURN(Statement insert,
                          connection.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
                                                         table, columns, parameters)));
    KILN_ASSIGN_OR_RETURN(Statement find, connection.prepare(fmt::format("SELECT 1 FROM {} WHERE {}", table, same)));
    return Insert(connection, table, std::move(insert), std::move(find));
  }

  template <typename... Values> Status run(const Values &...values) {
    insert.bindAll(values...);
    KILN_RETURN_IF_ERROR(insert.run());
    if (connection->changes() > 0)
      return okStatus();
    find.bindAll(values...);
    KILN_ASSIGN_OR_RETURN(bool same, find.step());
    find.reset();
    if (same)
      return okStatus();
    return alreadyExists("'{}' holds another {} with the same key; facts are never changed", connection->path(), table);
  }

private:
  Insert(Connection &connection, std::string_view table, Statement insert, Statement find)
      : connection(&connection), table(table), insert(std::move(insert)), find(std::move(find)) {}

  Connection *connection;
  std::string_view table;
  Statement insert, find;
};

// Columns in the order of `run`'s arguments below.
static constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
    {"machine", "key, provenance"},
    {"run",
     "key, sweep, started, machine, command_line, flags, seed, cache_mode, data_distribution, tags, kiln_version"},
    {"run_end", "run, ended"},
    {"problem", "name, family, fields, flops, bytes"},
    {"candidate",
     "key, problem, provider, provider_version, configuration, variant, compiler_flags, module_hash, threads"},
    {"grp", "key, run, problem, started"},
    {"grp_end", "grp, status, ended"},
    {"grp_cut", "grp, seconds"},
    {"result", "grp, candidate, outcome, error, method, cause, explanation, escape_probability, details, compile_ms"},
    {"worker", "grp, candidate, name, version, note, processes, peak_memory"},
    {"round", "grp, candidate, idx, started, load, megahertz, batch, cache_mode, samples"},
    {"counters", "grp, candidate, idx, calls, cycles, instructions, cache_misses, flops"},
    {"estimate",
     "grp, candidate, median, p10, p90, low, high, device_median, launch_median, rounds, samples, rank, ties, "
     "ratio, ratio_low, ratio_high, dropped"},
    {"calibration", "machine, taken, ceilings"},
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
  Status addEstimate(const Estimate &estimate);
  Status checkOpen(const std::string &group);
  Status endGroup(const std::string &group, GroupStatus status);
  Status mergeAttached();
};

static Status limitSize(Connection &connection, uint64_t maxBytes) {
  if (maxBytes == 0)
    return okStatus();
  KILN_ASSIGN_OR_RETURN(int64_t page, connection.integer("PRAGMA page_size"));
  return connection.execute(fmt::format("PRAGMA max_page_count = {}", maxBytes / static_cast<uint64_t>(page)));
}

static constexpr const char *kInterruptRunning = "INSERT INTO {0}grp_end SELECT key, 'interrupted', {1} FROM {0}grp "
                                                 "WHERE key NOT IN (SELECT grp FROM {0}grp_end)";

Result<std::unique_ptr<Writer>> Writer::open(const std::string &path, const WriterOptions &options) {
  if (std::filesystem::path folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      return errnoStatus(error.value(), fmt::format("cannot make the folder '{}'", folder.string()));
  }
  KILN_ASSIGN_OR_RETURN(FileLock lock, FileLock::acquire(path + ".lock", options.waitMilliseconds));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                        Connection::open(path, Connection::Mode::Write, options.waitMilliseconds));
  // Asked before anything is written, so that another program's file stays as it is.
  KILN_ASSIGN_OR_RETURN([[maybe_unused]] size_t version, readVersion(*connection, migrations()));
  KILN_RETURN_IF_ERROR(connection->execute("PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL"));
  KILN_RETURN_IF_ERROR(migrate(*connection, migrations()));
  KILN_RETURN_IF_ERROR(limitSize(*connection, options.maxBytes));
  KILN_RETURN_IF_ERROR(connection->execute(fmt::format(fmt::runtime(kInterruptRunning), "", unixNanoseconds())));

  std::unique_ptr<Impl> impl(new Impl{std::move(lock), std::move(connection), {}});
  for (const auto &[table, columns] : kColumns) {
    KILN_ASSIGN_OR_RETURN(Insert insert, Insert::prepare(*impl->connection, table, columns));
    impl->inserts.emplace(table, std::move(insert));
  }
  return std::unique_ptr<Writer>(new Writer(std::move(impl)));
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Writer::~Writer() = default;

Status Writer::addMachine(const Machine &machine) {
  KILN_RETURN_IF_ERROR(checkObject(machine.provenance, "a machine's provenance"));
  return impl->transact(false, [&] { return impl->add("machine", machine.key(), machine.provenance); });
}

Status Writer::addRun(const Run &run) {
  KILN_RETURN_IF_ERROR(checkObject(run.flags, "a run's flags"));
  return impl->transact(true, [&] {
    return impl->add("run", run.key(), run.sweep, run.started, run.machine, run.commandLine, run.flags, run.seed,
                     run.cacheMode, run.dataDistribution, pairsToJson(run.tags), run.kilnVersion);
  });
}

Status Writer::addProblem(const Problem &problem) {
  return impl->transact(false, [&] {
    return impl->add("problem", problem.name, problem.family, pairsToJson(problem.fields), problem.flops,
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
  return impl->transact(
      true, [&] { return impl->add("calibration", calibration.machine, calibration.taken, calibration.ceilings); });
}

Status Writer::startGroup(const Group &group) {
  return impl->transact(false, [&] { return impl->add("grp", group.key(), group.run, group.problem, group.started); });
}

Status Writer::Impl::checkOpen(const std::string &group) {
  KILN_ASSIGN_OR_RETURN(Statement find,
                        connection->prepare("SELECT g.key, x.status FROM grp g LEFT JOIN grp_end x ON x.grp = g.key "
                                            "WHERE g.key = ?1"));
  find.bindAll(group);
  KILN_ASSIGN_OR_RETURN(bool known, find.step());
  if (!known)
    return failedPrecondition("'{}' holds no group {}: start it first", connection->path(), group);
  if (!find.isNull(1))
    return failedPrecondition("group {} of '{}' is {} already", group, connection->path(), find.text(1));
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

Status Writer::Impl::addEstimate(const Estimate &e) {
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
    }
    return okStatus();
  });
}

Status Writer::Impl::endGroup(const std::string &group, GroupStatus status) {
  return add("grp_end", group, std::string_view(groupStatusName(status)), unixNanoseconds());
}

Status Writer::finishGroup(const std::string &group, std::span<const CandidateResult> results,
                           std::span<const Estimate> estimates, std::optional<double> cutSeconds) {
  return impl->transact(true, [&] {
    KILN_RETURN_IF_ERROR(impl->checkOpen(group));
    for (const CandidateResult &result : results) {
      if (result.group != group)
        return invalidArgument("a result of group {} cannot be stored with group {}", result.group, group);
      KILN_RETURN_IF_ERROR(impl->addResult(result));
    }
    for (const Estimate &estimate : estimates) {
      if (estimate.group != group)
        return invalidArgument("an estimate of group {} cannot be stored with group {}", estimate.group, group);
      KILN_RETURN_IF_ERROR(impl->addEstimate(estimate));
    }
    if (cutSeconds)
      KILN_RETURN_IF_ERROR(impl->add("grp_cut", group, *cutSeconds));
    return impl->endGroup(group, GroupStatus::Finished);
  });
}

Status Writer::interruptGroup(const std::string &group) {
  return impl->transact(true, [&] {
    KILN_RETURN_IF_ERROR(impl->checkOpen(group));
    return impl->endGroup(group, GroupStatus::Interrupted);
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

Status Writer::Impl::mergeAttached() {
  KILN_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(*connection));
  for (std::string_view table : factTables()) {
    KILN_RETURN_IF_ERROR(
        connection->execute(fmt::format("INSERT OR IGNORE INTO main.{0} SELECT * FROM shard.{0}", table)));
    KILN_ASSIGN_OR_RETURN(int64_t lost,
                          connection->integer(fmt::format(
                              "SELECT count(*) FROM (SELECT * FROM shard.{0} EXCEPT SELECT * FROM main.{0})", table)));
    if (lost > 0)
      return alreadyExists("the stores hold different facts of the same key in table '{}'; nothing was merged", table);
  }
  return transaction.commit();
}

Status Writer::merge(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return notFound("there is no store '{}' to merge", path);
  if (std::filesystem::equivalent(path, impl->connection->path(), error))
    return invalidArgument("'{}' cannot be merged into itself", path);
  // Opening it locks it, brings it up to date, and marks what it left running.
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Writer> shard, Writer::open(path, {}));
  KILN_ASSIGN_OR_RETURN(Statement attach, impl->connection->prepare("ATTACH ?1 AS shard"));
  attach.bindAll(path);
  KILN_RETURN_IF_ERROR(attach.run());
  Status status = impl->mergeAttached();
  Status detached = impl->connection->execute("DETACH shard");
  return status.ok() ? detached : status;
}

} // namespace kiln::store
