// What part of a candidate's calls its device had, and what part launching took, over all of its rounds.
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

  // Nanoseconds of one call, as the call's own median is found: rounds count alike. Nothing where it was not told in
  // each of the rounds, since the others would be other calls.
  std::optional<double> device(uint32_t candidate) const { return medianOf(candidates[candidate].device); }
  std::optional<double> launch(uint32_t candidate) const { return medianOf(candidates[candidate].launch); }

private:
  struct Part {
    measure::CandidateRounds rounds;
    bool told = true; // in each round so far
  };
  struct Candidate {
    Part device, launch;
  };
  static void add(Part &part, const std::vector<int64_t> &samples, uint32_t batch);
  static std::optional<double> medianOf(const Part &part);

  std::vector<Candidate> candidates;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_ROWS_PART_TIMES_H
