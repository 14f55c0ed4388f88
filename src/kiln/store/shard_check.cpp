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
  KILN_ASSIGN_OR_RETURN(Statement results, shard.prepare("SELECT 1 FROM result WHERE grp = ?1"));
  return ShardCheck(std::move(rounds), std::move(results));
}

static Status changedByHand(std::string_view table, const Statement &row, std::string_view what) {
  return dataLoss("table '{}', key {}: {}: the store was changed by hand, or is damaged", table, row.text(0), what);
}

// No number is infinite or negative but seeds, which are unsigned ones in two's complement, and no probability is
// above 1.
static Status checkNumbers(std::string_view table, const Statement &row) {
  for (int i = 0; i < row.columns(); ++i) {
    const std::string_view column = row.columnName(i);
    const double most = column == "escape_probability" ? 1 : std::numeric_limits<double>::max();
    if (row.isReal(i) && !(0 <= row.real(i) && row.real(i) <= most))
      return changedByHand(table, row, fmt::format("'{}' is {}", column, row.real(i)));
    if (row.isInteger(i) && row.integer(i) < 0 && column != "seed")
      return changedByHand(table, row, fmt::format("'{}' is {}", column, row.integer(i)));
  }
  return okStatus();
}

// Of an estimate. A ratio of 0 is one that is not known, of a candidate without a rank.
static Status checkRanges(const Statement &row) {
  const double median = row.real(2), p10 = row.real(3), p90 = row.real(4), low = row.real(5), high = row.real(6);
  const double ratio = row.real(13), ratioLow = row.real(14), ratioHigh = row.real(15);
  if (!(0 <= low && low <= median && median <= high))
    return changedByHand(
        "estimate", row,
        fmt::format("it has an interval from {:.6g} to {:.6g} ns for a median of {:.6g} ns", low, high, median));
  if (!(0 <= p10 && p10 <= p90))
    return changedByHand("estimate", row, fmt::format("it has percentiles from {:.6g} to {:.6g} ns", p10, p90));
  const bool isUnknown = ratio == 0 && row.integer(11) == 0;
  if (!(0 <= ratioLow && ratioLow <= ratio && ratio <= ratioHigh && (ratio > 0 || isUnknown)))
    return changedByHand("estimate", row,
                         fmt::format("it has a ratio of {:.6g}, with an interval from {:.6g} to "
                                     "{:.6g}, and rank {}",
                                     ratio, ratioLow, ratioHigh, row.integer(11)));
  return okStatus();
}

Status ShardCheck::check(const FactTable &table, const Statement &row) {
  // What no report could show must not come into a store that can be read.
  if (Status status = checkJson(row, jsonColumns(row)); !status.ok())
    return std::move(status).withContext(fmt::format("table '{}', key {}", table.name, row.text(0)));
  KILN_ASSIGN_OR_RETURN(bool right, hasItsKey(table.name, row));
  if (!right)
    return changedByHand(table.name, row, "the content is not the one that the key is made from");
  KILN_RETURN_IF_ERROR(checkNumbers(table.name, row));
  if (table.name == "grp_end")
    return checkEnd(row);
  if (table.name == "round")
    return checkRound(row);
  // What a group concludes is stored together with its end.
  if ((table.name == "grp_cut" || table.name == "estimate") && !finished.contains(row.text(0)))
    return changedByHand(table.name, row, "the group is not finished");
  if (table.name != "estimate")
    return okStatus();
  if (Status status = namesFromJson(row.text(12)).status(); !status.ok())
    return changedByHand(table.name, row, fmt::format("'ties': {}", status.message()));
  KILN_RETURN_IF_ERROR(checkRanges(row));
  return checkMedian(row);
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

// Without a result, an end would only keep its problem from being measured.
Status ShardCheck::checkEnd(const Statement &row) {
  const std::string group = row.text(0);
  finished.insert(group);
  results.reset();
  results.bindAll(group);
  KILN_ASSIGN_OR_RETURN(bool any, results.step());
  return any ? okStatus() : changedByHand("grp_end", row, "the group has no results");
}

Status ShardCheck::checkRound(const Statement &row) {
  if (row.integer(6) < 1)
    return changedByHand("round", row, fmt::format("it has a batch of {} calls", row.integer(6)));
  if (Status status = decodeSamples(row.blob(8)).status(); !status.ok())
    return changedByHand("round", row, fmt::format("round {}: {}", row.integer(2), status.message()));
  return okStatus();
}

// A median follows from the samples. Earlier versions computed it in other ways; there it lies among the samples.
Status ShardCheck::checkMedian(const Statement &row) {
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
