#include "kiln/families/matmul/workload/quantized_verification.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "kiln/families/matmul/workload/reference.h"
#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/samples.h"

namespace kiln::families {

using measure::verify::Cause;
using measure::verify::Layout;
using measure::verify::Operand;
using measure::verify::Pass;
using measure::verify::ShiftedOperand;
using measure::verify::SwappedReading;
using measure::verify::TensorOperand;
using measure::verify::Verdict;

template <typename Tensors> static Status checkInputs(const QuantizedSpec &spec, const Tensors &inputs) {
  std::vector<measure::TensorType> wanted = spec.inputs();
  if (inputs.size() != wanted.size())
    return invalidArgument("{} has {} inputs, not {}", spec.name(), wanted.size(), inputs.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    KILN_RETURN_IF_ERROR(
        checkTensor(fmt::format("input {}", i), wanted[i], inputs[i].type, inputs[i].shape, inputs[i].bytes.size()));
  return okStatus();
}

Status checkQuantizedInputs(const QuantizedSpec &spec, measure::Tensors inputs) {
  return checkInputs(spec, inputs);
}
Status checkQuantizedInputs(const QuantizedSpec &spec, measure::MutableTensors inputs) {
  return checkInputs(spec, inputs);
}

//===--- Operands, and how they may be misread --------------------------------------------------------------------===//

namespace {
class Operands {
public:
  Operands(const QuantizedSpec &spec, measure::Tensors inputs)
      : spec(spec), lhsBytes(inputs[0].bytes), rhsBytes(inputs[1].bytes), m(static_cast<int64_t>(spec.m)),
        n(static_cast<int64_t>(spec.n)), k(static_cast<int64_t>(spec.k)) {
    lhs = readLhs(spec.lhs.type, lhsLayout(), spec.lhsZero);
    rhs = readRhs(spec.rhs.type, rhsLayout(), spec.rhsZero);
  }

  std::vector<SwappedReading> misreadings();
  int64_t dot(const Operand &left, const Operand &right, int64_t i, int64_t j) const {
    return measure::verify::dotIntegers(row(left, i), column(right, j));
  }
  std::vector<int32_t> row(const Operand &operand, int64_t i) const {
    std::vector<int32_t> numbers(k);
    operand.loadAlong(0, i, 0, k, numbers.data());
    return numbers;
  }
  std::vector<int32_t> column(const Operand &operand, int64_t j) const {
    std::vector<int32_t> numbers(k);
    operand.loadDown(0, 0, j, k, numbers.data());
    return numbers;
  }

  const Operand *lhs, *rhs;

private:
  const Operand *readLhs(ElementType type, const Layout &layout, int32_t zero) {
    return &made.emplace_back(TensorOperand(type, layout, lhsBytes), zero);
  }
  const Operand *readRhs(ElementType type, const Layout &layout, int32_t zero) {
    return &made.emplace_back(TensorOperand(type, layout, rhsBytes), zero);
  }
  Layout lhsLayout() const { return spec.lhs.columnMajor ? Layout::columnMajor(m, k) : Layout::rowMajor(m, k); }
  Layout rhsLayout() const { return spec.rhs.columnMajor ? Layout::columnMajor(k, n) : Layout::rowMajor(k, n); }

  const QuantizedSpec &spec;
  std::span<const uint8_t> lhsBytes, rhsBytes;
  int64_t m, n, k;
  std::deque<ShiftedOperand> made;
};
} // namespace

std::vector<SwappedReading> Operands::misreadings() {
  std::vector<SwappedReading> all;
  auto zeros = [&](int32_t left, int32_t right, const char *what, const char *how) {
    if (left != spec.lhsZero || right != spec.rhsZero)
      all.push_back({what, readLhs(spec.lhs.type, lhsLayout(), left), readRhs(spec.rhs.type, rhsLayout(), right),
                     Cause::WrongZeroPoint, how});
  };
  zeros(0, spec.rhsZero, "lhs", "without its zero point");
  zeros(spec.lhsZero, 0, "rhs", "without its zero point");
  zeros(0, 0, "both operands", "without their zero points");
  zeros(-spec.lhsZero, spec.rhsZero, "lhs", "with its zero point added, not subtracted");
  zeros(spec.lhsZero, -spec.rhsZero, "rhs", "with its zero point added, not subtracted");
  zeros(-spec.lhsZero, -spec.rhsZero, "both operands", "with their zero points added, not subtracted");
  zeros(spec.rhsZero, spec.lhsZero, "both operands", "with each other's zero point");

  bool isSigned = spec.lhs.type == ElementType::I8;
  const Operand *otherSign = readLhs(isSigned ? ElementType::UI8 : ElementType::I8, lhsLayout(), spec.lhsZero);
  const Operand *unsignedRhs = readRhs(ElementType::UI8, rhsLayout(), spec.rhsZero);
  const char *lhsHow = isSigned ? "taken as ui8" : "taken as i8";
  all.push_back({"lhs", otherSign, rhs, Cause::WrongSign, lhsHow});
  all.push_back({"rhs", lhs, unsignedRhs, Cause::WrongSign, "taken as ui8"});
  if (isSigned)
    all.push_back({"both operands", otherSign, unsignedRhs, Cause::WrongSign, lhsHow});

  std::optional<Layout> otherLhs = measure::verify::otherOrder(lhsLayout(), m, k);
  std::optional<Layout> otherRhs = measure::verify::otherOrder(rhsLayout(), k, n);
  const Operand *swappedLhs = otherLhs ? readLhs(spec.lhs.type, *otherLhs, spec.lhsZero) : nullptr;
  const Operand *swappedRhs = otherRhs ? readRhs(spec.rhs.type, *otherRhs, spec.rhsZero) : nullptr;
  if (swappedLhs)
    all.push_back({"lhs", swappedLhs, rhs});
  if (swappedRhs)
    all.push_back({"rhs", lhs, swappedRhs});
  if (swappedLhs && swappedRhs)
    all.push_back({"both operands", swappedLhs, swappedRhs});
  return all;
}

//===--- Sums in i32 ----------------------------------------------------------------------------------------------===//

static Result<Verdict> checkSums(const QuantizedSpec &spec, uint64_t seed, Operands &operands,
                                 const io::TensorSpan &output) {
  auto m = static_cast<int64_t>(spec.m), n = static_cast<int64_t>(spec.n), k = static_cast<int64_t>(spec.k);
  measure::verify::ContractionCase subject{.batch = 1,
                                           .m = m,
                                           .n = n,
                                           .k = k,
                                           .lhsType = spec.lhs.type,
                                           .rhsType = spec.rhs.type,
                                           .result = spec.result.type,
                                           .accumulator = ElementType::I32,
                                           .lhs = operands.lhs,
                                           .rhs = operands.rhs,
                                           .outBytes = output.bytes,
                                           .outLayout = Layout::rowMajor(m, n),
                                           .swaps = operands.misreadings(),
                                           .coordinates = {}};
  subject.lhsZero = spec.lhsZero, subject.rhsZero = spec.rhsZero;
  return measure::verify::checkCase(subject, Pass::Sums, seed);
}

//===--- Requantized results --------------------------------------------------------------------------------------===//

namespace {

// Mistakes of what follows the sum. `real` is the sum in f32, `scaled` its product with the scale.
struct Requantization {
  Cause cause;
  const char *what;
  std::function<double(double real, float scaled, float scale)> result;
};

std::vector<Requantization> wrongRequantizations(const QuantizedSpec &spec) {
  ElementType type = spec.result.type;
  auto low = double(measure::verify::smallestInteger(type)), high = double(measure::verify::largestInteger(type));
  double zero = spec.resultZero;
  auto clamp = [=](double value) { return std::clamp(value, low, high); };
  auto wrap = [=](double value) { return measure::verify::roundTo(type, value); };
  bool isSigned = low < 0;
  double otherLow = isSigned ? 0 : -128, otherHigh = isSigned ? 255 : 127;
  return {
      // Before what else explains halves that are taken to one side: these show in passes before near-ties.
      {Cause::WrongRounding, "products with the scale are not rounded to f32",
       [=](double real, float, float scale) { return clamp(std::nearbyint(real * double(scale)) + zero); }},
      {Cause::WrongRounding, "halves are rounded up, not to even",
       [=](double, float scaled, float) { return clamp(std::floor(double(scaled) + 0.5) + zero); }},
      {Cause::WrongRounding, "halves are rounded away from zero, not to even",
       [=](double, float scaled, float) { return clamp(double(std::round(scaled)) + zero); }},
      {Cause::WrongRounding, "fractions are cut off, not rounded",
       [=](double, float scaled, float) { return clamp(double(std::trunc(scaled)) + zero); }},
      {Cause::WrongRounding, "fractions are rounded down, not to nearest",
       [=](double, float scaled, float) { return clamp(double(std::floor(scaled)) + zero); }},
      {Cause::WrongEpilogue, "the zero point of the result is added before it is rounded",
       [=](double, float scaled, float) { return clamp(double(std::nearbyint(scaled + static_cast<float>(zero)))); }},
      {Cause::WrongZeroPoint, "the zero point of the result is left out",
       [=](double, float scaled, float) { return clamp(double(std::nearbyint(scaled))); }},
      {Cause::WrongZeroPoint, "the zero point of the result is subtracted, not added",
       [=](double, float scaled, float) { return clamp(double(std::nearbyint(scaled)) - zero); }},
      // At one end of the type the next two are the same: the first is named where nothing shows the other end.
      {Cause::WrongEpilogue, "the zero point of the result is added after clamping, and clamped again",
       [=](double, float scaled, float) { return clamp(clamp(double(std::nearbyint(scaled))) + zero); }},
      {Cause::WrongEpilogue, "the zero point of the result is added after clamping, and wraps around",
       [=](double, float scaled, float) { return wrap(clamp(double(std::nearbyint(scaled))) + zero); }},
      {Cause::WrongEpilogue, "they are not clamped, but wrap around",
       [=](double, float scaled, float) { return wrap(double(std::nearbyint(scaled)) + zero); }},
      {Cause::WrongEpilogue, "they are clamped at -127, not at -128",
       [=](double, float scaled, float) { return std::clamp(double(std::nearbyint(scaled)) + zero, -127.0, high); }},
      {Cause::WrongEpilogue, "they are clamped to the range of numbers with the other sign",
       [=](double, float scaled, float) {
         return wrap(std::clamp(double(std::nearbyint(scaled)) + zero, otherLow, otherHigh));
       }},
      {Cause::WrongEpilogue, "they are clamped at their zero point",
       [=](double, float scaled, float) { return clamp(std::max(double(std::nearbyint(scaled)), 0.0) + zero); }},
      {Cause::WrongEpilogue, "sums are not scaled", [=](double real, float, float) { return clamp(real + zero); }},
  };
}

class RequantizedCheck {
public:
  RequantizedCheck(const QuantizedSpec &spec, QuantizedPass pass, uint64_t seed, Operands &operands,
                   const io::TensorSpan &output)
      : spec(spec), numbers(spec, pass, seed), operands(operands), output(output) {}

  Verdict run();

private:
  using Expectation = measure::verify::Expectation;

  float scaleOf(uint64_t column) const { return numbers.scale(spec.perColumn ? column : 0); }
  // What is made of another sum than the right one.
  void suspectSum(Cause cause, const std::string &reason, std::function<double(int64_t i, int64_t j)> sum) {
    subject.suspicions.push_back({cause, reason, [this, sum = std::move(sum)](uint64_t element) {
                                    uint64_t i = element / spec.n, j = element % spec.n;
                                    auto total =
                                        static_cast<int64_t>(sum(static_cast<int64_t>(i), static_cast<int64_t>(j)));
                                    return Expectation{double(requantize(spec, total, scaleOf(j)))};
                                  }});
  }
  void suspectOperands();
  void suspectOtherSums();
  void suspectShortSums();
  void suspectRequantization();
  void suspectScales();
  void suspectTiles();

  const QuantizedSpec &spec;
  QuantizedInputs numbers;
  Operands &operands;
  const io::TensorSpan &output;
  measure::verify::ElementCase subject;
};

void RequantizedCheck::suspectOperands() {
  for (const SwappedReading &reading : operands.misreadings())
    suspectSum(
        reading.cause, fmt::format("they are right for {} {}", reading.what, reading.how),
        [this, reading](int64_t i, int64_t j) { return double(operands.dot(*reading.lhs, *reading.rhs, i, j)); });
}

void RequantizedCheck::suspectOtherSums() {
  auto sum = [this](int64_t i, int64_t j) { return double(operands.dot(*operands.lhs, *operands.rhs, i, j)); };
  suspectSum(Cause::WrongZeroPoint, measure::verify::kLostZeroPoints,
             [=, this](int64_t i, int64_t j) { return sum(i, j) - double(spec.k) * spec.lhsZero * spec.rhsZero; });
  suspectSum(Cause::NarrowAccumulator, "they are the right sums, wrapped around in i16",
             [=](int64_t i, int64_t j) { return measure::verify::roundTo(ElementType::I16, sum(i, j)); });
  suspectSum(Cause::NarrowAccumulator, "they are the right sums, cut off at the ends of i16",
             [=](int64_t i, int64_t j) { return std::clamp<double>(sum(i, j), INT16_MIN, INT16_MAX); });
  for (const auto &reading : measure::verify::pairReadings(spec.lhs.type, spec.lhsZero, spec.rhsZero))
    suspectSum(Cause::NarrowAccumulator, measure::verify::kSaturatedPairs, [this, reading](int64_t i, int64_t j) {
      return double(measure::verify::sumOfSaturatedPairs(operands.row(*operands.lhs, i),
                                                         operands.column(*operands.rhs, j), reading));
    });
}

// The last elements of the reduction are left out: up to so many.
void RequantizedCheck::suspectShortSums() {
  constexpr uint64_t kLongestTail = 64;
  for (uint64_t tail = 1; tail < std::min(spec.k, kLongestTail + 1); ++tail)
    suspectSum(Cause::DroppedTail,
               fmt::format("they are sums over the first {} of {} elements of the reduction", spec.k - tail, spec.k),
               [this, tail](int64_t i, int64_t j) {
                 std::vector<int32_t> left = operands.row(*operands.lhs, i), right = operands.column(*operands.rhs, j);
                 left.resize(spec.k - tail);
                 right.resize(spec.k - tail);
                 return double(measure::verify::dotIntegers(left, right));
               });
}

void RequantizedCheck::suspectRequantization() {
  for (const Requantization &wrong : wrongRequantizations(spec))
    subject.suspicions.push_back({wrong.cause, wrong.what, [this, wrong](uint64_t element) {
                                    uint64_t i = element / spec.n, j = element % spec.n;
                                    auto real = static_cast<float>(numbers.sum(i, j));
                                    float scaled = real * scaleOf(j);
                                    return Expectation{wrong.result(double(real), scaled, scaleOf(j))};
                                  }});
}

void RequantizedCheck::suspectScales() {
  if (!spec.perColumn || spec.n < 2)
    return;
  auto suspect = [&](const char *what, std::function<uint64_t(uint64_t i, uint64_t j)> column) {
    subject.suspicions.push_back({Cause::WrongEpilogue, fmt::format("they have the scale of {}", what),
                                  [this, column = std::move(column)](uint64_t element) {
                                    uint64_t i = element / spec.n, j = element % spec.n;
                                    return Expectation{
                                        double(requantize(spec, numbers.sum(i, j), scaleOf(column(i, j))))};
                                  }});
  };
  uint64_t last = spec.n - 1;
  suspect("the first column", [](uint64_t, uint64_t) { return 0; });
  suspect("the next column", [=](uint64_t, uint64_t j) { return std::min(j + 1, last); });
  suspect("the next column", [=](uint64_t, uint64_t j) { return j == last ? 0 : j + 1; });
  suspect("the column before", [=](uint64_t, uint64_t j) { return j == 0 ? 0 : j - 1; });
  suspect("the column before", [=](uint64_t, uint64_t j) { return j == 0 ? last : j - 1; });
  suspect("their row, not of their column", [=](uint64_t i, uint64_t) { return std::min(i, last); });
}

// Elements of a tile are transposed: the results, or the sums before they are scaled.
void RequantizedCheck::suspectTiles() {
  constexpr uint64_t kLargestTile = 64;
  for (bool ofSums : {false, true})
    for (uint64_t tile = 2; tile <= kLargestTile; ++tile)
      subject.suspicions.push_back(
          {Cause::TransposedTile,
           fmt::format("they are right {}, transposed within tiles of {}x{}", ofSums ? "sums" : "results", tile, tile),
           [this, ofSums, tile](uint64_t element) {
             uint64_t i = element / spec.n, j = element % spec.n;
             uint64_t row = i / tile * tile + j % tile, column = j / tile * tile + i % tile;
             if (row >= spec.m || column >= spec.n)
               return Expectation{HUGE_VAL};
             return Expectation{double(requantize(spec, numbers.sum(row, column), scaleOf(ofSums ? j : column)))};
           }});
}

Verdict RequantizedCheck::run() {
  subject.type = spec.result.type;
  subject.shape = spec.resultTensor().shape;
  subject.bytes = output.bytes;
  subject.unit = spec.n;
  subject.unitWork = spec.n * 8;
  subject.expected = [this](uint64_t first, std::span<Expectation> expected) {
    for (uint64_t at = 0; at < expected.size(); ++at) {
      uint64_t i = (first + at) / spec.n, j = (first + at) % spec.n;
      expected[at].value = requantize(spec, numbers.sum(i, j), scaleOf(j));
    }
  };
  subject.before = [this](uint64_t element) {
    return measure::verify::prefilledNumber(spec.result.type, Pass::Sums, element);
  };
  subject.method = "exact: each element computed again";
  suspectRequantization();
  suspectScales();
  suspectTiles();
  suspectOperands();
  suspectOtherSums();
  suspectShortSums();
  return measure::verify::checkElements(subject);
}

} // namespace

static Result<Verdict> checkOutputs(const QuantizedSpec &spec, QuantizedPass pass, uint64_t seed,
                                    measure::Tensors inputs, measure::Tensors outputs) {
  KILN_RETURN_IF_ERROR(checkInputs(spec, inputs));
  if (outputs.size() != 1)
    return invalidArgument("{} has 1 output, not {}", spec.name(), outputs.size());
  KILN_RETURN_IF_ERROR(
      checkTensor("the output", spec.resultTensor(), outputs[0].type, outputs[0].shape, outputs[0].bytes.size()));
  Operands operands(spec, inputs);
  if (spec.requantizes())
    return RequantizedCheck(spec, pass, seed, operands, outputs[0]).run();
  return checkSums(spec, seed, operands, outputs[0]);
}

Verdict checkQuantized(const QuantizedSpec &spec, QuantizedPass pass, uint64_t seed, measure::Tensors inputs,
                       measure::Tensors outputs) {
  return measure::verify::verdictOf(checkOutputs(spec, pass, seed, inputs, outputs));
}

} // namespace kiln::families
