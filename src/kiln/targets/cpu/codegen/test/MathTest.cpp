// How far mathematical functions and conversions are from the correctly rounded result.
#include "kiln/compiler/Codegen/Polynomials.h"
#include "kiln/targets/cpu/codegen/math/LibraryFunctions.h"
#include "kiln/targets/cpu/codegen/test/CompiledKernel.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace kiln {
namespace {

constexpr size_t blockSize = 65536;
struct FeatureSet {
  const char *name, *features, *vectorSine; // as the C library calls sinf of its widest registers
};
const FeatureSet featureSets[] = {
    {"generic", "", "_ZGVbN4v_sinf"},
    {"avx", "+avx", "_ZGVcN8v_sinf"},
    {"avx2", "+avx,+avx2,+f16c,+fma", "_ZGVdN8v_sinf"},
    {"avx512", "+avx,+avx2,+avx512bw,+avx512dq,+avx512f,+avx512vl,+f16c,+fma", "_ZGVeN16v_sinf"}};

class Math : public testing::TestWithParam<FeatureSet> {
protected:
  void SetUp() override {
    if (!hostHas(GetParam().features))
      GTEST_SKIP() << "this machine lacks some of " << GetParam().features;
  }
};
INSTANTIATE_TEST_SUITE_P(Features, Math, testing::ValuesIn(featureSets),
                         [](const auto &info) { return std::string(info.param.name); });

// `op` of each element of a block, or of the elements of two, 32 at a time.
std::string mapFunction(const std::string &name, const std::string &op, const std::string &from, const std::string &to,
                        int operands = 1, const std::string &attributes = "") {
  std::string in = "memref<65536x" + from + ">", out = "memref<65536x" + to + ">";
  std::string vectorIn = "vector<32x" + from + ">", vectorOut = "vector<32x" + to + ">";
  std::string types = from == to ? vectorIn : vectorIn + " to " + vectorOut;
  std::string bindings, loads, used;
  for (int i = 0; i < operands; ++i) {
    bindings += llvm::formatv("    %a{0} = hal.interface.binding.subspan binding({0}) <readonly> : {1}\n", i, in);
    loads += llvm::formatv("      %x{0} = vector.load %a{0}[%i] : {1}, {2}\n", i, in, vectorIn);
    used += llvm::formatv("{0}%x{1}", i ? ", " : "", i);
  }
  return llvm::formatv(R"(func.func @{0}() {{
    %c0 = arith.constant 0 : index
    %n = arith.constant 65536 : index
    %s = arith.constant 32 : index
{1}    %b = hal.interface.binding.subspan binding({2}) <writeonly> : {3}
    scf.for %i = %c0 to %n step %s {{
{4}      %y = {5} {6} : {7}
      vector.store %y, %b[%i] : {3}, {8}
    }
    return
  }
)",
                       name, bindings, operands, out, loads, op, used + attributes, types, vectorOut)
      .str();
}

// Distance between neighbours of f32 where the value lies.
double spacing(double value) {
  double magnitude = std::min(std::fabs(value), 3.4028234663852886e38);
  return std::ldexp(1.0, std::max(std::ilogb(std::max(magnitude, 1e-300)) - 23, -149));
}

TEST_P(Math, polynomialsStayWithinTheirBounds) {
  const std::map<std::string, double (*)(double)> references = {
      {"math.erf", std::erf},     {"math.exp", std::exp},   {"math.exp2", std::exp2},
      {"math.expm1", std::expm1}, {"math.log", std::log},   {"math.log10", std::log10},
      {"math.log1p", std::log1p}, {"math.log2", std::log2}, {"math.tanh", std::tanh}};
  KernelSource source;
  source.features = GetParam().features;
  for (const PolynomialFunction &function : polynomialFunctions()) {
    std::string name = function.name.drop_front(5).str();
    source.exports.push_back({name, 0, 2});
    source.functions += mapFunction(name, function.name.str(), "f32", "f32");
  }
  Compilation compilation = compileKernel(source);
  ASSERT_EQ(compilation.errors, "");
  LoadedKernel kernel(compilation.bytes);

  Binding<float> in(blockSize), out(blockSize);
  for (const auto &[ordinal, function] : llvm::enumerate(polynomialFunctions())) {
    ASSERT_TRUE(references.contains(function.name.str())) << function.name.str();
    auto reference = references.at(function.name.str());
    double worst = 0;
    // Every exponent and sign, with 1024 mantissas each, never the same ones; then the special ones.
    for (uint32_t block = 0; block < 8; ++block) {
      for (uint32_t i = 0; i < blockSize; ++i)
        in[i] = std::bit_cast<float>(static_cast<uint32_t>((block * blockSize + i) * 8191u + block * 977u));
      const float special[] = {0.0f,   -0.0f,   INFINITY, -INFINITY, NAN,     1.0f,   -1.0f,   1e-45f,      -1e-45f,
                               88.7f,  88.73f,  -87.4f,   -103.97f,  -104.5f, 128.0f, -149.0f, -150.5f,     0.625f,
                               1e-38f, -1e-38f, 3.4e38f,  -3.4e38f,  9.02f,   3.93f,  2.0f,    0.99999994f, 1.0000001f};
      std::copy(std::begin(special), std::end(special), in.begin());
      kernel.run(ordinal, {{in.bytes(), out.bytes()}});
      for (uint32_t i = 0; i < blockSize; ++i) {
        double expected = reference(in[i]);
        float rounded = static_cast<float>(expected), got = out[i];
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(got)) << function.name.str() << "(" << in[i] << ") = " << got;
        } else if (std::isinf(rounded) || std::isinf(got)) {
          // On the edge of overflow, either side is within the bound.
          ASSERT_TRUE(got == rounded || (std::fabs(std::fabs(expected) - 3.4028235677973366e38) < 2 * spacing(3.4e38) &&
                                         std::signbit(got) == std::signbit(rounded)))
              << function.name.str() << "(" << in[i] << ") = " << got;
        } else if (expected == 0) {
          ASSERT_EQ(got, 0.0f) << function.name.str() << "(" << in[i] << ")";
          ASSERT_EQ(std::signbit(got), std::signbit(expected)) << function.name.str() << "(" << in[i] << ")";
        } else {
          double error = std::fabs(got - expected) / spacing(expected);
          ASSERT_LE(error, function.ulp) << function.name.str() << "(" << in[i] << ") = " << got;
          worst = std::max(worst, error);
        }
      }
    }
    EXPECT_GT(worst, 0.3) << "nothing was measured of " << function.name.str();
    RecordProperty(function.name.str(), std::to_string(worst));
  }
}

// An exponential of all kinds of numbers that `number` makes of bits, and of these. `errorOf` gives the distance of a
// result from what is right, in units of the last place, or fails.
static void expectExponentials(const char *features, const std::string &function, double bound,
                               float (*number)(uint32_t bits), std::initializer_list<float> special,
                               llvm::function_ref<double(float in, float out)> errorOf) {
  KernelSource source;
  source.features = features;
  source.exports.push_back({"exp", 0, 2});
  source.functions = function;
  Compilation compilation = compileKernel(source);
  ASSERT_EQ(compilation.errors, "");
  LoadedKernel kernel(compilation.bytes);

  Binding<float> in(blockSize), out(blockSize);
  double worst = 0;
  for (uint32_t block = 0; block < 8; ++block) {
    for (uint32_t i = 0; i < blockSize; ++i)
      in[i] = number((block * blockSize + i) * 8191u + block * 977u);
    std::copy(special.begin(), special.end(), in.begin());
    kernel.run(0, {{in.bytes(), out.bytes()}});
    for (uint32_t i = 0; i < blockSize; ++i) {
      const double error = errorOf(in[i], out[i]);
      ASSERT_LE(error, bound) << "of " << in[i] << ": " << out[i];
      worst = std::max(worst, error);
    }
  }
  EXPECT_GT(worst, 0.3) << "nothing was measured";
}

static constexpr double noResult = std::numeric_limits<double>::infinity(); // is beyond every bound

// What a softmax computes: nothing above zero, as good as the other, and zero where that is no normal number and may
// vanish.
static void expectExponentialsAtMostZero(const char *features, bool vanish) {
  expectExponentials(
      features, mapFunction("exp", "math.exp", "f32", "f32", 1, vanish ? " {kiln.vanishes}" : " {kiln.at_most_zero}"),
      2.0, [](uint32_t bits) { return -std::bit_cast<float>(bits & 0x7fffffffu); },
      {0.0f, -0.0f, -INFINITY, NAN, -1.0f, -87.33f, -87.34f, -87.5f, -103.97f, -104.5f, -3.4e38f, -88.0f, -87.7f},
      [vanish](float in, float out) {
        constexpr float least = std::numeric_limits<float>::min();
        const double expected = std::exp(static_cast<double>(in));
        if (std::isnan(in))
          return std::isnan(out) ? 0 : noResult;
        if (vanish && expected < least)
          return out == 0.0f || (out > 0 && out <= least && in > -87.7f) ? 0 : noResult;
        return std::fabs(out - expected) / spacing(expected);
      });
}

TEST_P(Math, exponentialsOfWhatIsAtMostZeroStayWithinTheirBound) {
  expectExponentialsAtMostZero(GetParam().features, /*vanish=*/false);
}

TEST_P(Math, exponentialsThatVanishStayWithinTheirBound) {
  expectExponentialsAtMostZero(GetParam().features, /*vanish=*/true);
}

// What a sigmoid computes, of which the least does not count.
TEST_P(Math, exponentialsThatAreAddedToOneStayWithinTheirBound) {
  std::string function = mapFunction("exp", "math.exp", "f32", "f32", 1,
                                     " : vector<32xf32>\n      %one = arith.constant dense<1.0> : vector<32xf32>\n"
                                     "      %sum = arith.addf %y, %one");
  const std::string stored = "vector.store %y";
  function.replace(function.find(stored), stored.size(), "vector.store %sum");
  expectExponentials(
      GetParam().features, function, 2.5, [](uint32_t bits) { return std::bit_cast<float>(bits); },
      {0.0f, -0.0f, -INFINITY, INFINITY, NAN, 88.0f, 88.37f, 88.5f, 88.7f, 88.73f, -86.1f, 3e38f},
      [](float in, float out) {
        const double expected = 1 + std::exp(static_cast<double>(in));
        if (std::isnan(in))
          return std::isnan(out) ? 0 : noResult;
        if (const auto rounded = static_cast<float>(expected); std::isinf(rounded))
          return out == rounded ? 0 : noResult;
        return std::fabs(out - expected) / spacing(expected);
      });
}

// Distance between neighbours of f64 where the value lies.
long double wideSpacing(long double value) {
  return std::ldexp(1.0L, std::max(std::ilogb(std::max(std::fabs(value), 1e-320L)) - 52, -1074));
}

struct WideFunction {
  long double (*reference)(long double);
  const char *name;
};

template <typename T>
void expectWithinBound(const char *name, T in, T got, long double expected, long double spacing, double bound) {
  T rounded = static_cast<T>(expected);
  if (std::isnan(expected)) {
    ASSERT_TRUE(std::isnan(got)) << name << "(" << in << ") = " << got;
  } else if (std::isinf(rounded) || std::isinf(got)) {
    constexpr T largest = std::numeric_limits<T>::max();
    ASSERT_TRUE(got == rounded ||
                (std::fabs(rounded) > largest * T(0.999999) && std::fabs(got) > largest * T(0.999999) &&
                 std::signbit(got) == std::signbit(rounded)))
        << name << "(" << in << ") = " << got;
  } else if (expected == 0) {
    ASSERT_EQ(got, T(0)) << name << "(" << in << ")";
    ASSERT_EQ(std::signbit(got), std::signbit(expected)) << name << "(" << in << ")";
  } else {
    ASSERT_LE(std::fabs(got - expected) / spacing, bound) << name << "(" << in << ") = " << got;
  }
}

// All functions of f64, and those of f32 that are no polynomials, as the C library computes them, whole vectors at a
// time.
TEST_P(Math, functionsOfTheLibraryStayWithinTheirBounds) {
  const WideFunction functions[] = {
      {std::acos, "acos"},   {std::acosh, "acosh"}, {std::asin, "asin"}, {std::asinh, "asinh"}, {std::atan, "atan"},
      {std::atanh, "atanh"}, {std::cbrt, "cbrt"},   {std::cos, "cos"},   {std::cosh, "cosh"},   {std::erf, "erf"},
      {std::erfc, "erfc"},   {std::exp, "exp"},     {std::exp2, "exp2"}, {std::expm1, "expm1"}, {std::log, "log"},
      {std::log10, "log10"}, {std::log1p, "log1p"}, {std::log2, "log2"}, {std::sin, "sin"},     {std::sinh, "sinh"},
      {std::tan, "tan"},     {std::tanh, "tanh"}};
  KernelSource source;
  source.features = GetParam().features;
  for (const WideFunction &function : functions)
    for (const char *type : {"f32", "f64"}) {
      std::string name = std::string(function.name) + "_" + type;
      source.exports.push_back({name, 0, 2});
      source.functions += mapFunction(name, std::string("math.") + function.name, type, type);
    }
  Compilation compilation = compileKernel(source);
  ASSERT_EQ(compilation.errors, "");
  EXPECT_TRUE(llvm::StringRef(compilation.bytes.data(), compilation.bytes.size()).contains(GetParam().vectorSine));
  LoadedKernel kernel(compilation.bytes);

  Binding<float> in(blockSize), out(blockSize);
  Binding<double> wideIn(blockSize), wideOut(blockSize);
  // Every exponent and sign; then what is near 1, where most functions change their ways; then the special ones.
  for (uint32_t i = 0; i < blockSize; ++i) {
    uint64_t bits = (i * 0x9e3779b97f4a7c15u) ^ (uint64_t(i) << 48);
    wideIn[i] = i % 2 ? std::bit_cast<double>(bits) : (static_cast<double>(bits >> 12) / 0x1p51 - 1) * (i % 64 + 1);
    in[i] = i % 2 ? std::bit_cast<float>(static_cast<uint32_t>(bits >> 32)) : static_cast<float>(wideIn[i]);
  }
  const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 1e-45, -1e-45, 710.0, -746.0, 0.5, 1e22};
  for (auto [i, value] : llvm::enumerate(special)) {
    in[i] = static_cast<float>(value);
    wideIn[i] = value;
  }
  for (auto [ordinal, function] : llvm::enumerate(functions)) {
    kernel.run(2 * ordinal, {{in.bytes(), out.bytes()}});
    kernel.run(2 * ordinal + 1, {{wideIn.bytes(), wideOut.bytes()}});
    for (uint32_t i = 0; i < blockSize; ++i) {
      long double narrow = function.reference(in[i]), wide = function.reference(wideIn[i]);
      expectWithinBound(function.name, in[i], out[i], narrow, spacing(static_cast<double>(narrow)), kVectorFunctionUlp);
      expectWithinBound(function.name, wideIn[i], wideOut[i], wide, wideSpacing(wide), kVectorFunctionUlp);
      if (HasFatalFailure())
        return;
    }
  }
}

// The same of the functions of two arguments: where powers are finite and where they are not, all quadrants, and each
// special value with each other.
TEST_P(Math, functionsOfTwoArgumentsStayWithinTheirBounds) {
  struct {
    const char *name;
    long double (*reference)(long double, long double);
  } const functions[] = {{"powf", std::pow}, {"atan2", std::atan2}};
  KernelSource source;
  source.features = GetParam().features;
  for (const auto &function : functions)
    for (const char *type : {"f32", "f64"}) {
      std::string name = std::string(function.name) + "_" + type;
      source.exports.push_back({name, 0, 3});
      source.functions += mapFunction(name, std::string("math.") + function.name, type, type, 2);
    }
  Compilation compilation = compileKernel(source);
  ASSERT_EQ(compilation.errors, "");
  LoadedKernel kernel(compilation.bytes);

  Binding<float> left(blockSize), right(blockSize), out(blockSize);
  Binding<double> wideLeft(blockSize), wideRight(blockSize), wideOut(blockSize);
  for (uint32_t i = 0; i < blockSize; ++i) {
    uint64_t bits = (i * 0x9e3779b97f4a7c15u) ^ (uint64_t(i) << 48), other = bits * 0xd1342543de82ef95u;
    double unit = static_cast<double>(bits >> 12) / 0x1p51 - 1,
           otherUnit = static_cast<double>(other >> 12) / 0x1p51 - 1;
    bool any = i % 4 == 0;
    wideLeft[i] = any ? std::bit_cast<double>(bits) : std::exp(unit * (i % 32)) * (i % 4 == 1 ? -1 : 1);
    wideRight[i] = any ? std::bit_cast<double>(other) : i % 4 == 1 ? std::nearbyint(otherUnit * 20) : otherUnit * 20;
    left[i] = any ? std::bit_cast<float>(static_cast<uint32_t>(bits >> 32)) : static_cast<float>(wideLeft[i]);
    right[i] = any ? std::bit_cast<float>(static_cast<uint32_t>(other >> 32)) : static_cast<float>(wideRight[i]);
  }
  const double special[] = {0.0,  -0.0, INFINITY, -INFINITY, NAN,  1.0,   -1.0, 2.0,
                            -2.0, 3.0,  -3.0,     0.5,       -0.5, 1e-38, 1e38};
  size_t next = 0;
  for (double x : special)
    for (double y : special) {
      left[next] = static_cast<float>(wideLeft[next] = x);
      right[next] = static_cast<float>(wideRight[next] = y);
      ++next;
    }
  for (auto [ordinal, function] : llvm::enumerate(functions)) {
    kernel.run(2 * ordinal, {{left.bytes(), right.bytes(), out.bytes()}});
    kernel.run(2 * ordinal + 1, {{wideLeft.bytes(), wideRight.bytes(), wideOut.bytes()}});
    for (uint32_t i = 0; i < blockSize; ++i) {
      long double narrow = function.reference(left[i], right[i]), wide = function.reference(wideLeft[i], wideRight[i]);
      expectWithinBound(function.name, left[i], out[i], narrow, spacing(static_cast<double>(narrow)),
                        kVectorFunctionUlp);
      expectWithinBound(function.name, wideLeft[i], wideOut[i], wide, wideSpacing(wide), kVectorFunctionUlp);
      if (HasFatalFailure())
        FAIL() << "with " << right[i] << " or " << wideRight[i];
    }
  }
}

// The nearest number of a format with `bits` of precision and the smallest number 2^minimum; ties to even.
double roundTo(double value, int bits, int minimum, double largest) {
  if (value == 0 || std::isnan(value) || std::isinf(value))
    return value;
  double step = std::ldexp(1.0, std::max(std::ilogb(value) - bits + 1, minimum));
  double rounded = std::nearbyint(value / step) * step;
  return std::fabs(rounded) > largest ? std::copysign(INFINITY, value) : rounded;
}
double roundToF16(double value) {
  return roundTo(value, 11, -24, 65504);
}
double roundToBF16(double value) {
  return roundTo(value, 8, -133, 3.3895313892515355e38);
}

double fromF16(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double mantissa = bits & 1023;
  double magnitude = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                     : exponent == 0 ? std::ldexp(mantissa, -24)
                                     : std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}
double fromBF16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

TEST_P(Math, narrowFloatsAreConvertedWithOneRounding) {
  KernelSource source;
  source.features = GetParam().features;
  const char *ops[][4] = {{"h2f", "arith.extf", "f16", "f32"},    {"b2f", "arith.extf", "bf16", "f32"},
                          {"h2d", "arith.extf", "f16", "f64"},    {"f2h", "arith.truncf", "f32", "f16"},
                          {"f2b", "arith.truncf", "f32", "bf16"}, {"d2h", "arith.truncf", "f64", "f16"},
                          {"d2b", "arith.truncf", "f64", "bf16"}, {"i2b", "arith.sitofp", "i32", "bf16"},
                          {"sqrt", "math.sqrt", "f16", "f16"}};
  for (auto &op : ops) {
    source.exports.push_back({op[0], 0, 2});
    source.functions += mapFunction(op[0], op[1], op[2], op[3]);
  }
  Compilation compilation = compileKernel(source);
  ASSERT_EQ(compilation.errors, "");
  LoadedKernel kernel(compilation.bytes);

  Binding<uint16_t> narrow(blockSize), out(blockSize);
  Binding<float> singles(blockSize);
  Binding<double> doubles(blockSize);
  Binding<int32_t> integers(blockSize);
  for (uint32_t i = 0; i < blockSize; ++i)
    narrow[i] = static_cast<uint16_t>(i);
  kernel.run(0, {{narrow.bytes(), singles.bytes()}});
  for (uint32_t i = 0; i < blockSize; ++i)
    ASSERT_TRUE(same(singles[i], fromF16(i))) << i;
  kernel.run(1, {{narrow.bytes(), singles.bytes()}});
  for (uint32_t i = 0; i < blockSize; ++i)
    ASSERT_TRUE(same(singles[i], fromBF16(i))) << i;
  kernel.run(2, {{narrow.bytes(), doubles.bytes()}});
  for (uint32_t i = 0; i < blockSize; ++i)
    ASSERT_TRUE(same(doubles[i], fromF16(i))) << i;
  kernel.run(8, {{narrow.bytes(), out.bytes()}});
  for (uint32_t i = 0; i < blockSize; ++i)
    ASSERT_TRUE(same(fromF16(out[i]), roundToF16(std::sqrt(fromF16(i))))) << i;

  for (uint32_t block = 0; block < 16; ++block) {
    for (uint32_t i = 0; i < blockSize; ++i) {
      auto bits = static_cast<uint32_t>((block * blockSize + i) * 4099u);
      singles[i] = std::bit_cast<float>(bits);
      // Close to what lies between two narrow numbers, where a second rounding would show.
      double middle = fromF16(static_cast<uint16_t>(i)) * (1 + std::ldexp(1.0, -11));
      doubles[i] = block % 2 == 0 ? singles[i] * (1 + 1e-12) : std::nextafter(middle, block % 4 == 1 ? 1e9 : -1e9);
      integers[i] = static_cast<int32_t>(bits);
    }
    kernel.run(3, {{singles.bytes(), out.bytes()}});
    for (uint32_t i = 0; i < blockSize; ++i)
      ASSERT_TRUE(same(fromF16(out[i]), roundToF16(singles[i]))) << singles[i];
    kernel.run(4, {{singles.bytes(), out.bytes()}});
    for (uint32_t i = 0; i < blockSize; ++i)
      ASSERT_TRUE(same(fromBF16(out[i]), roundToBF16(singles[i]))) << singles[i];
    kernel.run(5, {{doubles.bytes(), out.bytes()}});
    for (uint32_t i = 0; i < blockSize; ++i)
      ASSERT_TRUE(same(fromF16(out[i]), roundToF16(doubles[i]))) << doubles[i];
    kernel.run(6, {{doubles.bytes(), out.bytes()}});
    for (uint32_t i = 0; i < blockSize; ++i)
      ASSERT_TRUE(same(fromBF16(out[i]), roundToBF16(doubles[i]))) << doubles[i];
    kernel.run(7, {{integers.bytes(), out.bytes()}});
    for (uint32_t i = 0; i < blockSize; ++i)
      ASSERT_TRUE(same(fromBF16(out[i]), roundToBF16(integers[i]))) << integers[i];
  }
}

} // namespace
} // namespace kiln
