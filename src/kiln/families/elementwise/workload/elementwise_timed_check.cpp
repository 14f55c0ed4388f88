// Blocks of the output, of which the weighted sums are known from the inputs.
#include <algorithm>
#include <cmath>

#include "kiln/families/elementwise/workload/elementwise_verification.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/line_check.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::families {

using measure::verify::LineCase;

// Roundings of f32 that no operation exceeds, of the larger of its argument and its result: see ElementwiseOp::bound.
static constexpr double kMostRoundings = 24;

namespace {
struct Block {
  double sum = 0, squares = 0;
};

// What blocks have to be, and what rounding may add.
class Blocks {
public:
  Blocks(const ElementwiseSpec &spec, measure::Tensors inputs)
      : spec(spec), inputs(inputs), format(*measure::verify::floatFormat(spec.type)) {}

  Block at(int64_t first, std::span<const float> weights) const {
    std::vector<double> x(weights.size()), y(weights.size());
    measure::verify::readElements(spec.type, inputs[0].bytes, static_cast<uint64_t>(first), x);
    if (inputs.size() > 1)
      measure::verify::readElements(spec.type, inputs[1].bytes, static_cast<uint64_t>(first), y);
    Block block;
    double ofType = format.unitRoundoff(), ofFunction = kMostRoundings * 0x1p-24;
    double smallest = std::ldexp(1.0, format.lowestExponent);
    for (size_t i = 0; i < weights.size(); ++i) {
      double value = spec.op->apply(x[i], y[i]), weight = weights[i];
      double bound = ofType * std::fabs(value) + ofFunction * std::max(std::fabs(value), std::fabs(x[i])) + smallest;
      block.sum += weight * value;
      block.squares += weight * weight * bound * bound;
    }
    return block;
  }

private:
  const ElementwiseSpec &spec;
  measure::Tensors inputs;
  measure::verify::FloatFormat format;
};
} // namespace

template <typename Sum> static LineCase<Sum> emptyCase(const ElementwiseSpec &spec, uint64_t seed) {
  auto total = static_cast<int64_t>(spec.elements());
  LineCase<Sum> subject;
  subject.type = spec.type;
  subject.shape = spec.shape;
  subject.length = subject.block = std::min<int64_t>(kTimedBlock, total);
  subject.weights = measure::verify::randomWeights<Sum>(seed, subject.length);
  subject.expected.resize((total + subject.length - 1) / subject.length);
  return subject;
}

// Calls sum(block, first, weights) for each block.
template <typename Sum> static void forBlocks(const LineCase<Sum> &subject, int64_t total, auto sum) {
  measure::verify::forParts(static_cast<int64_t>(subject.expected.size()), total * 8, 2,
                            [&](int64_t begin, int64_t end) {
                              for (int64_t block = begin; block < end; ++block) {
                                int64_t first = block * subject.length, count = std::min(subject.length, total - first);
                                sum(block, first, std::span(subject.weights).first(static_cast<size_t>(count)));
                              }
                            });
}

std::unique_ptr<measure::verify::TimedCheck> timedElementwise(const ElementwiseSpec &spec, measure::Tensors inputs,
                                                              uint64_t seed) {
  measure::TensorType tensor = spec.tensor();
  for (const io::TensorSpan &input : inputs)
    if (input.type != tensor.type || !std::ranges::equal(input.shape, tensor.shape))
      return nullptr;
  if (inputs.size() != spec.op->inputs)
    return nullptr;
  auto total = static_cast<int64_t>(spec.elements());
  if (spec.type == hal::ElementType::I32) {
    auto subject = emptyCase<uint32_t>(spec, seed);
    forBlocks(subject, total, [&](int64_t block, int64_t first, std::span<const uint32_t> weights) {
      std::vector<double> x(weights.size()), y(weights.size());
      measure::verify::readElements(spec.type, inputs[0].bytes, static_cast<uint64_t>(first), x);
      measure::verify::readElements(spec.type, inputs[1].bytes, static_cast<uint64_t>(first), y);
      for (size_t i = 0; i < weights.size(); ++i)
        subject.expected[block] +=
            weights[i] * static_cast<uint32_t>(static_cast<int32_t>(expectedElement(spec, x[i], y[i]).value));
    });
    return checkOfLines(std::move(subject));
  }
  auto subject = emptyCase<double>(spec, seed);
  subject.deviations.resize(subject.expected.size());
  Blocks blocks(spec, inputs);
  forBlocks(subject, total, [&](int64_t block, int64_t first, std::span<const float> weights) {
    Block sums = blocks.at(first, weights);
    subject.expected[block] = sums.sum;
    // Bounds, of which half is taken for the root mean square: errors of random signs stay within eight times theirs.
    subject.deviations[block] = static_cast<float>(std::sqrt(sums.squares) / 2);
  });
  return checkOfLines(std::move(subject));
}

} // namespace kiln::families
