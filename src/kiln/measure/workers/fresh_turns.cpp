#include "kiln/measure/workers/fresh_turns.h"

#include <algorithm>
#include <cmath>

#include "kiln/measure/workers/middle.h"

namespace kiln::measure {

namespace {

constexpr unsigned kOneIn = 6, kOneInDoubtful = 2;
// Logarithms of ratios of two turns, between which neither is longer: honest providers differ by as much, too.
constexpr double kShorter = -0.05, kLonger = 0.1;
// Where every fresh turn takes so much longer than every other one, a few of them are enough.
constexpr double kBlatant = 0.4;
// Of each kind, before anything is said; with fewer a single disturbance could decide.
constexpr size_t kLeast = 4;
// So many turns are fresh before any other.
constexpr size_t kFewFresh = 2;
// Standard deviations of the rank sum: worth more fresh turns, also beyond those that are measured; certain.
constexpr double kSuspicious = 2, kCertain = 4;

} // namespace

double FreshTurns::difference() const {
  return fresh.empty() || other.empty() ? 0 : middleOf(fresh) - middleOf(other);
}

// Mann and Whitney's test.
double FreshTurns::deviations() const {
  if (fresh.empty() || other.empty())
    return 0;
  double above = 0;
  for (double one : fresh)
    for (double each : other)
      above += one - each > kLonger ? 1 : one - each < kShorter ? 0 : 0.5;
  auto n = double(fresh.size()), m = double(other.size());
  return (above - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12);
}

double FreshTurns::least() const {
  if (fresh.empty())
    return 0;
  return kLeastOfFresh * std::exp(fresh.size() < kLeast ? std::ranges::min(fresh) : middleOf(fresh));
}

// Of few turns, also where all of one kind take longer than all of the other, no rank is far off.
bool FreshTurns::suspicious() const {
  bool apart = !fresh.empty() && !other.empty() && std::ranges::min(fresh) - std::ranges::max(other) > kLonger;
  return apart || deviations() > kSuspicious;
}

bool FreshTurns::draw(std::mt19937_64 &random) const {
  if (fresh.size() < kFewFresh)
    return true;
  return random() % (fresh.size() < kLeast || suspicious() ? kOneInDoubtful : kOneIn) == 0;
}

void FreshTurns::add(bool isFresh, double nanoseconds) {
  (isFresh ? fresh : other).push_back(std::log(std::max(nanoseconds, 1e-3)));
}

Status FreshTurns::check() const {
  if (fresh.size() < kLeast || other.size() < kLeast)
    return okStatus();
  bool certain = deviations() > kCertain;
  bool blatant = std::ranges::min(fresh) - std::ranges::max(other) > kBlatant;
  if (!certain && !blatant)
    return okStatus();
  return invalidArgument(
      "recognizes the checking: a call takes {:.2f} times as long in turns whose inputs are new as in "
      "others",
      std::exp(difference()));
}

} // namespace kiln::measure
