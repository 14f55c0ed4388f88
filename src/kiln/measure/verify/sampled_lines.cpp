#include "kiln/measure/verify/sampled_lines.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "kiln/measure/verify/line_check.h"

namespace kiln::measure::verify {

void SampledComparison::add(std::span<const SampledElement> expected, std::span<const double> actual) {
  double squares = 0;
  uint64_t typical = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const SampledElement &element = expected[i];
    double beyond = std::max(0.0, std::fabs(actual[i] - element.value) - double(element.common));
    double off = beyond / double(element.deviation);
    // So does NaN.
    wrong += off <= kLargestDeviation ? 0 : 1;
    if (element.isTypical) {
      squares += off * off;
      ++typical;
    }
  }
  compared += expected.size();
  if (typical > 0)
    ofLines += {squares / static_cast<double>(typical), 1};
}

Verdict SampledComparison::verdict(std::string method, const io::TensorSpan &output) const {
  if (wrong > 0)
    return timedFailure(
        fmt::format("{} of {} elements that were compared are not what the inputs give", wrong, compared), wrong,
        compared, countPoisoned(output));
  if (ofLines.tooLarge())
    return timedFailure(fmt::format("{} elements that were compared are off by {:.1f} times what rounding does",
                                    compared, ofLines.mean()),
                        compared, compared, countPoisoned(output));
  Verdict verdict;
  verdict.total = output.elementCount();
  verdict.method = fmt::format("{}, off by {:.2g} deviations on average", method, ofLines.mean());
  verdict.deviations = ofLines;
  return verdict;
}

} // namespace kiln::measure::verify
