// Some turns, drawn at random, get wholly new inputs. A provider that takes longer in them than in the others looks at
// its inputs before it decides whether to compute: it recognizes the checking.
#ifndef KILN_MEASURE_WORKERS_FRESH_TURNS_H
#define KILN_MEASURE_WORKERS_FRESH_TURNS_H

#include <cstdint>
#include <random>
#include <vector>

#include "kiln/base/status.h"

namespace kiln::measure {

// Of one candidate.
class FreshTurns {
public:
  // Calls with old inputs count for no less than this part of what those with new ones take.
  static constexpr double kLeastOfFresh = 0.95;

  // Whether the next turn is one of them. The first two are, so that no round counts before there is something to hold
  // it against, and a candidate that seems to take longer in them gets more.
  bool draw(std::mt19937_64 &random) const;
  // A turn's nanoseconds for a call.
  void add(bool fresh, double nanoseconds);
  // An error, beginning with "recognizes the checking", where the difference is certain. Single turns, however slow or
  // fast, decide nothing: ranks are compared.
  Status check() const;
  // What calls with old inputs count for at least, in nanoseconds: hardly less than those with new ones take. Who
  // answers from memory as long as that is not certain gains the rest.
  double least() const;
  // Whether it seems to take longer in fresh turns, and further turns could show it.
  bool suspicious() const;

private:
  double difference() const; // of the middle ones
  double deviations() const; // of the ranks of fresh turns, from those of honest ones

  std::vector<double> fresh, other; // logarithms
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_FRESH_TURNS_H
