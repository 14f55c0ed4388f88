#include "kiln/families/transpose/workload/transpose_verification.h"

#include <algorithm>
#include <cstring>

#include "kiln/measure/verify/decode.h"
#include "kiln/measure/verify/element_inputs.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/line_check.h"
#include "kiln/measure/verify/narrowing.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::families {

using hal::ElementType;
using namespace measure::verify;

//===--- Where elements come from ---------------------------------------------------------------------------------===//

TransposedOrder::TransposedOrder(const TransposeSpec &spec) {
  size_t rank = spec.shape.size();
  std::vector<uint64_t> own(rank, 1);
  for (size_t d = rank - 1; d-- > 0;)
    own[d] = own[d + 1] * spec.shape[d + 1];
  for (size_t dimension : spec.permutation) {
    extents.push_back(spec.shape[dimension]);
    strides.push_back(own[dimension]);
  }
}

uint64_t TransposedOrder::source(uint64_t element) const {
  uint64_t source = 0;
  for (size_t d = extents.size(); d-- > 0; element /= extents[d])
    source += element % extents[d] * strides[d];
  return source;
}

void TransposedOrder::sources(uint64_t first, std::span<uint64_t> sources) const {
  uint64_t extent = extents.back(), stride = strides.back();
  for (size_t done = 0; done < sources.size();) {
    uint64_t start = source(first + done), column = (first + done) % extent;
    uint64_t count = std::min<uint64_t>(extent - column, sources.size() - done);
    for (uint64_t i = 0; i < count; ++i)
      sources[done + i] = start + i * stride;
    done += count;
  }
}

//===--- Inputs ---------------------------------------------------------------------------------------------------===//

std::vector<TransposePass> transposePasses(const TransposeSpec &spec) {
  // Integers have nothing but values.
  return isInteger(spec.type) ? std::vector{TransposePass::Values}
                              : std::vector{TransposePass::Values, TransposePass::Bits};
}

std::string_view transposePassName(TransposePass pass) {
  return pass == TransposePass::Values ? "values" : "bits";
}

void fillTranspose(const TransposeSpec &spec, TransposePass pass, uint64_t seed, const measure::MutableTensor &input) {
  uint64_t key = randomBits(seed, static_cast<uint64_t>(pass), 0x7A);
  if (pass == TransposePass::Values)
    fillWide(spec.type, key, input.bytes);
  else
    fillSpecial(spec.type, key, input.bytes);
}

static Pass prefillOf(TransposePass pass) {
  return pass == TransposePass::Values ? Pass::Sums : Pass::WideRhs;
}

void prefillTranspose(TransposePass pass, const measure::MutableTensor &output) {
  prefillOutput(output.type, prefillOf(pass), output.bytes);
}

//===--- Checking -------------------------------------------------------------------------------------------------===//

// An integer type of the same width, as which two elements are equal when all their bits are.
static ElementType bitsOf(ElementType type) {
  switch (hal::elementTypeByteSize(type)) {
  case 1: return ElementType::I8;
  case 2: return ElementType::I16;
  default: return ElementType::I32;
  }
}

static const char *methodOf(TransposePass pass) {
  return pass == TransposePass::Bits ? "exact: the bits of each element" : "exact: each element";
}

// Values are integers other than zero, which are equal where their bits are.
DeviceElements transposedElements(const TransposeSpec &spec) {
  const TransposedOrder order(spec);
  return {.rule = DeviceElements::Rule::Moved,
          .type = spec.type,
          .elements = spec.elements(),
          .extents = order.ownExtents(),
          .strides = order.inputStrides()};
}

Verdict rightTranspose(const TransposeSpec &spec, TransposePass pass) {
  Verdict verdict;
  verdict.method = methodOf(pass);
  verdict.total = spec.elements();
  return verdict;
}

namespace {

class TransposeCheck {
public:
  TransposeCheck(const TransposeSpec &spec, TransposePass pass, const io::TensorSpan &input)
      : spec(spec), pass(pass), type(pass == TransposePass::Bits ? bitsOf(spec.type) : spec.type), input(input) {}

  Verdict run(const io::TensorSpan &output) const {
    TransposedOrder order(spec);
    ElementCase subject;
    subject.type = type;
    subject.shape = spec.output().shape;
    subject.bytes = output.bytes;
    subject.unitWork = 4;
    subject.expected = [&](uint64_t first, std::span<Expectation> expected) { expect(order, first, expected); };
    subject.before = [&](uint64_t element) {
      // All bits of NaN are set.
      return pass == TransposePass::Bits ? -1.0 : prefilledNumber(type, prefillOf(pass), element);
    };
    subject.method = methodOf(pass);
    subject.suspicions = suspicions();
    return checkElements(subject);
  }

private:
  double element(uint64_t at) const {
    double number;
    readElements(type, input.bytes, at, {&number, 1});
    return number;
  }

  void expect(const TransposedOrder &order, uint64_t first, std::span<Expectation> expected) const {
    uint64_t size = hal::elementTypeByteSize(type);
    std::vector<uint64_t> sources(expected.size());
    std::vector<uint8_t> gathered(expected.size() * size);
    std::vector<double> numbers(expected.size());
    order.sources(first, sources);
    for (size_t i = 0; i < sources.size(); ++i)
      std::memcpy(gathered.data() + i * size, input.bytes.data() + sources[i] * size, size);
    readElements(type, gathered, 0, numbers);
    for (size_t i = 0; i < numbers.size(); ++i)
      expected[i] = {numbers[i], 0};
  }

  std::vector<Suspicion> suspicions() const {
    std::vector<Suspicion> found;
    found.push_back({Cause::SwappedLayout, "they are the input's as it lies, not transposed",
                     [this](uint64_t at) { return Expectation{element(at), 0}; }});
    for (const Permutation &permutation : allPermutations(spec.shape.size()))
      if (permutation != spec.permutation) {
        TransposeSpec other = spec;
        other.permutation = permutation;
        found.push_back({Cause::SwappedLayout,
                         fmt::format("they are the results of the permutation {}", other.permutationText()),
                         [this, order = TransposedOrder(other)](uint64_t at) {
                           return Expectation{element(order.source(at)), 0};
                         }});
      }
    for (uint64_t tile = 2; tile <= 64; tile *= 2)
      found.push_back({Cause::TransposedTile, fmt::format("tiles of {0}x{0} are transposed in themselves", tile),
                       [this, tile, order = TransposedOrder(spec)](uint64_t at) {
                         return Expectation{element(order.source(withinTile(at, tile))), 0};
                       }});
    for (const Narrowing &narrowing : pass == TransposePass::Values ? narrowings(type) : std::vector<Narrowing>())
      found.push_back({Cause::NarrowedInputs, fmt::format("they are the input's elements {}", narrowing.text()),
                       [this, narrowing, order = TransposedOrder(spec)](uint64_t at) {
                         return Expectation{narrowing.of(element(order.source(at))), 0};
                       }});
    return found;
  }

  // The transposed position within an aligned tile of the result's last two dimensions.
  uint64_t withinTile(uint64_t at, uint64_t tile) const {
    std::vector<uint64_t> shape = spec.output().shape;
    uint64_t columns = shape.back(), rows = shape[shape.size() - 2];
    uint64_t column = at % columns, row = at / columns % rows, matrix = at / columns / rows;
    uint64_t otherRow = row / tile * tile + column % tile, otherColumn = column / tile * tile + row % tile;
    return otherRow < rows && otherColumn < columns ? (matrix * rows + otherRow) * columns + otherColumn : at;
  }

  const TransposeSpec &spec;
  const TransposePass pass;
  const ElementType type;
  const io::TensorSpan &input;
};

} // namespace

Verdict checkTranspose(const TransposeSpec &spec, TransposePass pass, const io::TensorSpan &input,
                       const io::TensorSpan &output) {
  return TransposeCheck(spec, pass, input).run(output);
}

//===--- What was timed -------------------------------------------------------------------------------------------===//

// As the check of lines reads them.
static uint32_t bitsAt(const uint8_t *element, uint64_t size) {
  switch (size) {
  case 1: return static_cast<uint32_t>(readRaw<int8_t>(element));
  case 2: return readRaw<uint16_t>(element);
  default: return readRaw<uint32_t>(element);
  }
}

std::unique_ptr<TimedCheck> timedTranspose(const TransposeSpec &spec, measure::Tensors inputs, uint64_t seed) {
  if (inputs.size() != 1 || inputs[0].type != spec.type || !std::ranges::equal(inputs[0].shape, spec.shape))
    return nullptr;
  constexpr uint64_t kBlock = 4096;
  uint64_t total = spec.elements(), block = std::min(kBlock, total), size = hal::elementTypeByteSize(spec.type);
  LineCase<uint32_t> subject;
  subject.type = spec.type;
  subject.shape = spec.output().shape;
  subject.length = subject.block = static_cast<int64_t>(block);
  subject.weights = randomWeights<uint32_t>(seed, subject.block);
  subject.expected.resize((total + block - 1) / block);
  TransposedOrder order(spec);
  auto blocks = static_cast<int64_t>(subject.expected.size());
  forParts(blocks, static_cast<int64_t>(total), 2, [&](int64_t begin, int64_t end) {
    std::vector<uint64_t> sources(block);
    for (auto b = static_cast<uint64_t>(begin); b < static_cast<uint64_t>(end); ++b) {
      std::span<uint64_t> here = std::span(sources).first(std::min(block, total - b * block));
      order.sources(b * block, here);
      uint32_t sum = 0;
      for (size_t i = 0; i < here.size(); ++i)
        sum += bitsAt(inputs[0].bytes.data() + here[i] * size, size) * subject.weights[i];
      subject.expected[b] = sum;
    }
  });
  return checkOfLines(std::move(subject));
}

} // namespace kiln::families
