// How far mathematical functions and conversions are from the correctly rounded result.
#include "kiln/compiler/Codegen/Polynomials.h"
#include "kiln/targets/cpu/codegen/math/LibraryFunctions.h"
#include "kiln/targets/cpu/codegen/test/CompiledKernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>

namespace kiln {
namespace {

constexpr size_t blockSize = 65536;
const char *const featureSets[] = {"", "+avx,+avx2,+f16c,+fma",
                                   "+avx,+avx2,+avx512bw,+avx512dq,+avx512f,+avx512vl,+f16c,+fma"};

class Math : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!hostHas(GetParam()))
      GTEST_SKIP() << "this machine lacks some of " << GetParam();
  }
};
INSTANTIATE_TEST_SUITE_P(Features, Math, testing::ValuesIn(featureSets), [](const auto &info) {
  return std::string(info.index == 0 ? "generic" : info.index == 1 ? "avx2" : "avx512");
});

// `op` of each element of a block, 32 at a time.
std::string mapFunction(const std::string &name, const std::string &op, const std::string &from,
                        const std::string &to) {
  std::string in = "memref<65536x" + from + ">", out = "memref<65536x" + to + ">";
  std::string vectorIn = "vector<32x" + from + ">", vectorOut = "vector<32x" + to + ">";
  std::string types = from == to ? vectorIn : vectorIn + " to " + vectorOut;
  return "func.func @" + name + R"(() {
    %c0 = arith.constant 0 : index
    %n = arith.constant 65536 : index
    %s = arith.constant 32 : index
    %a = hal.interface.binding.subspan binding(0) <readonly> : )" +
         in + R"(
    %b = hal.interface.binding.subspan binding(1) <writeonly> : )" +
         out + R"(
    scf.for %i = %c0 to %n step %s {
      %x = vector.load %a[%i] : )" +
         in + ", " + vectorIn + "\n      %y = " + op + " %x : " + types + "\n      vector.store %y, %b[%i] : " + out +
         ", " + vectorOut + "\n    }\n    return\n  }\n";
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
  source.features = GetParam();
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
          ASSERT_TRUE(got == rounded || std::fabs(std::fabs(expected) - 3.4028235677973366e38) < 2 * spacing(3.4e38))
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
                (std::fabs(rounded) > largest * T(0.999999) && std::fabs(got) > largest * T(0.999999)))
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
  source.features = GetParam();
  for (const WideFunction &function : functions)
    for (const char *type : {"f32", "f64"}) {
      std::string name = std::string(function.name) + "_" + type;
      source.exports.push_back({name, 0, 2});
      source.functions += mapFunction(name, std::string("math.") + function.name, type, type);
    }
  Compilation compilation = compileKernel(source);
  ASSERT_EQ(compilation.errors, "");
  EXPECT_TRUE(llvm::StringRef(compilation.bytes.data(), compilation.bytes.size()).contains("N4v_sinf") || *GetParam());
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
  source.features = GetParam();
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
