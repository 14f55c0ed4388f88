// What was concluded of one candidate's calls, each compared with those of the others in its group.
#ifndef KILN_BASE_ESTIMATE_H
#define KILN_BASE_ESTIMATE_H

#include <cstdint>

namespace kiln {

// Times are nanoseconds of one call.
struct Estimate {
  double median = 0, p10 = 0, p90 = 0; // NaN without samples
  double low = 0, high = 0;            // the interval of the median; 0 and infinite below 3 rounds
  uint64_t rounds = 0, samples = 0;
  uint64_t rank = 0; // 1 is best; 0: not ranked
  // Its time over the leader's, in the rounds in which both ran, with its interval: 1, 1 and 1 for the leader.
  double ratio = 1, ratioLow = 1, ratioHigh = 1;
  bool dropped = false; // it left the rounds early, being slower

  // An interval that holds 1 and reaches beyond a factor of ten says nothing of the ratio, and there is none.
  bool hasRatioInterval() const { return ratioLow > 1 || ratioHigh < 1 || ratioHigh <= 10 * ratio; }

  bool operator==(const Estimate &) const = default;
};

} // namespace kiln

#endif // KILN_BASE_ESTIMATE_H
