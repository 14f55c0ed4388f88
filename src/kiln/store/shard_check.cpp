#include "kiln/store/shard_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/measure/statistics/rounds.h"
#include "kiln/store/facts.h"
#include "kiln/store/json.h"
#include "kiln/store/samples.h"

namespace kiln::store {

// How far a median that was computed elsewhere may lie from the one of here, as a part of it.
static constexpr double kRounding = 1e-9;

Result<ShardCheck> ShardCheck::open(Connection &shard) {
  KILN_ASSIGN_OR_RETURN(
      Statement rounds,
      shard.prepare("SELECT batch, samples FROM round WHERE grp = ?1 AND candidate = ?2 ORDER BY idx"));
  return ShardCheck(std::move(rounds));
}

Status ShardCheck::check(const FactTable &table, const Statement &row) {
  // What no report could show must not come into a store that can be read.
  if (Status status = checkJson(row, jsonColumns(row)); !status.ok())
    return std::move(status).withContext(fmt::format("table '{}', key {}", table.name, row.text(0)));
  KILN_ASSIGN_OR_RETURN(bool right, hasItsKey(table.name, row));
  if (!right)
    return dataLoss(
        "table '{}' holds another content under the key {} than the one that it is the key of: the store was "
        "changed by hand, or is damaged",
        table.name, row.text(0));
  if (table.name == "round")
    return checkRound(row);
  return table.name == "estimate" ? checkEstimate(row) : okStatus();
}

// Keys as this version makes them, or as versions before 6 did.
Result<bool> ShardCheck::hasItsKey(std::string_view table, const Statement &row) {
  const std::string key = row.text(0);
  auto number = [&](int column) { return std::to_string(row.integer(column)); };
  if (table == "node" || table == "allocation" || table == "hardware")
    return key == contentKey({table, row.text(1)}) ||
           (table == "hardware" && key == contentKey({"machine", row.text(1)}));
  if (table == "run") {
    Run run{row.text(1), row.integer(2), {row.text(3), row.text(4), row.text(5)},
            row.text(6), row.text(7),    0,
            row.text(9), row.text(10),   {},
            row.text(12)};
    run.seed = static_cast<uint64_t>(row.integer(8));
    KILN_ASSIGN_OR_RETURN(run.tags, pairsFromJson(row.text(11)));
    const MachineKeys unknown = Machine().keys();
    bool early = run.machine.node == unknown.node && run.machine.allocation == unknown.allocation;
    return key == run.key() || (early && key == contentKey({"run", run.sweep, number(2), run.machine.hardware,
                                                            run.commandLine, std::to_string(run.seed)}));
  }
  if (table == "problem") {
    Problem problem{row.text(1), row.text(2), {}, row.real(4), row.real(5)};
    KILN_ASSIGN_OR_RETURN(problem.fields, pairsFromJson(row.text(3)));
    problemNames[key] = problem.name;
    return key == problem.key();
  }
  if (table == "candidate") {
    Candidate candidate{row.text(1), row.text(2), row.text(3), row.text(4),
                        row.text(5), row.text(6), row.text(7), static_cast<uint64_t>(row.integer(8))};
    if (key == candidate.key())
      return true;
    candidate.problem = problemNames[candidate.problem];
    return key == candidate.key();
  }
  if (table == "grp") {
    Group group{row.text(1), row.text(2), row.integer(3)};
    if (!row.isNull(4))
      group.machine = MachineKeys{row.text(4), row.text(5), row.text(6)};
    bool early = !group.machine && key == contentKey({"group", group.run, problemNames[group.problem], number(3)});
    isOfEarlierVersion[key] = early;
    return early || key == group.key();
  }
  return true;
}

Status ShardCheck::checkRound(const Statement &row) {
  Status status = decodeSamples(row.blob(8)).status();
  if (status.ok() && row.integer(6) < 1)
    status = dataLoss("its samples sum {} calls each", row.integer(6));
  if (status.ok())
    return status;
  return dataLoss(
      "table 'round' holds what was never measured, round {} of grp {}: {}: the store was changed by hand, or "
      "is damaged",
      row.integer(2), row.text(0), status.message());
}

// A median follows from the samples. Earlier versions computed it in other ways; there it lies among the samples.
Status ShardCheck::checkEstimate(const Statement &row) {
  const std::string group = row.text(0), candidate = row.text(1);
  measure::CandidateRounds pooled;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  rounds.reset();
  rounds.bindAll(group, candidate);
  while (true) {
    KILN_ASSIGN_OR_RETURN(bool more, rounds.step());
    if (!more)
      break;
    KILN_ASSIGN_OR_RETURN(Samples samples, decodeSamples(rounds.blob(1)));
    std::vector<double> times;
    for (int64_t sample : samples.call)
      times.push_back(static_cast<double>(sample) / static_cast<double>(rounds.integer(0)));
    if (times.empty())
      continue;
    least = std::min(least, std::ranges::min(times));
    most = std::max(most, std::ranges::max(times));
    pooled.add(std::move(times));
  }
  const double told = row.real(2), median = pooled.rounds() ? pooled.median() : 0;
  const bool fits = isOfEarlierVersion[group] ? least <= told && told <= most
                                              : std::abs(told - median) <= kRounding * std::abs(median);
  if (pooled.rounds() && fits)
    return okStatus();
  return dataLoss(
      "table 'estimate' holds a median of {:.6g} ns for grp {}, candidate {}, whose {} say {}: the store was "
      "changed by hand, or is damaged",
      told, group, candidate, pooled.rounds() ? "samples" : "rounds are not there and",
      pooled.rounds() ? fmt::format("{:.6g} ns", median) : "nothing");
}

} // namespace kiln::store
