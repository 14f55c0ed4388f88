#include "kiln/measure/workers/fresh_turns.h"

#include <algorithm>
#include <cmath>

#include "kiln/measure/workers/middle.h"

namespace kiln::measure {

namespace {

constexpr size_t kTurnsWithout = 3; // at most, before the first fresh one
constexpr unsigned kOneIn = 6, kOneInDoubtful = 2;
// Logarithms of ratios: differences that honest providers have, too; that are worth more fresh turns; that are worth
// turns beyond those that are measured.
constexpr double kHonest = 0.05, kDoubtful = 0.05, kSuspicious = 0.4;
// Where every fresh turn takes so much longer than every other one, a few of them are enough.
constexpr double kBlatant = 0.4;
// Of each kind, before anything is said; with fewer a single disturbance could decide.
constexpr size_t kLeast = 4;
// Standard deviations of the rank sum. Honest providers are 5 % away from what is tested, so that noise has to add up
// to that, too.
constexpr double kCertain = 4;

} // namespace

double FreshTurns::difference() const {
  return fresh.empty() || other.empty() ? 0 : middleOf(fresh) - middleOf(other);
}

bool FreshTurns::suspicious() const {
  return difference() > kSuspicious;
}

bool FreshTurns::draw(std::mt19937_64 &random) const {
  if (fresh.empty() && other.size() + 1 >= kTurnsWithout)
    return true;
  return random() % (difference() > kDoubtful ? kOneInDoubtful : kOneIn) == 0;
}

void FreshTurns::add(bool isFresh, double nanoseconds) {
  (isFresh ? fresh : other).push_back(std::log(std::max(nanoseconds, 1e-3)));
}

Status FreshTurns::check() const {
  if (fresh.size() < kLeast || other.size() < kLeast)
    return okStatus();
  // Mann and Whitney's test of the fresh turns, less what honest ones may differ by.
  double above = 0;
  for (double one : fresh)
    above += double(std::ranges::count_if(other, [&](double each) { return one - kHonest > each; }));
  auto n = double(fresh.size()), m = double(other.size());
  bool certain = (above - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12) > kCertain;
  bool blatant = std::ranges::min(fresh) - std::ranges::max(other) > kBlatant;
  if (!certain && !blatant)
    return okStatus();
  return invalidArgument(
      "recognizes the checking: a call takes {:.2f} times as long in turns whose inputs are new as in "
      "others",
      std::exp(difference()));
}

} // namespace kiln::measure
