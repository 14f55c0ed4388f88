#include "kiln/families/elementwise/workload/elementwise_ops.h"

#include <cmath>

#include "kiln/measure/verify/elements.h"

namespace kiln::families {

// Units in the last place of f32.
static double ulps(double count, double value) {
  return 2 * count * measure::verify::halfSpacing(hal::ElementType::F32, value);
}

// Half the distance from 1 to the next number of f32.
static constexpr double kRoundoff = 0x1p-24;

// Kiln promises 2 ULP of f32 for exp, tanh and erf. Other libraries have polynomials of their own, and may take twice
// as much.
static double functionBound(double, double value) {
  return ulps(4, value);
}

// exp within 4 ULP is off by at most 8 roundoffs, the sum and the quotient add one each, and a roundoff is at most a
// unit in the last place.
static double sigmoidBound(double, double value) {
  return ulps(10, value);
}

// 1 + erf is off by 10 units of erf, whose numbers below 1 are a roundoff apart, by what rounding its argument twice
// can do (the slope times the argument is below 0.5), and by a roundoff of its own: 12 at most, which x / 2 multiplies.
// 1 + tanh is off by 4 units of tanh, by what five roundings of its argument can do, and by a roundoff: less.
static double geluBound(double x, double value) {
  // At -infinity the formula is infinity times zero, and its limit is zero: either will do.
  if (std::isinf(x))
    return x < 0 ? HUGE_VAL : 0;
  return 6 * kRoundoff * std::fabs(x) + ulps(3, value);
}

static double noBound(double, double) {
  return 0;
}

static double gelu(double x, double) {
  return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}

// x (1 + tanh(t)) / 2 without its cancellation.
static double geluTanh(double x, double) {
  return x / (1 + std::exp(-2 * 0.79788456080286536 * (x + 0.044715 * x * x * x)));
}

static constexpr ElementwiseOp kOps[] = {
    {"add", 2, 1, true, true, [](double x, double y) { return x + y; }, noBound, -8, 8,
     "    %r = arith.addf %x, %y : TYPE\n"},
    {"mul", 2, 1, true, true, [](double x, double y) { return x * y; }, noBound, -8, 8,
     "    %r = arith.mulf %x, %y : TYPE\n"},
    {"relu", 1, 1, true, false, [](double x, double) { return x < 0 ? 0 : x; }, noBound, -8, 8,
     "    %zero = arith.constant 0.0 : TYPE\n"
     "    %r = arith.maximumf %x, %zero : TYPE\n"},
    {"gelu", 1, 5, false, false, gelu, geluBound, -6, 6,
     "    %half = arith.constant 0.5 : TYPE\n"
     "    %one = arith.constant 1.0 : TYPE\n"
     "    %root = arith.constant 0.70710678118654752 : TYPE\n"
     "    %scaled = arith.mulf %x, %root : TYPE\n"
     "    %erf = math.erf %scaled : TYPE\n"
     "    %sum = arith.addf %erf, %one : TYPE\n"
     "    %halved = arith.mulf %x, %half : TYPE\n"
     "    %r = arith.mulf %halved, %sum : TYPE\n"},
    {"gelu_tanh", 1, 9, false, false, geluTanh, geluBound, -6, 6,
     "    %half = arith.constant 0.5 : TYPE\n"
     "    %one = arith.constant 1.0 : TYPE\n"
     "    %cubic = arith.constant 0.044715 : TYPE\n"
     "    %root = arith.constant 0.79788456080286536 : TYPE\n"
     "    %square = arith.mulf %x, %x : TYPE\n"
     "    %cube = arith.mulf %square, %x : TYPE\n"
     "    %bent = arith.mulf %cube, %cubic : TYPE\n"
     "    %sum = arith.addf %x, %bent : TYPE\n"
     "    %scaled = arith.mulf %sum, %root : TYPE\n"
     "    %tanh = math.tanh %scaled : TYPE\n"
     "    %share = arith.addf %tanh, %one : TYPE\n"
     "    %halved = arith.mulf %x, %half : TYPE\n"
     "    %r = arith.mulf %halved, %share : TYPE\n"},
    {"exp", 1, 1, false, false, [](double x, double) { return std::exp(x); }, functionBound, -10, 10,
     "    %r = math.exp %x : TYPE\n"},
    {"tanh", 1, 1, false, false, [](double x, double) { return std::tanh(x); }, functionBound, -4, 4,
     "    %r = math.tanh %x : TYPE\n"},
    {"sigmoid", 1, 4, false, false, [](double x, double) { return 1 / (1 + std::exp(-x)); }, sigmoidBound, -8, 8,
     "    %one = arith.constant 1.0 : TYPE\n"
     "    %negated = arith.negf %x : TYPE\n"
     "    %exp = math.exp %negated : TYPE\n"
     "    %sum = arith.addf %exp, %one : TYPE\n"
     "    %r = arith.divf %one, %sum : TYPE\n"},
    {"sqrt", 1, 1, true, false, [](double x, double) { return std::sqrt(x); }, noBound, 0, 64,
     "    %r = math.sqrt %x : TYPE\n"},
};

std::span<const ElementwiseOp> elementwiseOps() {
  return kOps;
}

const ElementwiseOp *findElementwiseOp(std::string_view name) {
  for (const ElementwiseOp &op : kOps)
    if (op.name == name)
      return &op;
  return nullptr;
}

} // namespace kiln::families
