#include "kiln/tools/dispatch/rows/part_times.h"

#include <algorithm>

namespace kiln {

static void addDifferences(measure::CandidateRounds &part, const std::vector<int64_t> &from,
                           const std::vector<int64_t> &to, double nanoseconds) {
  if (from.empty())
    return;
  std::vector<double> times;
  times.reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    times.push_back(static_cast<double>(to[i] - from[i]) * nanoseconds);
  part.add(std::move(times));
}

void PartTimes::add(const measure::RoundSamples &samples) {
  if (samples.byDevice) {
    std::vector<double> times;
    for (int64_t sample : samples.call)
      times.push_back(static_cast<double>(sample) / samples.batch);
    candidates[samples.candidate].device.add(std::move(times));
    if (!samples.watchedCall.empty())
      candidates[samples.candidate].awaited.add({samples.watchedCall.begin(), samples.watchedCall.end()});
    return;
  }
  if (!samples.watched)
    return;
  const DeviceTimes &times = *samples.watched;
  double nanoseconds = 1e9 / static_cast<double>(times.ticksPerSecond);
  addDifferences(candidates[samples.candidate].device, times.started, times.ended, nanoseconds);
  addDifferences(candidates[samples.candidate].launch, times.submitted, times.started, nanoseconds);
}

std::optional<double> PartTimes::launch(uint32_t candidate) const {
  std::optional<double> device = this->device(candidate), awaited = medianOf(candidates[candidate].awaited);
  if (device && awaited)
    return std::max(*awaited - *device, 0.0);
  return medianOf(candidates[candidate].launch);
}

std::optional<double> PartTimes::medianOf(const measure::CandidateRounds &part) {
  return part.rounds() == 0 ? std::nullopt : std::optional(part.median());
}

} // namespace kiln
