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
  // Whether the next turn is one of them. No candidate goes without for its first three turns, and one that seems to
  // take longer in them gets more.
  bool draw(std::mt19937_64 &random) const;
  // A turn's nanoseconds for a call.
  void add(bool fresh, double nanoseconds);
  // An error, beginning with "recognizes the checking", where the difference is certain. Single turns, however slow or
  // fast, decide nothing: ranks are compared.
  Status check() const;
  // What any turn counts for at least, nanoseconds of a call: hardly less than fresh ones take, as soon as there are
  // some. Who answers from memory as long as that is not certain gains the rest.
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
