// Whether the claims of docs/statistics.md hold: many simulated groups under each of the noise models. What is printed
// here stands there as its table.
#include "kiln/measure/statistics/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fmt/core.h"

namespace kiln::measure::simulation {
namespace {

// Counts over the sweeps of one study.
struct Tally {
  double sweeps = 0;
  double allTied = 0;      // every candidate has rank 1
  double secondBehind = 0; // candidate 1 ranks behind candidate 0
  double wrong = 0;        // ranks that claim what is not so
  double bestDropped = 0;  // of candidates that are truly the fastest
  double best = 0;
  double lastDropped = 0; // the last candidate
  double lastRounds = 0;
  double covered = 0; // intervals
  double intervals = 0;
  double droppedCovered = 0; // of those that were dropped
  double droppedIntervals = 0;
  double stationaryCovered = 0; // the same as `covered`, of the stationary median
  double rounds = 0;
  double tokens = 0; // a candidate
};

// What a rank claims: each candidate is slower than the leaders of better ranks.
bool ranksWrongly(const std::vector<RankedEstimate> &estimates, const std::vector<double> &factors) {
  for (size_t leader = 0; leader < estimates.size(); ++leader) {
    if (leader > 0 && estimates[leader - 1].rank == estimates[leader].rank)
      continue;
    for (size_t behind = leader + 1; behind < estimates.size(); ++behind)
      if (estimates[behind].rank > estimates[leader].rank &&
          factors[estimates[behind].candidate] <= factors[estimates[leader].candidate])
        return true;
  }
  return false;
}

void count(const Sweep &sweep, const std::vector<RankedEstimate> &estimates, const std::vector<double> &factors,
           Tally &tally) {
  const double fastest = *std::min_element(factors.begin(), factors.end());
  std::vector<uint32_t> ranks(factors.size());
  for (const RankedEstimate &estimate : estimates) {
    ranks[estimate.candidate] = estimate.rank;
    const Interval interval = {estimate.low, estimate.high};
    const bool covered = interval.contains(sweep.trueMedian(estimate.candidate));
    (estimate.dropped ? tally.droppedCovered : tally.covered) += covered ? 1 : 0;
    (estimate.dropped ? tally.droppedIntervals : tally.intervals) += 1;
    if (!estimate.dropped && factors.size() == 2)
      tally.stationaryCovered += interval.contains(sweep.stationaryMedian(estimate.candidate)) ? 1 : 0;
    if (factors[estimate.candidate] == fastest) {
      tally.best += 1;
      tally.bestDropped += estimate.dropped ? 1 : 0;
    }
    if (estimate.candidate + 1 == factors.size()) {
      tally.lastDropped += estimate.dropped ? 1 : 0;
      tally.lastRounds += estimate.rounds;
    }
  }
  tally.sweeps += 1;
  tally.allTied += std::all_of(ranks.begin(), ranks.end(), [](uint32_t rank) { return rank == 1; }) ? 1 : 0;
  tally.secondBehind += ranks[0] < ranks[1] ? 1 : 0;
  tally.wrong += ranksWrongly(estimates, factors) ? 1 : 0;
  tally.rounds += sweep.rounds();
  tally.tokens += static_cast<double>(sweep.tokens()) / static_cast<double>(factors.size());
}

Tally play(const Noise &noise, const std::vector<double> &factors, uint64_t sweeps, GroupOptions options = {}) {
  Tally tally;
  for (uint64_t sweep = 0; sweep < sweeps; ++sweep) {
    options.seed = 1 + sweep;
    Sweep one(noise, factors, options);
    const std::vector<RankedEstimate> estimates = one.run();
    EXPECT_EQ(estimates.size(), factors.size());
    count(one, estimates, factors, tally);
  }
  return tally;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 100;
}

void printHead(std::string_view title, std::string_view columns) {
  fmt::print("\n{}\n\n| noise {} |\n|---|", title, columns);
  for (char each : columns)
    fmt::print("{}", each == '|' ? "---:|" : "");
  fmt::print("\n");
}

void print(std::string_view name, const std::vector<double> &values) {
  fmt::print("| {} |", name);
  for (double value : values)
    fmt::print(" {:.1f} |", value);
  fmt::print("\n");
}

// No memory between rounds, so that the median at the time of measuring is that of all times.
bool forgets(const Noise &noise) {
  return noise.drift == 0 && noise.walk == 0 && noise.commonSpread == 0 && noise.ownSpread == 0 && noise.slowShare == 0;
}

TEST(Simulation, TheSameProgramTwiceTies) {
  printHead("The same program as two candidates, 1000 sweeps: %",
            "| tied | tied, tieWithin = 0 | covered | covered, stationary | rounds");
  double dropped = 0;
  double best = 0;
  for (const Noise &noise : noiseModels()) {
    const Tally tally = play(noise, {1, 1}, 1000);
    const Tally strict = play(noise, {1, 1}, 300, {.tieWithin = 0});
    const double covered = percent(tally.covered, tally.intervals);
    const double stationary = percent(tally.stationaryCovered, tally.intervals);
    print(noise.name, {percent(tally.allTied, tally.sweeps), percent(strict.allTied, strict.sweeps), covered,
                       stationary, tally.rounds / tally.sweeps});
    EXPECT_GE(percent(tally.allTied, tally.sweeps), 99) << noise.name;
    EXPECT_GE(percent(strict.allTied, strict.sweeps), 97.5) << noise.name;
    EXPECT_GE(covered, 94) << noise.name;
    EXPECT_GE(stationary, forgets(noise) ? 94 : 0) << noise.name;
    dropped += tally.bestDropped + strict.bestDropped;
    best += tally.best + strict.best;
  }
  EXPECT_LE(percent(dropped, best), 0.1);
}

// Noise that remembers needs to be watched for longer before its median is that of all times.
TEST(Simulation, LongGroupsKnowTheStationaryMedian) {
  printHead("The same program as two candidates for 200 rounds, noise with memory, 300 sweeps: %",
            "| covered | covered, stationary");
  for (const Noise &noise : noiseModels()) {
    if (forgets(noise) || noise.drift > 0 || noise.walk > 0)
      continue;
    const Tally tally = play(noise, {1, 1}, 300, {.minimumRounds = 200, .maximumRounds = 200});
    const double stationary = percent(tally.stationaryCovered, tally.intervals);
    print(noise.name, {percent(tally.covered, tally.intervals), stationary});
    EXPECT_GE(stationary, 91) << noise.name;
  }
}

// As a sweep whose minutes are over: few rounds, of which nobody knows how much they depend on one another.
TEST(Simulation, GroupsThatWereCutCover) {
  printHead(
      "The same program as two candidates, cut after so many rounds, 500 sweeps: % covered, and covered, stationary",
      "| 3 | stationary | 5 | stationary | 8 | stationary | 11 | stationary");
  for (const Noise &noise : noiseModels()) {
    std::vector<double> shares;
    for (uint32_t rounds : {3U, 5U, 8U, 11U}) {
      const Tally tally = play(noise, {1, 1}, 500, {.minimumRounds = rounds, .maximumRounds = rounds});
      shares.push_back(percent(tally.covered, tally.intervals));
      shares.push_back(percent(tally.stationaryCovered, tally.intervals));
      EXPECT_GE(shares[shares.size() - 2], 92) << noise.name << ", " << rounds;
      EXPECT_LE(percent(tally.secondBehind, tally.sweeps), 1) << noise.name << ", " << rounds;
    }
    print(noise.name, shares);
  }
}

TEST(Simulation, SlowDownsAreFound) {
  printHead("A planted slow-down, 200 sweeps: % found",
            "| 3 % | rounds | covered | 1 % | rounds | 1 %, up to 600 rounds | rounds");
  for (const Noise &noise : noiseModels()) {
    const Tally three = play(noise, {1, 1.03}, 200);
    const Tally one = play(noise, {1, 1.01}, 200);
    const Tally patient = play(noise, {1, 1.01}, 50, {.maximumRounds = 600});
    print(noise.name,
          {percent(three.secondBehind, three.sweeps), three.rounds / three.sweeps,
           percent(three.covered, three.intervals), percent(one.secondBehind, one.sweeps), one.rounds / one.sweeps,
           percent(patient.secondBehind, patient.sweeps), patient.rounds / patient.sweeps});
    EXPECT_GE(percent(three.secondBehind, three.sweeps), 99) << noise.name;
    EXPECT_GE(percent(three.covered, three.intervals), 94) << noise.name;
    EXPECT_GE(percent(one.secondBehind, one.sweeps), 5) << noise.name;
    EXPECT_GE(percent(patient.secondBehind, patient.sweeps), 70) << noise.name;
    EXPECT_EQ(three.wrong + one.wrong + patient.wrong, 0) << noise.name;
  }
}

TEST(Simulation, TwentyFourOfTheSameShareTheFirstRank) {
  printHead("The same program as 24 candidates, 20 sweeps: %", "| all share rank 1 | covered | rounds");
  double dropped = 0;
  double best = 0;
  for (const Noise &noise : noiseModels()) {
    const Tally tally = play(noise, std::vector<double>(24, 1), 20);
    print(noise.name,
          {percent(tally.allTied, tally.sweeps), percent(tally.covered, tally.intervals), tally.rounds / tally.sweeps});
    EXPECT_GE(percent(tally.allTied, tally.sweeps), 90) << noise.name; // one sweep of 20 is 5 %
    EXPECT_GE(percent(tally.covered, tally.intervals), 94) << noise.name;
    dropped += tally.bestDropped;
    best += tally.best;
  }
  EXPECT_LE(percent(dropped, best), 0.1);
}

// Without the margin, so that it is the intervals that hold the claim for all pairs at all looks.
TEST(Simulation, RankingErrorHoldsForWholeGroups) {
  printHead("24 candidates of the same program, tieWithin = 0, 26 rounds, 100 sweeps: %", "| all share rank 1");
  for (const Noise &noise : noiseModels()) {
    const Tally tally = play(noise, std::vector<double>(24, 1), 100, {.tieWithin = 0, .maximumRounds = 26});
    print(noise.name, {percent(tally.allTied, tally.sweeps)});
    EXPECT_GE(percent(tally.allTied, tally.sweeps), 96) << noise.name;
  }
}

// As a sweep looks: four within 6 % of the best, one 11 % slower, and so on up to 2.3 times.
TEST(Simulation, ManyCandidatesLeaveEarly) {
  std::vector<double> factors = {1, 1.02, 1.04, 1.06};
  for (int i = 4; i < 24; ++i)
    factors.push_back(1.05 + 0.06 * (i - 3));
  printHead("24 candidates from 1 to 2.25, 60 sweeps",
            "| best dropped | ranked wrongly | covered % | covered %, dropped | rounds | tokens a candidate | "
            "milliseconds a group at 10 a token");
  for (const Noise &noise : noiseModels()) {
    const Tally tally = play(noise, factors, 60);
    const double dropped = percent(tally.droppedCovered, tally.droppedIntervals);
    print(noise.name, {tally.bestDropped, tally.wrong, percent(tally.covered, tally.intervals), dropped,
                       tally.rounds / tally.sweeps, tally.tokens / tally.sweeps, tally.tokens / tally.sweeps * 240});
    EXPECT_EQ(tally.bestDropped, 0) << noise.name;
    EXPECT_LE(tally.wrong, 1) << noise.name;
    EXPECT_GE(percent(tally.covered, tally.intervals), 94) << noise.name;
    EXPECT_GE(dropped, 94) << noise.name;
    EXPECT_LE(tally.tokens / tally.sweeps, 50) << noise.name;
  }
}

TEST(Simulation, AWinnerIsSoonAlone) {
  std::vector<double> factors(24, 1.15);
  factors[0] = 1;
  factors[23] = 3;
  printHead("One fast candidate, 22 slower by 15 %, one by 200 %; 50 sweeps",
            "| rounds | tokens a candidate | rounds of the slowest | covered %, dropped");
  for (const Noise &noise : noiseModels()) {
    const Tally tally = play(noise, factors, 50);
    print(noise.name, {tally.rounds / tally.sweeps, tally.tokens / tally.sweeps, tally.lastRounds / tally.sweeps,
                       percent(tally.droppedCovered, tally.droppedIntervals)});
    EXPECT_EQ(tally.bestDropped, 0) << noise.name;
    EXPECT_EQ(tally.lastDropped, tally.sweeps) << noise.name;
    EXPECT_LE(tally.lastRounds / tally.sweeps, 5) << noise.name;
    EXPECT_LE(tally.tokens / tally.sweeps, 40) << noise.name;
    EXPECT_GE(percent(tally.droppedCovered, tally.droppedIntervals), 94) << noise.name;
  }
}

TEST(Simulation, SlowerByAThirdLeavesWithinFewRounds) {
  printHead("Two candidates, one slower by 30 %, 300 sweeps",
            "| dropped % | its rounds | best dropped | covered % | covered %, dropped");
  for (const Noise &noise : noiseModels()) {
    const Tally tally = play(noise, {1, 1.3}, 300);
    const double dropped = percent(tally.droppedCovered, tally.droppedIntervals);
    print(noise.name, {percent(tally.lastDropped, tally.sweeps), tally.lastRounds / tally.sweeps, tally.bestDropped,
                       percent(tally.covered, tally.intervals), dropped});
    EXPECT_GE(percent(tally.lastDropped, tally.sweeps), 98) << noise.name;
    EXPECT_LE(tally.lastRounds / tally.sweeps, 20) << noise.name;
    EXPECT_EQ(tally.bestDropped, 0) << noise.name;
    EXPECT_GE(percent(tally.covered, tally.intervals), 94) << noise.name;
    EXPECT_GE(dropped, 94) << noise.name;
  }
}

} // namespace
} // namespace kiln::measure::simulation
