// The times of a group as levels of its candidates and levels of its rounds.
#ifndef KILN_MEASURE_STATISTICS_LEVELS_H
#define KILN_MEASURE_STATISTICS_LEVELS_H

#include <span>
#include <vector>

namespace kiln::measure {

// Splits logarithms of times into a level of each candidate plus a level of each round, so that candidates can be put
// in one order although they ran in different rounds. Robust: rounds by the median over the candidates, candidates by
// the trimmed mean over the rounds, in turns until they agree.
struct Levels {
  std::vector<double> candidates; // NaN for one that never ran
  std::vector<double> rounds;     // NaN for one in which no candidate ran
};

// One series for each candidate, by round, NaN where it was absent; a series may be shorter than others.
Levels splitLevels(std::span<const std::span<const double>> series);

} // namespace kiln::measure

#endif // KILN_MEASURE_STATISTICS_LEVELS_H
