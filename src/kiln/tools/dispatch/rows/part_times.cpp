#include "kiln/tools/dispatch/rows/part_times.h"

namespace kiln {

void PartTimes::add(Part &part, const std::vector<int64_t> &samples, uint32_t batch) {
  if (samples.empty())
    part.told = false;
  if (!part.told)
    return;
  std::vector<double> times;
  times.reserve(samples.size());
  for (int64_t sample : samples)
    times.push_back(static_cast<double>(sample) / batch);
  part.rounds.add(std::move(times));
}

void PartTimes::add(const measure::RoundSamples &samples) {
  Candidate &candidate = candidates[samples.candidate];
  add(candidate.device, samples.device, samples.batch);
  add(candidate.launch, samples.launch, samples.batch);
}

std::optional<double> PartTimes::medianOf(const Part &part) {
  if (!part.told || part.rounds.rounds() == 0)
    return std::nullopt;
  return part.rounds.median();
}

} // namespace kiln
