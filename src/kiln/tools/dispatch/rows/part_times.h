// What part of a candidate's calls its device had, and what part launching took, over the rounds in which calls were
// watched. Where calls are timed by the device's clock, launching is what calls that are awaited take more.
#ifndef KILN_TOOLS_DISPATCH_ROWS_PART_TIMES_H
#define KILN_TOOLS_DISPATCH_ROWS_PART_TIMES_H

#include <optional>
#include <vector>

#include "kiln/measure/statistics/rounds.h"
#include "kiln/measure/workers/group.h"

namespace kiln {

class PartTimes {
public:
  explicit PartTimes(size_t candidates) : candidates(candidates) {}

  void add(const measure::RoundSamples &samples);

  // Nanoseconds of one call, as the call's own median is found: rounds in which calls were watched count alike. Nothing
  // where there were none.
  std::optional<double> device(uint32_t candidate) const { return medianOf(candidates[candidate].device); }
  std::optional<double> launch(uint32_t candidate) const;

private:
  struct Candidate {
    measure::CandidateRounds device, launch, awaited;
  };
  static std::optional<double> medianOf(const measure::CandidateRounds &part);

  std::vector<Candidate> candidates;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_ROWS_PART_TIMES_H
