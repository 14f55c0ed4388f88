// The statistics of one group, which is one problem and all its candidates measured in rounds: which candidates go on,
// when there are enough rounds, and what they say. No clock, no process; the same samples and seed give the same
// answers.
//
//   KILN_ASSIGN_OR_RETURN(GroupStatistics group, GroupStatistics::create(options));
//   for (...) group.addCandidate();
//   for (std::vector<uint32_t> next = group.nextRound(); !next.empty(); next = group.nextRound())
//     for (uint32_t candidate : next)
//       KILN_RETURN_IF_ERROR(group.addRound(candidate, group.round(), samples, batch));
//   for (const Estimate &estimate : group.estimates()) ...
//
// What is assumed, in plain words:
//  - What slows the machine for longer than a round slows all candidates by the same factor. Candidates are compared by
//    the ratio of their medians in the same round, so that it cancels, however large it is and whatever its shape.
//  - What hits single rounds of one candidate hits any candidate alike, in no more than about a tenth of its rounds. A
//    candidate that is hit more often than the others is slower than the others.
//  - What differs between two processes of the same binary for as long as they live (addresses, pages) is no noise that
//    rounds can average; `tieWithin` is there to allow for it.
//  - Rounds may resemble the ones before. The correction for it learns from the rounds at hand: correlations that last
//    longer than about a fifth of the group cannot be seen from inside.
//  - The order in a round is random, so that what one candidate leaves in the caches falls on all others.
//
// What the median is the median of: a call's time over the states that the machine went through in the rounds in which
// the candidate ran, each round counting alike. The more of the machine's states a group sees, the nearer this is to
// the median of the noise's stationary distribution, and for noise without memory from round to round it is that.
// States that the machine was not in during the group do not count; but the interval widens with drift and with states
// that last, since it takes them for correlation.
//
// What is claimed, at any time and with stopping and dropping in force; docs/statistics.md has the method and the
// simulations:
//  - An interval of a median covers with the stated confidence.
//  - The chance that the ranks of a whole group say of any two candidates that ran to the end that one is slower, while
//    it is not slower by more than tieWithin, is at most rankingError. Of dropped ones it is that for each alone.
//  - The chance that the fastest candidate is dropped is at most dropError.
//
// Not safe for use from several threads at once.
#ifndef KILN_MEASURE_STATISTICS_GROUP_STATISTICS_H
#define KILN_MEASURE_STATISTICS_GROUP_STATISTICS_H

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/base/estimate.h"
#include "kiln/base/status.h"
#include "kiln/measure/statistics/robust.h"
#include "kiln/measure/statistics/rounds.h"

namespace kiln::measure {

struct GroupOptions {
  // Of the interval of each candidate's median.
  double confidence = 0.95;
  // The group goes on until the half-width of these intervals, relative to the median, is at most this, and until
  // candidates that matter are ranked apart or known to differ by less than this.
  double target = 0.01;
  // Candidates that differ by less are ranked as equal, even if the difference is certain. Set it to what two processes
  // of the same binary differ by on this machine.
  double tieWithin = 0.0025;
  // The chance that a whole group's ranking states a difference that does not exist.
  double rankingError = 0.01;
  // A candidate leaves when it is slower than the leader by more than this...
  double dropBeyond = 0.10;
  static constexpr double kNeverDrop = 1e6;
  // ...and the chance that any group's fastest candidate ever leaves is at most this.
  double dropError = 0.001;
  // The group does not end earlier. Candidates may leave from the 6th round on; after 3 rounds if they took more than 4
  // times the leader's time in each, after 4 rounds at twice and after 5 at 1.6 times.
  uint32_t minimumRounds = 20;
  uint32_t maximumRounds = 100;
  static constexpr uint32_t kMostRounds = 1'000'000; // maximumRounds is at most this
  uint64_t seed = 0;
};

// What is known of one candidate, and how it compares with all others.
//
// Rank 1 is the leader and all that cannot be told apart from it; the best of what is left leads the next rank, and so
// on. The number is one more than the number of candidates in better ranks: 1, 1, 3. So each candidate is certainly
// slower than the leader of every better rank, and two in one rank may still differ from each other. Dropped ones are
// compared with less confidence, since they have few rounds. What was withdrawn or never ran is not ranked.
//
// The ratio is not that of the medians, and may be a little below 1 among ties. Of one that was dropped, it is from the
// rounds that it shared with the one for which it was dropped, and those that this one shared with the leader. Its
// interval is as wide as the ranking needs it: if it begins above 1 + tieWithin, the two are apart.
struct RankedEstimate : Estimate {
  uint32_t candidate = 0;
  bool precise = false; // the median's interval is as narrow as asked for
  bool withdrawn = false;
  // All ranked ones from which it cannot be told apart, ascending, whatever their ranks: a noisy candidate may tie with
  // two that are apart. Nothing ties with itself.
  std::vector<uint32_t> ties = {};

  bool operator==(const RankedEstimate &) const = default;
};

// Two candidates, by the rounds in which both ran.
struct Comparison {
  uint32_t rounds = 0;
  double ratio = 1;        // the first one's time over the second's; NaN without common rounds
  Interval interval{1, 1}; // as wide as the ranking needs it
  bool apart = false;      // ranked apart, whichever is faster
};

class GroupStatistics {
public:
  // Says what is wrong with the options.
  static Result<GroupStatistics> create(const GroupOptions &options);

  // Its number: 0, 1, ... One that is added late is compared by the rounds that it shares with others.
  uint32_t addCandidate();
  // For one that crashed or hung: it gets no token and no rank any more. What it did stays in its estimate. Those that
  // were dropped for being slower than it run again, also if the group was done. A replay withdraws at the same place.
  Status withdraw(uint32_t candidate);

  // Ends the current round, and gives the candidates of the next in random order: empty when the group is done.
  std::vector<uint32_t> nextRound();
  // The number of the round that nextRound gave out last, from 0.
  uint32_t round() const { return current; }

  // `samples` are the times of batches of `batch` calls each, in nanoseconds. Rounds come in ascending order, and each
  // candidate at most once in each. A later round than `round()` ends the current one: so stored rounds are replayed,
  // without nextRound, and lead to the same decisions.
  Status addRound(uint32_t candidate, uint32_t round, std::span<const int64_t> samples, uint32_t batch);

  // By rank, then by time; those without a rank last. What has been measured so far, at any time.
  std::vector<RankedEstimate> estimates() const;
  Comparison compare(uint32_t first, uint32_t second) const;
  // log of the candidate's median in each round that ended or is running; NaN where it was absent.
  std::span<const double> locations(uint32_t candidate) const { return candidates[candidate].locations; }
  size_t candidateCount() const { return candidates.size(); }
  const GroupOptions &options() const { return settings; }

private:
  struct Candidate {
    CandidateRounds rounds;
    std::vector<double> locations;
    uint32_t droppedFor = 0; // the leader then
    bool dropped = false;
    bool withdrawn = false;
    bool running() const { return !dropped && !withdrawn; }
    bool ranked() const { return !withdrawn && rounds.rounds() > 0; }
  };
  // One round's decisions share these quantiles.
  struct Tables;

  explicit GroupStatistics(const GroupOptions &options);
  Tables tables() const;
  void closeRound();
  void drop(const std::vector<uint32_t> &order, Tables &tables);
  void dropFor(uint32_t candidate, uint32_t leader);
  bool hopeless(uint32_t slower, uint32_t faster) const;
  bool enough(const std::vector<uint32_t> &order, Tables &tables) const;
  bool preciseEnough(const Candidate &candidate) const;
  bool resolved(uint32_t faster, uint32_t slower, Tables &tables) const;
  std::vector<uint32_t> order() const;
  void leadByComparison(std::vector<uint32_t> &order) const;
  std::vector<double> logRatios(uint32_t slower, uint32_t faster) const;
  Location logRatio(uint32_t slower, uint32_t faster) const { return locate(logRatios(slower, faster)); }
  // How far the logarithm of a ratio of times may be from `value`.
  struct LogRatio {
    double value = 0;
    double reach = 0;
  };
  LogRatio ratioOf(uint32_t slower, uint32_t faster, Tables &tables) const;
  bool apart(uint32_t slower, uint32_t faster, Tables &tables) const;
  StudentTable &tableFor(uint32_t first, uint32_t second, Tables &tables) const;
  Comparison compare(uint32_t first, uint32_t second, Tables &tables) const;
  RankedEstimate estimate(uint32_t candidate) const;
  void rank(std::vector<RankedEstimate> &estimates, Tables &tables) const;

  GroupOptions settings;
  std::vector<uint32_t> looks; // counts of ended rounds after which decisions are made, ascending
  std::vector<Candidate> candidates;
  uint32_t current = 0;
  bool open = false; // the current round was given out or added to
  bool finished = false;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_STATISTICS_GROUP_STATISTICS_H
