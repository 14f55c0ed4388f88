#include "kiln/measure/statistics/group_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kiln/base/random.h"
#include "kiln/measure/statistics/levels.h"

namespace kiln::measure {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Decisions are made each time that the number of rounds has grown by this factor: few decisions cost little
// confidence, and not much is measured after the group could have ended.
constexpr double kLookGrowth = 1.3;
constexpr uint32_t kFirstLook = 6;
// The chance of saying wrongly that a candidate is slower by more than dropBeyond. The chance of dropping the fastest
// is dropError.
constexpr double kDropSizeError = 0.02;
// A candidate that is this many times slower in each of its first 3, 4, 5 rounds is dropped between decisions, too: a
// disturbance that slows one candidate in a round would have to do it in all of them.
constexpr double kHopelessRatios[] = {4, 2, 1.6};
constexpr uint32_t kHopelessRounds = 3;
// Each of so many of the best has to be told apart from the next one; all have to be told apart from the leader.
constexpr size_t kResolvedBest = 5;
// The group does not wait for an interval that is expected to be this many times too wide at the maximum of rounds.
constexpr double kOutOfReach = 2;
// The leader is one of so many candidates with the lowest levels.
constexpr size_t kContenders = 8;
constexpr uint32_t kForesightRounds = 30;

Status checkShare(const char *name, double value, double least, double most) {
  if (value >= least && value <= most)
    return okStatus();
  return invalidArgument("statistics option '{}' is {}; it must be from {} to {}", name, value, least, most);
}

Status checkOptions(const GroupOptions &options) {
  KILN_RETURN_IF_ERROR(checkShare("confidence", options.confidence, 0.5, 0.9999));
  KILN_RETURN_IF_ERROR(checkShare("target", options.target, 1e-6, 1));
  KILN_RETURN_IF_ERROR(checkShare("tieWithin", options.tieWithin, 0, 1));
  KILN_RETURN_IF_ERROR(checkShare("rankingError", options.rankingError, 1e-9, 0.5));
  KILN_RETURN_IF_ERROR(checkShare("dropBeyond", options.dropBeyond, 0, GroupOptions::kNeverDrop));
  KILN_RETURN_IF_ERROR(checkShare("dropError", options.dropError, 1e-9, 0.5));
  if (options.minimumRounds < 1)
    return invalidArgument("statistics option 'minimumRounds' is 0; a group needs at least one round");
  if (options.maximumRounds < options.minimumRounds || options.maximumRounds > GroupOptions::kMostRounds)
    return invalidArgument("statistics option 'maximumRounds' is {}; it must be from minimumRounds ({}) to {}",
                           options.maximumRounds, options.minimumRounds, GroupOptions::kMostRounds);
  return okStatus();
}

std::vector<uint32_t> lookSchedule(const GroupOptions &options) {
  std::vector<uint32_t> looks;
  for (uint32_t rounds = kFirstLook; rounds < options.maximumRounds;
       rounds = static_cast<uint32_t>(std::ceil(rounds * kLookGrowth)))
    looks.push_back(rounds);
  looks.push_back(options.maximumRounds);
  return looks;
}

// Of a logarithm; all there is if the reach is infinite, or if there is no value.
Interval intervalAround(double value, double reach) {
  return std::isfinite(reach) && std::isfinite(value) ? Interval{std::exp(value - reach), std::exp(value + reach)}
                                                      : Interval{0, kInfinity};
}

double halfWidth(const Interval &interval, double median) {
  return (interval.high - interval.low) / (2 * median);
}

Result<std::vector<double>> callTimes(uint32_t candidate, std::span<const int64_t> samples, uint32_t batch) {
  if (batch == 0)
    return invalidArgument("candidate {}: samples of batches of 0 calls; a batch has at least one", candidate);
  if (samples.empty())
    return invalidArgument("candidate {}: a round without samples; leave out rounds in which it was absent", candidate);
  std::vector<double> times;
  times.reserve(samples.size());
  for (int64_t sample : samples) {
    if (sample <= 0)
      return invalidArgument("candidate {}: sample {} is {} ns; the clock cannot see it: time batches of more calls",
                             candidate, times.size(), sample);
    times.push_back(static_cast<double>(sample) / batch);
  }
  return times;
}

} // namespace

struct GroupStatistics::Tables {
  StudentTable running;  // for all pairs of those that run on, at all looks
  StudentTable dropped;  // for each of the others against one
  StudentTable best;     // that the fastest candidate is dropped, at any look by anyone
  StudentTable size;     // that one is beyond dropBeyond
  StudentTable ordinary; // one interval at `confidence`
};

Result<GroupStatistics> GroupStatistics::create(const GroupOptions &options) {
  KILN_RETURN_IF_ERROR(checkOptions(options));
  return GroupStatistics(options);
}

GroupStatistics::GroupStatistics(const GroupOptions &options) : settings(options), looks(lookSchedule(options)) {}

uint32_t GroupStatistics::addCandidate() {
  candidates.emplace_back();
  return static_cast<uint32_t>(candidates.size() - 1);
}

Status GroupStatistics::withdraw(uint32_t candidate) {
  if (candidate >= candidates.size())
    return outOfRange("candidate {} cannot be withdrawn: the group has {}", candidate, candidates.size());
  candidates[candidate].withdrawn = true;
  // A candidate that was dropped for being slower than the withdrawn one may be the best of the others.
  for (Candidate &other : candidates)
    if (other.dropped && other.droppedFor == candidate) {
      other.dropped = false;
      finished = false;
    }
  return okStatus();
}

GroupStatistics::Tables GroupStatistics::tables() const {
  double running = 0;
  double dropped = 0;
  for (const Candidate &candidate : candidates)
    if (!candidate.withdrawn)
      (candidate.dropped ? dropped : running) += 1;
  // One more look, since a caller whose time is up may stop at any round.
  const auto lookCount = static_cast<double>(looks.size() + 1);
  const auto pairs = [](double count) { return std::max(1.0, count * (count - 1) / 2); };
  const double error = settings.rankingError / lookCount;
  return {StudentTable(error / pairs(running)), StudentTable(settings.rankingError / (dropped + 1)),
          StudentTable(2 * settings.dropError / ((running + dropped) * lookCount)), StudentTable(2 * kDropSizeError),
          StudentTable(1 - settings.confidence)};
}

std::vector<uint32_t> GroupStatistics::nextRound() {
  if (open) {
    closeRound();
    ++current;
  }
  std::vector<uint32_t> next;
  if (!finished)
    for (uint32_t candidate = 0; candidate < candidates.size(); ++candidate)
      if (candidates[candidate].running())
        next.push_back(candidate);
  if (next.empty())
    return next;
  open = true;
  uint64_t state = current;
  state = settings.seed ^ nextBits(state);
  for (size_t left = next.size(); left > 1; --left)
    std::swap(next[left - 1], next[nextBits(state) % left]);
  return next;
}

Status GroupStatistics::addRound(uint32_t candidate, uint32_t round, std::span<const int64_t> samples, uint32_t batch) {
  if (candidate >= candidates.size())
    return outOfRange("samples of candidate {}: the group has {}", candidate, candidates.size());
  if (round >= settings.maximumRounds)
    return outOfRange("candidate {}: round {} is beyond the {} rounds that the group may have", candidate, round,
                      settings.maximumRounds);
  if (round < current)
    return failedPrecondition("candidate {}: round {} has ended, the current one is {}; add rounds in order", candidate,
                              round, current);
  if (candidates[candidate].locations.size() > round)
    return failedPrecondition("candidate {} has samples of round {} already", candidate, round);
  KILN_ASSIGN_OR_RETURN(std::vector<double> times, callTimes(candidate, samples, batch));
  while (current < round) {
    closeRound();
    ++current;
  }
  open = true;
  Candidate &target = candidates[candidate];
  target.locations.resize(round, kNan);
  target.rounds.add(std::move(times));
  target.locations.push_back(target.rounds.lastLocation());
  return okStatus();
}

void GroupStatistics::closeRound() {
  open = false;
  const uint32_t ended = current + 1;
  const bool isLook = std::binary_search(looks.begin(), looks.end(), ended);
  if (!isLook && (ended > kFirstLook || ended < kHopelessRounds))
    return;
  Tables shared = tables();
  const std::vector<uint32_t> sorted = order();
  if (sorted.empty()) {
    finished |= ended >= settings.maximumRounds;
    return;
  }
  for (uint32_t candidate : sorted)
    if (candidates[candidate].running() && hopeless(candidate, sorted.front()))
      dropFor(candidate, sorted.front());
  if (!isLook)
    return;
  drop(sorted, shared);
  // With fewer candidates there are fewer comparisons, each of which gets more confidence.
  Tables left = tables();
  finished |= ended >= settings.maximumRounds || (ended >= settings.minimumRounds && enough(sorted, left));
}

std::vector<uint32_t> GroupStatistics::order() const {
  std::vector<uint32_t> ranked;
  std::vector<std::span<const double>> series;
  for (uint32_t candidate = 0; candidate < candidates.size(); ++candidate)
    if (candidates[candidate].ranked()) {
      ranked.push_back(candidate);
      series.emplace_back(candidates[candidate].locations);
    }
  const Levels levels = splitLevels(series);
  std::vector<size_t> places(ranked.size());
  std::iota(places.begin(), places.end(), 0);
  std::sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    const bool left = candidates[ranked[a]].dropped;
    const bool right = candidates[ranked[b]].dropped;
    if (left != right)
      return right;
    return std::pair(levels.candidates[a], a) < std::pair(levels.candidates[b], b);
  });
  std::vector<uint32_t> sorted;
  for (size_t place : places)
    sorted.push_back(ranked[place]);
  leadByComparison(sorted);
  return sorted;
}

std::vector<double> GroupStatistics::logRatios(uint32_t slower, uint32_t faster) const {
  const std::vector<double> &above = candidates[slower].locations;
  const std::vector<double> &below = candidates[faster].locations;
  std::vector<double> ratios;
  for (size_t round = 0; round < std::min(above.size(), below.size()); ++round)
    if (const double ratio = above[round] - below[round]; !std::isnan(ratio))
      ratios.push_back(ratio);
  return ratios;
}

// Levels are about all candidates and comparisons about two, so they may disagree about nearly equal ones. The leader
// is the one of the best that loses its worst comparison by least: mostly it wins them all.
void GroupStatistics::leadByComparison(std::vector<uint32_t> &order) const {
  if (order.empty())
    return;
  const auto running = static_cast<size_t>(
      std::count_if(order.begin(), order.end(), [&](uint32_t candidate) { return !candidates[candidate].dropped; }));
  size_t best = 0;
  double leastLoss = kInfinity;
  for (size_t place = 0; place < std::min(running, kContenders) && leastLoss > 0; ++place) {
    double loss = 0;
    for (size_t other = 0; other < running; ++other)
      if (other != place)
        loss = std::max(loss, -trimmedMean(logRatios(order[other], order[place])));
    if (loss < leastLoss) {
      leastLoss = loss;
      best = place;
    }
  }
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best),
              order.begin() + static_cast<std::ptrdiff_t>(best) + 1);
}

bool GroupStatistics::apart(uint32_t slower, uint32_t faster, Tables &tables) const {
  for (const auto &[one, other] : {std::pair(slower, faster), std::pair(faster, slower)})
    if (candidates[one].dropped && candidates[one].droppedFor == other)
      return true;
  const LogRatio ratio = ratioOf(slower, faster, tables);
  return std::abs(ratio.value) - ratio.reach > std::log1p(settings.tieWithin) || hopeless(slower, faster) ||
         hopeless(faster, slower);
}

// One that was dropped has few rounds, and another may have been hit in just those. So it is compared with the one for
// which it was dropped, and that one with the other.
GroupStatistics::LogRatio GroupStatistics::ratioOf(uint32_t slower, uint32_t faster, Tables &tables) const {
  if (candidates[faster].dropped && !candidates[slower].dropped) {
    const LogRatio inverse = ratioOf(faster, slower, tables);
    return {-inverse.value, inverse.reach};
  }
  LogRatio sum;
  for (uint32_t candidate = slower; candidate != faster;) {
    const Candidate &known = candidates[candidate];
    const uint32_t next = known.dropped && !candidates[faster].dropped ? known.droppedFor : faster;
    const Location ratio = logRatio(candidate, next);
    sum.value += ratio.value;
    sum.reach += ratio.reach(tableFor(candidate, next, tables));
    candidate = next;
  }
  return sum;
}

StudentTable &GroupStatistics::tableFor(uint32_t first, uint32_t second, Tables &tables) const {
  return candidates[first].dropped || candidates[second].dropped ? tables.dropped : tables.running;
}

Comparison GroupStatistics::compare(uint32_t first, uint32_t second, Tables &tables) const {
  const LogRatio ratio = ratioOf(first, second, tables);
  return {static_cast<uint32_t>(logRatios(first, second).size()), std::exp(ratio.value),
          intervalAround(ratio.value, ratio.reach), apart(first, second, tables)};
}

Comparison GroupStatistics::compare(uint32_t first, uint32_t second) const {
  Tables shared = tables();
  return compare(first, second, shared);
}

bool GroupStatistics::hopeless(uint32_t slower, uint32_t faster) const {
  const std::vector<double> ratios = logRatios(slower, faster);
  if (ratios.size() < kHopelessRounds)
    return false;
  const double enough = kHopelessRatios[std::min(ratios.size() - kHopelessRounds, std::size(kHopelessRatios) - 1)];
  return *std::min_element(ratios.begin(), ratios.end()) > std::log(std::max(enough, 1 + settings.dropBeyond));
}

void GroupStatistics::drop(const std::vector<uint32_t> &order, Tables &tables) {
  for (uint32_t candidate : order) {
    if (!candidates[candidate].running() || candidate == order.front())
      continue;
    const Location ratio = logRatio(candidate, order.front());
    if (ratio.value - ratio.reach(tables.size) > std::log1p(settings.dropBeyond) &&
        ratio.value - ratio.reach(tables.best) > 0)
      dropFor(candidate, order.front());
  }
}

void GroupStatistics::dropFor(uint32_t candidate, uint32_t leader) {
  candidates[candidate].dropped = true;
  candidates[candidate].droppedFor = leader;
}

bool GroupStatistics::preciseEnough(const Candidate &candidate) const {
  const CandidateRounds::Summary summary = candidate.rounds.summarize(1 - settings.confidence);
  const double half = halfWidth(summary.interval, summary.median);
  if (half <= settings.target)
    return true;
  const auto rounds = static_cast<double>(candidate.rounds.rounds());
  return rounds >= kForesightRounds &&
         half * std::sqrt(rounds / settings.maximumRounds) > kOutOfReach * settings.target;
}

bool GroupStatistics::resolved(uint32_t faster, uint32_t slower, Tables &tables) const {
  const Location ratio = logRatio(slower, faster);
  return std::abs(ratio.value) + ratio.reach(tables.ordinary) <= std::log1p(settings.target) ||
         apart(slower, faster, tables);
}

bool GroupStatistics::enough(const std::vector<uint32_t> &order, Tables &tables) const {
  std::vector<uint32_t> running;
  for (uint32_t candidate : order)
    if (candidates[candidate].running())
      running.push_back(candidate);
  for (size_t place = 1; place < running.size(); ++place) {
    if (!resolved(running.front(), running[place], tables))
      return false;
    if (place < kResolvedBest && !resolved(running[place - 1], running[place], tables))
      return false;
  }
  return std::all_of(running.begin(), running.end(),
                     [&](uint32_t candidate) { return preciseEnough(candidates[candidate]); });
}

RankedEstimate GroupStatistics::estimate(uint32_t candidate) const {
  const Candidate &known = candidates[candidate];
  const CandidateRounds::Summary summary = known.rounds.summarize(1 - settings.confidence);
  RankedEstimate estimate;
  estimate.candidate = candidate;
  estimate.rounds = known.rounds.rounds();
  estimate.samples = known.rounds.samples();
  estimate.median = summary.median;
  estimate.p10 = summary.p10;
  estimate.p90 = summary.p90;
  estimate.low = summary.interval.low;
  estimate.high = summary.interval.high;
  estimate.precise = halfWidth(summary.interval, summary.median) <= settings.target;
  estimate.dropped = known.dropped;
  estimate.withdrawn = known.withdrawn;
  return estimate;
}

// `estimates` are the ranked ones, the leader first.
void GroupStatistics::rank(std::vector<RankedEstimate> &estimates, Tables &tables) const {
  const auto place = [](const RankedEstimate &each) {
    return std::pair(std::isnan(each.ratio) ? kInfinity : each.ratio, each.candidate);
  };
  std::sort(estimates.begin() + 1, estimates.end(),
            [&](const RankedEstimate &a, const RankedEstimate &b) { return place(a) < place(b); });
  uint32_t better = 0;
  while (better < estimates.size()) {
    const auto leader =
        std::find_if(estimates.begin(), estimates.end(), [](const RankedEstimate &each) { return each.rank == 0; });
    const uint32_t leading = leader->candidate;
    uint32_t members = 0;
    for (auto each = leader; each != estimates.end(); ++each) {
      if (each->rank != 0)
        continue;
      const bool joins = each == leader || !apart(each->candidate, leading, tables);
      each->rank = joins ? better + 1 : 0;
      members += joins ? 1 : 0;
    }
    better += members;
  }
  for (size_t one = 0; one < estimates.size(); ++one)
    for (size_t other = one + 1; other < estimates.size(); ++other)
      if (!apart(estimates[one].candidate, estimates[other].candidate, tables)) {
        estimates[one].ties.push_back(estimates[other].candidate);
        estimates[other].ties.push_back(estimates[one].candidate);
      }
  for (RankedEstimate &each : estimates)
    std::sort(each.ties.begin(), each.ties.end());
  std::vector<RankedEstimate> byRank;
  for (uint32_t rank = 1; rank <= estimates.size(); ++rank)
    std::copy_if(estimates.begin(), estimates.end(), std::back_inserter(byRank),
                 [&](const RankedEstimate &each) { return each.rank == rank; });
  estimates = std::move(byRank);
}

std::vector<RankedEstimate> GroupStatistics::estimates() const {
  Tables shared = tables();
  const std::vector<uint32_t> sorted = order();
  std::vector<RankedEstimate> all;
  for (uint32_t candidate : sorted) {
    RankedEstimate next = estimate(candidate);
    const LogRatio ratio = ratioOf(candidate, sorted.front(), shared);
    next.ratio = std::exp(ratio.value);
    const Interval interval = intervalAround(ratio.value, ratio.reach);
    next.ratioLow = interval.low;
    next.ratioHigh = interval.high;
    if (!next.hasRatioInterval()) {
      next.ratioLow = 0;
      next.ratioHigh = kInfinity;
    }
    all.push_back(std::move(next));
  }
  if (!all.empty())
    rank(all, shared);
  for (uint32_t candidate = 0; candidate < candidates.size(); ++candidate)
    if (!candidates[candidate].ranked()) {
      all.push_back(estimate(candidate));
      all.back().ratio = kNan;
      all.back().ratioLow = 0;
      all.back().ratioHigh = kInfinity;
    }
  return all;
}

} // namespace kiln::measure
