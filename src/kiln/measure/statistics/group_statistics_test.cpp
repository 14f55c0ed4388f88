#include "kiln/measure/statistics/group_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kiln/measure/statistics/simulation.h"

namespace kiln::measure {
namespace {

GroupStatistics makeGroup(uint32_t candidates, const GroupOptions &options = {}) {
  Result<GroupStatistics> group = GroupStatistics::create(options);
  EXPECT_TRUE(group.ok()) << group.status().toString();
  for (uint32_t i = 0; i < candidates; ++i)
    group->addCandidate();
  return *std::move(group);
}

// Times of five calls, 1 % apart from call to call and from round to round.
std::vector<int64_t> sample(double time, Random &random) {
  const double round = time * (1 + 0.01 * random.normal());
  std::vector<int64_t> samples;
  for (int i = 0; i < 5; ++i)
    samples.push_back(std::llround(round * (1 + 0.01 * random.normal())));
  return samples;
}

// One round of all candidates at the given times; 0 is absent.
void add(GroupStatistics &group, uint32_t round, const std::vector<double> &times, Random &random) {
  for (uint32_t candidate = 0; candidate < times.size(); ++candidate)
    if (times[candidate] > 0) {
      const Status status = group.addRound(candidate, round, sample(times[candidate], random), 1);
      ASSERT_TRUE(status.ok()) << status.toString();
    }
}

std::vector<RankedEstimate> play(GroupStatistics &group, const std::vector<double> &times) {
  Random random(7);
  for (std::vector<uint32_t> next = group.nextRound(); !next.empty(); next = group.nextRound())
    for (uint32_t candidate : next)
      EXPECT_TRUE(group.addRound(candidate, group.round(), sample(times[candidate], random), 1).ok());
  return group.estimates();
}

const RankedEstimate &of(const std::vector<RankedEstimate> &estimates, uint32_t candidate) {
  return *std::find_if(estimates.begin(), estimates.end(),
                       [&](const RankedEstimate &each) { return each.candidate == candidate; });
}

std::string messageOf(const Status &status) {
  return status.ok() ? "ok" : std::string(status.message());
}

TEST(GroupStatistics, RanksWithTies) {
  GroupStatistics group = makeGroup(5);
  const std::vector<RankedEstimate> estimates = play(group, {108e3, 100e3, 104e3, 100e3, 450e3});
  std::vector<uint32_t> ranks;
  for (uint32_t candidate = 0; candidate < 5; ++candidate)
    ranks.push_back(of(estimates, candidate).rank);
  EXPECT_EQ(ranks, (std::vector<uint32_t>{4, 1, 3, 1, 5}));
  EXPECT_EQ(of(estimates, 1).ties, (std::vector<uint32_t>{3}));
  EXPECT_EQ(of(estimates, 3).ties, (std::vector<uint32_t>{1}));
  EXPECT_TRUE(of(estimates, 2).ties.empty());
  EXPECT_NEAR(of(estimates, 0).ratio, 1.08, 0.01);
  EXPECT_LT(of(estimates, 0).ratioLow, 1.08);
  EXPECT_GT(of(estimates, 0).ratioHigh, 1.08);
  EXPECT_NEAR(of(estimates, 2).median, 104e3, 1e3);
  EXPECT_LT(of(estimates, 2).p10, of(estimates, 2).median);
  EXPECT_GT(of(estimates, 2).p90, of(estimates, 2).median);
  EXPECT_TRUE(of(estimates, 2).precise);
  EXPECT_TRUE(of(estimates, 4).dropped);
  EXPECT_EQ(of(estimates, 4).rounds, 3U);
  EXPECT_NEAR(of(estimates, 4).ratio, 4.5, 0.2);
  EXPECT_TRUE(std::is_sorted(estimates.begin(), estimates.end(),
                             [](const RankedEstimate &a, const RankedEstimate &b) { return a.rank < b.rank; }));
}

TEST(GroupStatistics, LeaderIsItsOwnMeasure) {
  GroupStatistics group = makeGroup(2);
  const std::vector<RankedEstimate> estimates = play(group, {130e3, 100e3});
  EXPECT_EQ(estimates[0].candidate, 1U);
  EXPECT_EQ(estimates[0].ratio, 1);
  EXPECT_EQ(estimates[0].ratioLow, 1);
  EXPECT_EQ(estimates[0].ratioHigh, 1);
}

// A machine that is 40 % slower in the second half: ranks do not depend on when candidates ran.
TEST(GroupStatistics, ComparesByCommonRounds) {
  GroupStatistics group = makeGroup(3);
  Random random(3);
  for (uint32_t round = 0; round < 100; ++round) {
    const double machine = round < 50 ? 1 : 1.4;
    add(group, round, {100e3 * machine, round < 50 ? 103e3 : 0, round < 20 ? 0 : 97e3 * machine}, random);
  }
  const std::vector<RankedEstimate> estimates = group.estimates();
  EXPECT_EQ(of(estimates, 2).rank, 1U);
  EXPECT_EQ(of(estimates, 0).rank, 2U);
  EXPECT_EQ(of(estimates, 1).rank, 3U);
  EXPECT_LT(of(estimates, 1).median, of(estimates, 2).median); // it ran when the machine was fast
  const Comparison comparison = group.compare(1, 0);
  EXPECT_EQ(comparison.rounds, 50U);
  EXPECT_NEAR(comparison.ratio, 1.03, 0.01);
  EXPECT_TRUE(comparison.apart);
}

TEST(GroupStatistics, CertainButSmallDifferencesTie) {
  const auto rankOfSecond = [](double factor, double tieWithin) {
    GroupStatistics group = makeGroup(2, {.tieWithin = tieWithin});
    for (uint32_t round = 0; round < 100; ++round)
      for (uint32_t candidate = 0; candidate < 2; ++candidate) {
        const std::vector<int64_t> samples(5, std::llround((candidate == 0 ? 1e6 : 1e6 * factor) + round % 3));
        EXPECT_TRUE(group.addRound(candidate, round, samples, 1).ok());
      }
    return of(group.estimates(), 1).rank;
  };
  EXPECT_EQ(rankOfSecond(1.002, 0.0025), 1U);
  EXPECT_EQ(rankOfSecond(1.003, 0.0025), 2U);
  EXPECT_EQ(rankOfSecond(1.002, 0), 2U);
}

TEST(GroupStatistics, BatchesCountPerCall) {
  GroupStatistics group = makeGroup(1);
  for (uint32_t round = 0; round < 5; ++round)
    ASSERT_TRUE(group.addRound(0, round, std::vector<int64_t>{1000, 1020, 980}, 100).ok());
  EXPECT_EQ(group.estimates()[0].median, 10);
  EXPECT_EQ(group.estimates()[0].samples, 15U);
}

TEST(GroupStatistics, OrderIsRandomButRepeats) {
  std::set<std::vector<uint32_t>> orders;
  std::vector<uint32_t> firsts(4, 0);
  GroupStatistics one = makeGroup(4, {.maximumRounds = 200, .seed = 5});
  GroupStatistics same = makeGroup(4, {.maximumRounds = 200, .seed = 5});
  GroupStatistics other = makeGroup(4, {.maximumRounds = 200, .seed = 6});
  bool differs = false;
  for (int round = 0; round < 200; ++round) {
    const std::vector<uint32_t> order = one.nextRound();
    EXPECT_EQ(order, same.nextRound());
    differs |= order != other.nextRound();
    EXPECT_EQ(one.round(), static_cast<uint32_t>(round));
    orders.insert(order);
    ++firsts[order.front()];
  }
  EXPECT_EQ(orders.size(), 24U);
  EXPECT_TRUE(differs);
  for (uint32_t first : firsts)
    EXPECT_NEAR(first, 50, 25);
  EXPECT_TRUE(one.nextRound().empty());
}

// What was stored leads to the same decisions when it is read again, without asking for rounds.
TEST(GroupStatistics, ReplayDecidesTheSame) {
  const std::vector<double> times = {100e3, 101e3, 115e3, 130e3, 300e3};
  GroupStatistics live = makeGroup(5);
  GroupStatistics replayed = makeGroup(5);
  Random random(11);
  for (std::vector<uint32_t> next = live.nextRound(); !next.empty(); next = live.nextRound())
    for (uint32_t candidate : next) {
      const std::vector<int64_t> samples = sample(times[candidate], random);
      ASSERT_TRUE(live.addRound(candidate, live.round(), samples, 1).ok());
      ASSERT_TRUE(replayed.addRound(candidate, live.round(), samples, 1).ok());
    }
  EXPECT_TRUE(replayed.nextRound().empty());
  EXPECT_EQ(live.estimates(), replayed.estimates());
}

TEST(GroupStatistics, WithdrawnCandidatesGetNoTokenAndNoRank) {
  GroupStatistics group = makeGroup(3);
  Random random(2);
  for (int round = 0; round < 10; ++round)
    for (uint32_t candidate : group.nextRound())
      ASSERT_TRUE(group.addRound(candidate, group.round(), sample(candidate == 1 ? 90e3 : 100e3, random), 1).ok());
  ASSERT_TRUE(group.withdraw(1).ok());
  const std::vector<uint32_t> next = group.nextRound();
  EXPECT_EQ(std::count(next.begin(), next.end(), 1U), 0);
  const std::vector<RankedEstimate> estimates = group.estimates();
  EXPECT_EQ(estimates.back().candidate, 1U);
  EXPECT_EQ(estimates.back().rank, 0U);
  EXPECT_EQ(estimates.back().rounds, 10U);
  EXPECT_NEAR(estimates.back().median, 90e3, 2e3);
  EXPECT_EQ(estimates.front().rank, 1U);
  EXPECT_EQ(messageOf(group.withdraw(3)), "candidate 3 cannot be withdrawn: the group has 3");
  ASSERT_TRUE(group.withdraw(0).ok());
  ASSERT_TRUE(group.withdraw(2).ok());
  EXPECT_TRUE(group.nextRound().empty());
}

// A candidate that was dropped for one that crashed later may be the best.
TEST(GroupStatistics, WithdrawingTheLeaderBringsBackWhomItBeat) {
  GroupStatistics group = makeGroup(3);
  std::vector<RankedEstimate> estimates = play(group, {100e3, 150e3, 160e3});
  EXPECT_TRUE(of(estimates, 1).dropped && of(estimates, 2).dropped);
  ASSERT_TRUE(group.withdraw(0).ok());
  estimates = play(group, {100e3, 150e3, 160e3});
  EXPECT_EQ(of(estimates, 0).rank, 0U);
  EXPECT_EQ(of(estimates, 1).rank, 1U);
  EXPECT_EQ(of(estimates, 2).rank, 2U);
  EXPECT_TRUE(of(estimates, 1).precise);
  EXPECT_NEAR(of(estimates, 2).ratio, 160.0 / 150, 0.01);
}

// Few rounds suffice only for large differences.
TEST(GroupStatistics, TheSlowerTheSoonerTheyLeave) {
  GroupStatistics group = makeGroup(5);
  const std::vector<RankedEstimate> estimates = play(group, {100e3, 500e3, 300e3, 180e3, 140e3});
  std::vector<uint32_t> rounds;
  for (uint32_t candidate = 1; candidate < 5; ++candidate)
    rounds.push_back(of(estimates, candidate).rounds);
  EXPECT_EQ(std::vector<uint32_t>(rounds.begin(), rounds.begin() + 3), (std::vector<uint32_t>{3, 4, 5}));
  EXPECT_GE(rounds[3], 6U);
  EXPECT_LE(rounds[3], 11U);
}

TEST(GroupStatistics, TwoBadRoundsDoNotCostTheRow) {
  GroupStatistics group = makeGroup(2);
  Random random(5);
  add(group, 0, {100e3, 900e3}, random);
  add(group, 1, {100e3, 900e3}, random);
  for (uint32_t round = 2; round < 30; ++round)
    add(group, round, {100e3, 95e3}, random);
  const std::vector<RankedEstimate> estimates = group.estimates();
  EXPECT_FALSE(of(estimates, 1).dropped);
  EXPECT_EQ(of(estimates, 1).rank, 1U);
  EXPECT_EQ(of(estimates, 0).rank, 2U);
}

// A dropped one was found slower than the leader. Of one that runs on since nobody knows how fast it is, that says
// nothing.
TEST(GroupStatistics, DroppedOnesTieWithWhomTheyMayBeat) {
  GroupStatistics group = makeGroup(3);
  Random random(11);
  for (std::vector<uint32_t> next = group.nextRound(); !next.empty(); next = group.nextRound())
    for (uint32_t candidate : next) {
      double time = candidate == 0 ? 100e3 : candidate == 1 ? 130e3 * std::exp(0.5 * random.normal()) : 125e3;
      ASSERT_TRUE(group.addRound(candidate, group.round(), sample(time, random), 1).ok());
    }
  const std::vector<RankedEstimate> estimates = group.estimates();
  EXPECT_TRUE(of(estimates, 2).dropped);
  EXPECT_FALSE(of(estimates, 1).dropped);
  EXPECT_EQ(of(estimates, 0).rank, 1U);
  EXPECT_EQ(of(estimates, 2).ties, std::vector<uint32_t>{1});
  EXPECT_LE(of(estimates, 2).rank, 3U);
  EXPECT_TRUE(of(estimates, 2).rank == of(estimates, 1).rank || of(estimates, 1).rank == 1) << of(estimates, 1).rank;
}

TEST(GroupStatistics, TwoRoundsSayNothing) {
  GroupStatistics group = makeGroup(3);
  Random random(2);
  add(group, 0, {100e3, 500e3}, random);
  add(group, 1, {100e3, 500e3}, random);
  const std::vector<RankedEstimate> estimates = group.estimates();
  EXPECT_EQ(of(estimates, 0).rank, 1U);
  EXPECT_EQ(of(estimates, 1).rank, 1U);
  EXPECT_TRUE(std::isinf(of(estimates, 1).high));
  EXPECT_TRUE(std::isinf(of(estimates, 1).ratioHigh));
  EXPECT_NEAR(of(estimates, 1).ratio, 5, 0.2);
  EXPECT_EQ(of(estimates, 2).rank, 0U);
  EXPECT_TRUE(std::isnan(of(estimates, 2).median));
  EXPECT_TRUE(std::isnan(of(estimates, 2).ratio));
}

// Three rounds of a busy machine: Student's t with 2 degrees of freedom, shared among all pairs, reaches far beyond
// what any ratio could be.
TEST(GroupStatistics, AnIntervalThatSaysNothingIsNone) {
  GroupStatistics group = makeGroup(2);
  const std::vector<std::vector<int64_t>> times = {{100, 300, 150}, {200, 150, 310}};
  for (uint32_t round = 0; round < 3; ++round)
    for (uint32_t candidate = 0; candidate < 2; ++candidate)
      ASSERT_TRUE(group.addRound(candidate, round, std::vector<int64_t>{times[candidate][round] * 1000}, 1).ok());
  const std::vector<RankedEstimate> estimates = group.estimates();
  EXPECT_EQ(estimates[1].rank, 1U);
  EXPECT_EQ(estimates[1].ratioLow, 0);
  EXPECT_TRUE(std::isinf(estimates[1].ratioHigh)) << estimates[1].ratioHigh;
  EXPECT_FALSE(estimates[1].hasRatioInterval());
  EXPECT_TRUE(estimates[0].hasRatioInterval()) << "the leader's is exact";
}

TEST(Estimate, ARatioMayBeWithinAFactorOfTenOrOnOneSide) {
  EXPECT_TRUE((Estimate{.ratio = 2, .ratioLow = 0.3, .ratioHigh = 15}.hasRatioInterval()));
  EXPECT_TRUE((Estimate{.ratio = 40, .ratioLow = 1.1, .ratioHigh = 1500}.hasRatioInterval()));
  EXPECT_FALSE((Estimate{.ratio = 2, .ratioLow = 0.1, .ratioHigh = 40}.hasRatioInterval()));
  EXPECT_FALSE((Estimate{.ratio = 1.1, .ratioLow = 1e-30, .ratioHigh = 1e30}.hasRatioInterval()));
}

TEST(GroupStatistics, OneCandidateRunsUntilItIsPrecise) {
  GroupStatistics group = makeGroup(1);
  const std::vector<RankedEstimate> estimates = play(group, {100e3});
  EXPECT_TRUE(estimates[0].precise);
  EXPECT_GE(estimates[0].rounds, 20U);
  EXPECT_LE(estimates[0].rounds, 60U);
  EXPECT_TRUE(makeGroup(0).estimates().empty());
  EXPECT_TRUE(makeGroup(0).nextRound().empty());
}

TEST(GroupStatistics, OptionsHaveBounds) {
  const auto reject = [](const GroupOptions &options) {
    Result<GroupStatistics> group = GroupStatistics::create(options);
    return group.ok() ? "ok" : std::string(group.status().message());
  };
  EXPECT_EQ(reject({.confidence = 95}), "statistics option 'confidence' is 95; it must be from 0.5 to 0.9999");
  EXPECT_EQ(reject({.confidence = std::nan("")}),
            "statistics option 'confidence' is nan; it must be from 0.5 to 0.9999");
  EXPECT_EQ(reject({.target = 0}), "statistics option 'target' is 0; it must be from 1e-06 to 1");
  EXPECT_EQ(reject({.tieWithin = -1}), "statistics option 'tieWithin' is -1; it must be from 0 to 1");
  EXPECT_EQ(reject({.minimumRounds = 0}), "statistics option 'minimumRounds' is 0; a group needs at least one round");
  EXPECT_EQ(reject({.minimumRounds = 30, .maximumRounds = 20}),
            "statistics option 'maximumRounds' is 20; it must be from minimumRounds (30) to 1000000");
  EXPECT_EQ(reject({.minimumRounds = 1, .maximumRounds = 1}), "ok");
}

TEST(GroupStatistics, BadRoundsAreRefusedAndChangeNothing) {
  GroupStatistics group = makeGroup(2, {.maximumRounds = 100});
  const std::vector<int64_t> good = {100, 110};
  ASSERT_TRUE(group.addRound(0, 4, good, 1).ok());
  EXPECT_EQ(messageOf(group.addRound(2, 4, good, 1)), "samples of candidate 2: the group has 2");
  EXPECT_EQ(messageOf(group.addRound(0, 4, good, 1)), "candidate 0 has samples of round 4 already");
  EXPECT_EQ(messageOf(group.addRound(1, 3, good, 1)),
            "candidate 1: round 3 has ended, the current one is 4; add rounds in order");
  EXPECT_EQ(messageOf(group.addRound(1, 4000000000, good, 1)),
            "candidate 1: round 4000000000 is beyond the 100 rounds that the group may have");
  EXPECT_EQ(messageOf(group.addRound(1, 50, {}, 1)),
            "candidate 1: a round without samples; leave out rounds in which it was absent");
  EXPECT_EQ(messageOf(group.addRound(1, 50, good, 0)),
            "candidate 1: samples of batches of 0 calls; a batch has at least one");
  EXPECT_EQ(messageOf(group.addRound(1, 50, std::vector<int64_t>{5, 0}, 1)),
            "candidate 1: sample 1 is 0 ns; the clock cannot see it: time batches of more calls");
  EXPECT_EQ(messageOf(group.addRound(1, 50, std::vector<int64_t>{-5}, 1)),
            "candidate 1: sample 0 is -5 ns; the clock cannot see it: time batches of more calls");
  EXPECT_EQ(group.round(), 4U);
  EXPECT_TRUE(group.addRound(1, 4, std::vector<int64_t>{std::numeric_limits<int64_t>::max()}, 1).ok());
  EXPECT_EQ(group.estimates().size(), 2U);
}

} // namespace
} // namespace kiln::measure
