#include "kiln/base/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kiln {

namespace {

double widthOf(const ClockSample &sample) {
  return static_cast<double>(sample.after - sample.before);
}

// From one reading of a clock to another, which may be earlier.
double distance(uint64_t from, uint64_t to) {
  return static_cast<double>(static_cast<int64_t>(to - from));
}

uint64_t middleOf(const ClockSample &sample) {
  return sample.before + (sample.after - sample.before) / 2;
}

std::vector<ClockSample> withoutInterrupted(std::span<const ClockSample> samples) {
  std::vector<double> widths;
  std::ranges::transform(samples, std::back_inserter(widths), widthOf);
  auto median = widths.begin() + static_cast<ptrdiff_t>(widths.size() / 2);
  std::ranges::nth_element(widths, median);
  std::vector<ClockSample> kept;
  std::ranges::copy_if(samples, std::back_inserter(kept),
                       [most = 2 * *median](const ClockSample &each) { return widthOf(each) <= most; });
  return kept;
}

} // namespace

uint64_t ClockFit::toHost(uint64_t ticks) const {
  return hostOrigin + static_cast<uint64_t>(std::llround(distance(tickOrigin, ticks) * nanosecondsPerTick));
}

Result<ClockFit> ClockFit::of(std::span<const ClockSample> samples) {
  constexpr size_t kLeast = 4;
  if (samples.size() < kLeast)
    return invalidArgument("{} samples do not tell the rate of a clock; {} do", samples.size(), kLeast);
  const std::vector<ClockSample> kept = withoutInterrupted(samples);
  // All differences are from the first one, whose numbers may be too large for a double.
  const uint64_t firstTicks = kept.front().ticks, firstHost = middleOf(kept.front());
  double meanTicks = 0, meanHost = 0, count = 0;
  for (size_t i = 0; i < kept.size(); i += 2, ++count) {
    meanTicks += distance(firstTicks, kept[i].ticks);
    meanHost += distance(firstHost, middleOf(kept[i]));
  }
  meanTicks /= count;
  meanHost /= count;
  double squares = 0, products = 0;
  for (size_t i = 0; i < kept.size(); i += 2) {
    const double ticks = distance(firstTicks, kept[i].ticks) - meanTicks;
    squares += ticks * ticks;
    products += ticks * (distance(firstHost, middleOf(kept[i])) - meanHost);
  }
  if (!(products > 0))
    return invalidArgument("the clock does not run: {} samples over {} nanoseconds have no ticks that grow",
                           samples.size(), distance(samples.front().before, samples.back().after));
  ClockFit fit;
  fit.nanosecondsPerTick = products / squares;
  fit.tickOrigin = firstTicks;
  fit.hostOrigin = firstHost + static_cast<uint64_t>(std::llround(meanHost - meanTicks * fit.nanosecondsPerTick));
  for (size_t i = 0; i < kept.size(); ++i) {
    fit.uncertainty = std::max(fit.uncertainty, widthOf(kept[i]) / 2);
    if (i % 2)
      fit.residual = std::max(fit.residual, std::abs(distance(fit.toHost(kept[i].ticks), middleOf(kept[i]))));
  }
  return fit;
}

} // namespace kiln
