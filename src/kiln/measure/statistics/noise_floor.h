// What a machine's noise does to candidates that are all the same program: what can be told apart here today, and what
// cannot.
#ifndef KILN_MEASURE_STATISTICS_NOISE_FLOOR_H
#define KILN_MEASURE_STATISTICS_NOISE_FLOOR_H

#include <cstdint>

#include "kiln/base/status.h"
#include "kiln/measure/statistics/group_statistics.h"

namespace kiln::measure {

// All shares of the time of a call: 0.01 is 1 %.
struct NoiseFloor {
  uint32_t candidates = 0;
  uint32_t rounds = 0; // of the candidate that ran in most
  // How far one candidate's round lies from what is common to all in that round, as a standard deviation that outliers
  // do not move. Rounds average it.
  double roundSpread = 0;
  // From the slow tenth of the rounds to the fast tenth, all candidates alike. Comparisons cancel it.
  double drift = 0;
  // The share of a candidate's rounds that lie above what is expected by more than 5 of `roundSpread`.
  double hits = 0;
  // By how much the candidate that came out slowest exceeds the one that came out fastest. Rounds average it only in
  // part: processes differ. A `tieWithin` below this ranks noise.
  double spread = 0;
  // The smallest difference that a ranking over these rounds would state.
  double resolvable = 0;
  // Pairs that were ranked apart, wrongly, since all are the same.
  uint32_t pairsApart = 0;
};

// `group` holds two or more candidates that are the same program, with 8 common rounds or more.
Result<NoiseFloor> noiseFloor(const GroupStatistics &group);

} // namespace kiln::measure

#endif // KILN_MEASURE_STATISTICS_NOISE_FLOOR_H
