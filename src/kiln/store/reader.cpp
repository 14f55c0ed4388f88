#include "kiln/store/reader.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "kiln/base/time_text.h"
#include "kiln/base/wrap_text.h"
#include "kiln/store/database.h"
#include "kiln/store/json.h"
#include "kiln/store/samples.h"
#include "kiln/store/schema.h"

namespace kiln::store {

static constexpr int kWaitMilliseconds = 5000;
// Of a group `g`. An end without a result is none: a group's results are stored together with its end.
static constexpr const char *kIsFinished = "(EXISTS (SELECT 1 FROM grp_end x WHERE x.grp = g.key) AND "
                                           "EXISTS (SELECT 1 FROM result r WHERE r.grp = g.key))";

struct Reader::Impl {
  std::unique_ptr<Connection> connection;

  // Calls `row` for each row of a statement with these parameters.
  template <typename Row, typename... Values>
  Status each(std::string_view sql, const Row &row, const Values &...values) {
    KILN_ASSIGN_OR_RETURN(Statement statement, connection->prepare(sql));
    statement.bindAll(values...);
    const std::vector<int> json = jsonColumns(statement);
    while (true) {
      KILN_ASSIGN_OR_RETURN(bool more, statement.step());
      if (!more)
        return okStatus();
      if (Status status = checkJson(statement, json); !status.ok())
        return std::move(status).withContext(connection->path());
      KILN_RETURN_IF_ERROR(row(statement));
    }
  }
};

// Texts of a store are cut where they are longer than the lab makes them: names and notes as the protocol of workers
// has them, and what may be a whole output or command line.
static constexpr size_t kShortText = 4096, kLongText = 65536;

static std::string textOf(const Statement &row, int column, size_t most = kShortText) {
  std::string text = row.text(column);
  if (text.size() <= most)
    return text;
  size_t end = most;
  while (end > 0 && !startsCharacter(text[end]))
    --end;
  return fmt::format("{}... (cut: it has {} bytes)", std::string_view(text).substr(0, end), text.size());
}

Reader::Reader(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Reader::~Reader() = default;

Result<std::unique_ptr<Reader>> Reader::open(const std::string &path) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, openForReading(path, kWaitMilliseconds));
  return std::unique_ptr<Reader>(new Reader(std::make_unique<Impl>(Impl{std::move(connection)})));
}

Result<std::vector<StoredRun>> Reader::runs() {
  std::vector<StoredRun> runs;
  Status status =
      impl->each("SELECT key, sweep, started, node, hardware, allocation, command_line, flags, seed, cache_mode, "
                 "data_distribution, tags, kiln_version, (SELECT max(ended) FROM run_end WHERE run_end.run = run.key) "
                 "FROM run ORDER BY started, key",
                 [&](const Statement &row) -> Status {
                   StoredRun run;
                   run.storedKey = textOf(row, 0);
                   run.sweep = textOf(row, 1);
                   run.started = row.integer(2);
                   run.machine = {textOf(row, 3), textOf(row, 4), textOf(row, 5)};
                   run.commandLine = textOf(row, 6, kLongText);
                   run.flags = row.text(7);
                   run.seed = static_cast<uint64_t>(row.integer(8));
                   run.cacheMode = textOf(row, 9);
                   run.dataDistribution = textOf(row, 10);
                   KILN_ASSIGN_OR_RETURN(run.tags, pairsFromJson(row.text(11)));
                   run.kilnVersion = textOf(row, 12);
                   if (!row.isNull(13))
                     run.ended = row.integer(13);
                   runs.push_back(std::move(run));
                   return okStatus();
                 });
  if (!status.ok())
    return status;
  return runs;
}

// How far back "latest" or "latest~3" goes; nothing where the name is neither.
static std::optional<size_t> stepsBack(std::string_view name) {
  if (name == "latest")
    return 0;
  if (!name.starts_with("latest~"))
    return std::nullopt;
  name.remove_prefix(7);
  size_t steps = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), steps);
  if (error != std::errc() || end != name.data() + name.size())
    return std::nullopt;
  return steps;
}

Result<StoredRun> Reader::findRun(std::string_view name) {
  KILN_ASSIGN_OR_RETURN(std::vector<StoredRun> all, runs());
  if (all.empty())
    return notFound("'{}' holds no runs yet", impl->connection->path());
  if (std::optional<size_t> steps = stepsBack(name); steps && *steps < all.size())
    return all[all.size() - 1 - *steps];
  std::vector<const StoredRun *> found;
  for (const StoredRun &run : all)
    if (!name.empty() && run.key().starts_with(name))
      found.push_back(&run);
  if (found.size() == 1)
    return *found.front();
  std::string list;
  for (size_t i = all.size(); i > 0 && i + 8 > all.size(); --i)
    list += fmt::format("\n  {}  {} UTC  {}", all[i - 1].key().substr(0, 12), timeText(all[i - 1].started),
                        all[i - 1].commandLine.substr(0, 40));
  return notFound("{} run '{}' in '{}'; give the start of a key, `latest`, or `latest~1` for the one before it:{}",
                  found.empty() ? "no" : "more than one", name, impl->connection->path(), list);
}

Result<Machine> Reader::machine(const MachineKeys &keys) {
  Machine machine;
  for (auto [table, key, description] :
       {std::tuple("node", &keys.node, &machine.node), std::tuple("hardware", &keys.hardware, &machine.hardware),
        std::tuple("allocation", &keys.allocation, &machine.allocation)}) {
    bool found = false;
    KILN_RETURN_IF_ERROR(impl->each(
        fmt::format("SELECT description FROM {} WHERE key = ?1", table),
        [&](const Statement &row) {
          *description = row.text(0);
          found = true;
          return okStatus();
        },
        *key));
    if (!found)
      return notFound("no {} '{}' in '{}'", table, *key, impl->connection->path());
  }
  return machine;
}

Result<Calibration> Reader::calibration(const MachineKeys &machine, int64_t when,
                                        const std::function<bool(const std::string &)> &isWanted) {
  while (true) {
    std::optional<Calibration> latest;
    KILN_RETURN_IF_ERROR(impl->each(
        "SELECT taken, ceilings FROM calibration WHERE hardware = ?1 AND allocation = ?2 AND taken <= ?3 "
        "ORDER BY taken DESC LIMIT 1",
        [&](const Statement &row) {
          latest = Calibration{machine.hardware, machine.allocation, row.integer(0), row.text(1)};
          return okStatus();
        },
        machine.hardware, machine.allocation, when));
    if (!latest)
      return notFound("this machine was not calibrated by then: run `kiln calibrate`");
    if (!isWanted || isWanted(latest->ceilings))
      return *latest;
    when = latest->taken - 1;
  }
}

Result<std::vector<StoredGroup>> Reader::groups(const std::string &run) {
  std::vector<StoredGroup> groups;
  std::map<std::string, uint64_t> attempts;
  // One group of a run is measured at a time: a group is interrupted where another one was started after it.
  KILN_RETURN_IF_ERROR(impl->each(
      fmt::format("SELECT g.key, g.problem, g.started, g.node, g.hardware, g.allocation, "
                  "CASE WHEN {} THEN (SELECT x.ended FROM grp_end x WHERE x.grp = g.key) END, "
                  "i.grp IS NOT NULL OR EXISTS (SELECT 1 FROM run_end e WHERE e.run = g.run) "
                  "OR g.started < (SELECT max(started) FROM grp WHERE run = ?1), c.seconds, "
                  "(SELECT r.cache_mode FROM round r WHERE r.grp = g.key LIMIT 1) "
                  "FROM grp g LEFT JOIN grp_interrupted i ON i.grp = g.key "
                  "LEFT JOIN grp_cut c ON c.grp = g.key WHERE g.run = ?1 ORDER BY g.started, g.key",
                  kIsFinished),
      [&](const Statement &row) {
        StoredGroup group;
        group.run = run;
        group.storedKey = textOf(row, 0);
        group.problem = textOf(row, 1);
        group.started = row.integer(2);
        if (!row.isNull(3))
          group.machine = {textOf(row, 3), textOf(row, 4), textOf(row, 5)};
        if (!row.isNull(6))
          group.ended = row.integer(6);
        group.status = group.ended      ? GroupStatus::Finished
                       : row.integer(7) ? GroupStatus::Interrupted
                                        : GroupStatus::Running;
        group.cutSeconds = row.optionalReal(8);
        group.cacheMode = row.isNull(9) ? "" : textOf(row, 9);
        group.attempt = ++attempts[group.problem];
        groups.push_back(std::move(group));
        return okStatus();
      },
      run));
  return groups;
}

Result<std::vector<Problem>> Reader::problems(const std::string &run) {
  std::vector<Problem> problems;
  KILN_RETURN_IF_ERROR(impl->each(
      "SELECT name, family, fields, flops, bytes FROM problem WHERE key IN (SELECT problem FROM grp WHERE run = ?1) "
      "ORDER BY name, key",
      [&](const Statement &row) -> Status {
        KILN_ASSIGN_OR_RETURN(auto fields, pairsFromJson(row.text(2)));
        problems.push_back({textOf(row, 0), textOf(row, 1), std::move(fields), row.real(3), row.real(4)});
        return okStatus();
      },
      run));
  return problems;
}

Result<std::vector<std::pair<std::string, Candidate>>> Reader::candidates(const std::string &run) {
  std::vector<std::pair<std::string, Candidate>> candidates;
  KILN_RETURN_IF_ERROR(impl->each(
      "SELECT key, problem, provider, provider_version, configuration, variant, compiler_flags, module_hash, threads "
      "FROM candidate WHERE key IN (SELECT r.candidate FROM result r JOIN grp g ON g.key = r.grp WHERE g.run = ?1) "
      "ORDER BY key",
      [&](const Statement &row) {
        candidates.emplace_back(textOf(row, 0), Candidate{textOf(row, 1), textOf(row, 2), textOf(row, 3),
                                                          textOf(row, 4), textOf(row, 5), textOf(row, 6, kLongText),
                                                          textOf(row, 7), static_cast<uint64_t>(row.integer(8))});
        return okStatus();
      },
      run));
  return candidates;
}

// From five columns; nothing where there was no worker.
static std::optional<WorkerFacts> workerAt(const Statement &row, int column) {
  if (row.isNull(column))
    return std::nullopt;
  return WorkerFacts{textOf(row, column), textOf(row, column + 1), textOf(row, column + 2),
                     static_cast<uint64_t>(row.integer(column + 3)), static_cast<uint64_t>(row.integer(column + 4))};
}

Result<std::vector<CandidateResult>> Reader::results(const std::string &run) {
  std::vector<CandidateResult> results;
  KILN_RETURN_IF_ERROR(impl->each(
      "SELECT r.grp, r.candidate, r.outcome, r.error, r.method, r.cause, r.explanation, r.escape_probability, "
      "r.details, r.compile_ms, w.name, w.version, w.note, w.processes, w.peak_memory FROM grp g "
      "JOIN result r ON r.grp = g.key LEFT JOIN worker w ON w.grp = r.grp AND w.candidate = r.candidate "
      "WHERE g.run = ?1",
      [&](const Statement &row) -> Status {
        std::optional<Outcome> outcome = parseOutcome(textOf(row, 2));
        if (!outcome)
          return dataLoss("the store holds a result with the unknown outcome '{}'", textOf(row, 2));
        results.push_back(
            {textOf(row, 0), textOf(row, 1), *outcome, textOf(row, 3, kLongText),
             Verification{textOf(row, 4), textOf(row, 5), textOf(row, 6, kLongText), row.real(7), row.text(8)},
             row.optionalReal(9), workerAt(row, 10)});
        return okStatus();
      },
      run));
  return results;
}

Result<std::vector<CandidateEstimate>> Reader::estimates(const std::string &run) {
  std::vector<CandidateEstimate> estimates;
  KILN_RETURN_IF_ERROR(impl->each(
      "SELECT e.grp, e.candidate, e.median, e.p10, e.p90, e.low, e.high, e.device_median, e.launch_median, e.rounds, "
      "e.samples, e.rank, e.ties, e.ratio, e.ratio_low, e.ratio_high, e.dropped "
      "FROM grp g JOIN estimate e ON e.grp = g.key WHERE g.run = ?1",
      [&](const Statement &row) -> Status {
        KILN_ASSIGN_OR_RETURN(std::vector<std::string> ties, namesFromJson(row.text(12)));
        auto count = [&](int column) { return static_cast<uint64_t>(row.integer(column)); };
        const Estimate values = {row.real(2),  row.real(3),  row.real(4),  row.real(5),
                                 row.real(6),  count(9),     count(10),    count(11),
                                 row.real(13), row.real(14), row.real(15), row.integer(16) != 0};
        estimates.push_back(
            {values, textOf(row, 0), textOf(row, 1), std::move(ties), row.optionalReal(7), row.optionalReal(8)});
        return okStatus();
      },
      run));
  return estimates;
}

static std::optional<uint64_t> optionalCount(const Statement &row, int column) {
  return row.isNull(column) ? std::nullopt : std::optional(static_cast<uint64_t>(row.integer(column)));
}

// From five columns: calls, and what was counted of them.
static Counters countersAt(const Statement &row, int column) {
  return {{optionalCount(row, column + 1), optionalCount(row, column + 2), optionalCount(row, column + 3),
           optionalCount(row, column + 4)},
          static_cast<uint64_t>(row.integer(column))};
}

static std::string sumOf(std::string_view column) {
  return fmt::format("iif(count(c.{0}) = count(*), CAST(total(c.{0}) AS INTEGER), NULL)", column);
}

Result<std::vector<CountedCalls>> Reader::counters(const std::string &run) {
  std::vector<CountedCalls> counted;
  // A sum over some of the rounds only would not belong to the number of calls. total() is a double: sum() is an error
  // where integers overflow.
  KILN_RETURN_IF_ERROR(impl->each(
      fmt::format("SELECT c.grp, c.candidate, {}, {}, {}, {}, {} ", sumOf("calls"), sumOf("cycles"),
                  sumOf("instructions"), sumOf("cache_misses"), sumOf("flops")) +
          "FROM grp g JOIN counters c ON c.grp = g.key WHERE g.run = ?1 GROUP BY c.grp, c.candidate",
      [&](const Statement &row) -> Status {
        counted.push_back({textOf(row, 0), textOf(row, 1), countersAt(row, 2)});
        return okStatus();
      },
      run));
  return counted;
}

// From five columns.
static DeviceState deviceStateAt(const Statement &row, int column) {
  return {row.optionalReal(column), row.optionalReal(column + 1), row.optionalReal(column + 2),
          row.optionalReal(column + 3), row.isNull(column + 4) ? "" : textOf(row, column + 4)};
}

Result<std::vector<DeviceStates>> Reader::deviceStates(const std::string &run) {
  std::vector<DeviceStates> states;
  KILN_RETURN_IF_ERROR(impl->each(
      "SELECT d.grp, d.candidate, low_megahertz, high_megahertz, watts, celsius, throttling "
      "FROM grp g JOIN device_state d ON d.grp = g.key WHERE g.run = ?1 ORDER BY d.grp, d.candidate",
      [&](const Statement &row) -> Status {
        std::string group = textOf(row, 0), candidate = textOf(row, 1);
        if (states.empty() || states.back().group != group || states.back().candidate != candidate)
          states.push_back({std::move(group), std::move(candidate), {}});
        const DeviceState state = deviceStateAt(row, 2);
        states.back().state.add(state);
        ++states.back().rounds;
        states.back().moved += state.moved();
        return okStatus();
      },
      run));
  return states;
}

Result<std::vector<Round>> Reader::rounds(const std::string &group, const std::optional<std::string> &candidate) {
  std::vector<Round> rounds;
  KILN_RETURN_IF_ERROR(impl->each(
      "SELECT candidate, idx, started, load, megahertz, batch, cache_mode, samples, ifnull(calls, 0), cycles, "
      "instructions, cache_misses, flops, low_megahertz, high_megahertz, watts, celsius, throttling FROM round "
      "LEFT JOIN counters USING (grp, candidate, idx) LEFT JOIN device_state USING (grp, candidate, idx) "
      "WHERE grp = ?1 AND (?2 = '' OR candidate = ?2) ORDER BY idx, started",
      [&](const Statement &row) -> Status {
        Result<Samples> samples = decodeSamples(row.blob(7));
        if (!samples.ok())
          return std::move(samples).status().withContext(
              fmt::format("'{}', group {}, round {}", impl->connection->path(), group, row.integer(1)));
        rounds.push_back({group, textOf(row, 0), static_cast<uint64_t>(row.integer(1)), row.integer(2), row.real(3),
                          row.optionalReal(4), static_cast<uint64_t>(row.integer(5)), textOf(row, 6),
                          *std::move(samples), countersAt(row, 8), deviceStateAt(row, 13)});
        return okStatus();
      },
      group, candidate.value_or("")));
  return rounds;
}

Result<std::optional<std::string>> Reader::unfinishedRun(const Run &like, ResumeOn where) {
  KILN_ASSIGN_OR_RETURN(std::vector<StoredRun> stored, runs());
  std::optional<std::string> latest;
  for (const StoredRun &run : stored)
    if (!run.ended && run.sweep == like.sweep && run.tags == like.tags &&
        run.machine.hardware == like.machine.hardware &&
        (where == ResumeOn::EqualHardware || run.machine.node == like.machine.node))
      latest = run.key();
  return latest;
}

static std::string blobText(std::span<const uint8_t> blob) {
  constexpr size_t longest = 32;
  if (blob.size() > longest)
    return fmt::format("<blob of {} bytes>", blob.size());
  std::string text = "x'";
  for (uint8_t byte : blob)
    text += fmt::format("{:02x}", byte);
  return text + "'";
}

Result<QueryResult> Reader::query(std::string_view sql) {
  KILN_ASSIGN_OR_RETURN(Statement statement, impl->connection->prepare(sql));
  if (!statement.readOnly() || statement.columns() == 0)
    return invalidArgument("'{}' would change the store; only questions are answered", sql);
  QueryResult result;
  for (int i = 0; i < statement.columns(); ++i)
    result.columns.emplace_back(statement.columnName(i));
  while (true) {
    KILN_ASSIGN_OR_RETURN(bool more, statement.step());
    if (!more)
      return result;
    std::vector<std::string> &row = result.rows.emplace_back();
    for (int i = 0; i < statement.columns(); ++i)
      row.push_back(statement.isBlob(i) ? blobText(statement.blob(i)) : statement.text(i));
  }
}

Status Reader::check() {
  KILN_ASSIGN_OR_RETURN(std::string found, impl->connection->text("PRAGMA integrity_check(1)"));
  if (found != "ok")
    return dataLoss("'{}' is damaged: {}", impl->connection->path(), found);
  std::string broken;
  KILN_RETURN_IF_ERROR(impl->each("PRAGMA foreign_key_check", [&](const Statement &row) {
    broken = textOf(row, 0);
    return okStatus();
  }));
  if (!broken.empty())
    return dataLoss("'{}' is damaged: table {} refers to what is not there", impl->connection->path(), broken);
  return okStatus();
}

} // namespace kiln::store
