// Inputs that a simulated GPU makes are those of the host, bit by bit, and so are its verdicts.
#include "kiln/measure/verify/device/testing/on_simulator.h"

#include <cmath>
#include <numeric>

#include "kiln/measure/verify/element_inputs.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/real.h"

namespace kiln::measure::verify {
namespace {

class DeviceCheckTest : public ::testing::Test {
protected:
  void SetUp() override {
    device = openDevice("cuda-sim");
    Result<std::unique_ptr<DeviceCheck>> made = DeviceCheck::create(*device);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    check = *std::move(made);
  }

  Ref<hal::Buffer> empty(size_t bytes) { return bufferOf(*device, std::vector<uint8_t>(bytes, 0xA5)); }
  std::vector<WrongLines> wrongRows(const Data &data, const ColumnMap &columns = {}) {
    Result<std::vector<WrongLines>> rows = wrongRowsOnDevice(*device, *check, data, columns);
    EXPECT_TRUE(rows.ok()) << rows.status().toString();
    return *rows;
  }

  Ref<hal::Device> device;
  std::unique_ptr<DeviceCheck> check;
};

// Row-major and column-major operands in turn.
Contraction inLayouts(Contraction c, int which) {
  if (which & 1)
    c.lhsLayout = Layout::columnMajor(c.m, c.k);
  if (which & 2)
    c.rhsLayout = Layout::columnMajor(c.k, c.n);
  return c;
}

constexpr Types kOtherTypes[] = {
    {"f8_e5m2_f16", ElementType::F8E5M2, ElementType::F16, ElementType::F32},
    {"si8_i32", ElementType::SI8, ElementType::SI32, ElementType::I32},
    {"i16_i32", ElementType::I16, ElementType::I32, ElementType::I32},
};

std::vector<Types> allTypes() {
  std::vector<Types> types(std::begin(kAllTypes), std::end(kAllTypes));
  types.insert(types.end(), std::begin(kOtherTypes), std::end(kOtherTypes));
  return types;
}

// Sizes that are no multiples of anything, sums that are longer than narrow accumulators count, and slices.
TEST_F(DeviceCheckTest, InputsAreTheHostsBitByBit) {
  constexpr Size kSizes[] = {{1, 5, 7, 33}, {2, 3, 2, 130}, {1, 300, 3, 9}, {1, 1, 2, 2100}};
  int which = 0;
  for (const Types &types : allTypes())
    for (const Size &size : kSizes)
      for (bool roomForBias : {false, true}) {
        // Longer than f16 can count.
        if (size.k > 2048 && (roomForBias || exactBits(types.accumulator) > 11))
          continue;
        Contraction contraction = inLayouts(makeContraction(types, size), which++);
        contraction.slice = which % 3 == 0 ? 40 : 0;
        for (Pass pass : passesOf(contraction)) {
          const Data data(contraction, pass, 7, roomForBias);
          const DeviceCase subject{contraction, pass, 7, roomForBias};
          Ref<hal::Buffer> lhs = empty(data.lhs.size()), rhs = empty(data.rhs.size()), out = empty(data.out.size());
          ASSERT_TRUE(check->fill(subject, *lhs, *rhs).ok());
          ASSERT_TRUE(check->prefill(subject, *out).ok());
          EXPECT_EQ(bytesOf(*lhs), data.lhs) << sizeText(types, size) << " " << passName(pass);
          EXPECT_EQ(bytesOf(*rhs), data.rhs) << sizeText(types, size) << " " << passName(pass);
          EXPECT_EQ(bytesOf(*out), data.out) << sizeText(types, size) << " " << passName(pass);
        }
      }
}

// Numbers at all edges, and many others, are the integers that the host reads, or none.
TEST_F(DeviceCheckTest, NumbersAreReadAsTheHostReadsThem) {
  for (ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64}) {
    const auto bytes = static_cast<int64_t>(hal::elementTypeByteSize(type));
    std::vector<uint64_t> patterns;
    for (uint64_t bits = 0; bytes == 2 && bits < 0x10000; bits += 23)
      patterns.push_back(bits);
    for (double value : {0.0, 0.5, 0.999, 1.0, 1.5, 3.0, 2047.5, 65504.0, 16777217.0, 1073741823.0, 1073741824.0,
                         1073741825.0, 2147483648.0, 1e300, 1e-300, HUGE_VAL})
      for (double sign : {1.0, -1.0}) {
        uint64_t bits = 0;
        io::storeFloat(type, sign * value, reinterpret_cast<uint8_t *>(&bits));
        for (uint64_t neighbour : {bits - 1, bits, bits + 1})
          patterns.push_back(neighbour);
      }
    // A row for each number, whose product is the integer that the host reads: wrong where there is none.
    const auto rows = static_cast<int64_t>(patterns.size());
    Contraction c = Contraction::dense(1, rows, 1, 1, ElementType::F64, type, ElementType::F64);
    Data data(c, Pass::Sums, 3);
    storeNumber(ElementType::F64, 1, data.rhs.data());
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(data.out.data() + i * bytes, &patterns[i], bytes);
    const TensorOperand out(type, c.outLayout, data.out);
    WrongLines wrong;
    for (int64_t i = 0; i < rows; ++i) {
      int32_t integer = 0;
      if (!out.loadAlong(0, i, 0, 1, &integer))
        wrong.rows.push_back(i);
      storeNumber(ElementType::F64, integer, data.lhs.data() + i * sizeof(double));
    }
    EXPECT_EQ(wrongRows(data), std::vector{wrong}) << hal::elementTypeName(type);
    EXPECT_EQ(wrongRowsOnHost(data), std::vector{wrong}) << hal::elementTypeName(type);
  }
}

// A thread adds up what fits into 64 bits, many times in a long row.
TEST_F(DeviceCheckTest, LongRowsOfLargeNumbers) {
  Contraction c = Contraction::dense(1, 1, 70000, 1, ElementType::I16, ElementType::I32, ElementType::I32);
  Data data(c, Pass::Sums, 3);
  for (size_t i = 0; i < data.rhs.size(); i += 2)
    storeInteger(ElementType::I16, -32768, data.rhs.data() + i);
  storeInteger(ElementType::I16, 32767, data.lhs.data());
  for (int64_t j = 0; j < c.n; ++j)
    data.setOutput(0, 0, j, -32768.0 * 32767);
  EXPECT_TRUE(wrongRows(data).empty());
  data.setOutput(0, 0, 69999, -32768.0 * 32767 + 1);
  EXPECT_EQ(wrongRows(data).size(), 1u);
}

// Elements at the ends of the output and of everything that a program may cut it into, each by the least that it can
// be off and by more.
TEST_F(DeviceCheckTest, EachPlantedElementIsSeen) {
  constexpr Size size = {2, 35, 67, 20};
  int which = 0;
  for (const Types &types : allTypes()) {
    const Contraction contraction = inLayouts(makeContraction(types, size), which++);
    for (Pass pass : passesOf(contraction)) {
      Data data(contraction, pass, 5);
      data.computeRightly();
      const DeviceCase subject{contraction, pass, 5};
      Ref<hal::Buffer> lhs = bufferOf(*device, data.lhs), rhs = bufferOf(*device, data.rhs);
      Result<RowSums> expected = check->expect(subject, *lhs, *rhs);
      ASSERT_TRUE(expected.ok()) << expected.status().toString();
      Ref<hal::Buffer> out = bufferOf(*device, data.out);
      Result<std::vector<WrongLines>> rows = check->findWrongRows(subject, *expected, *out);
      ASSERT_TRUE(rows.ok() && rows->empty()) << types.name << " " << passName(pass);
      const std::vector<uint8_t> right = data.out;
      for (auto [b, i, j] : {std::array<int64_t, 3>{0, 0, 0},
                             {0, 0, 66},
                             {0, 15, 16},
                             {0, 16, 31},
                             {0, 31, 32},
                             {0, 32, 63},
                             {0, 34, 64},
                             {1, 0, 0},
                             {1, 7, 8},
                             {1, 34, 66}}) {
        data.out = right;
        data.out[contraction.outLayout.offset(b, i, j) * hal::elementTypeByteSize(types.result)] ^= 1;
        const std::vector<WrongLines> row = {{b, {i}, {}}};
        ASSERT_TRUE(out->write(0, std::as_bytes(std::span(data.out))).ok());
        rows = check->findWrongRows(subject, *expected, *out);
        ASSERT_TRUE(rows.ok()) << rows.status().toString();
        EXPECT_EQ(*rows, row) << types.name << " " << passName(pass);
        EXPECT_EQ(wrongRowsOnHost(data), row) << types.name << " " << passName(pass);
      }
    }
  }
}

TEST_F(DeviceCheckTest, ColumnsWithAScaleAndABias) {
  Data data(makeContraction(kAllTypes[1], {1, 20, 12, 40}), Pass::Sums, 3, /*roomForBias=*/true);
  ColumnMap columns;
  for (int32_t j = 0; j < 12; ++j) {
    columns.scale.push_back(j % 2);
    columns.bias.push_back(3 * j - 7);
  }
  data.compute([&](int64_t b, int64_t i, int64_t j) {
    return double(columns.scale[j]) * data.exact(b, i, j) + columns.bias[j];
  });
  EXPECT_TRUE(wrongRows(data, columns).empty());
  columns.bias[11] += 1;
  EXPECT_EQ(wrongRows(data, columns), wrongRowsOnHost(data, columns));
  EXPECT_EQ(wrongRows(data, columns).front().rows.size(), 20u);
}

TEST_F(DeviceCheckTest, APlantedElementIsFoundAndTakenAway) {
  Data data(makeContraction(kAllTypes[1], {2, 9, 13, 21}), Pass::Sums, 2);
  data.computeRightly();
  const DeviceCase subject{data.contraction, data.pass, data.seed};
  Ref<hal::Buffer> lhs = bufferOf(*device, data.lhs), rhs = bufferOf(*device, data.rhs),
                   out = bufferOf(*device, data.out);
  Result<RowSums> expected = check->expect(subject, *lhs, *rhs);
  ASSERT_TRUE(expected.ok());
  for (uint64_t element : {0, 12, 13, 116, 117, 233}) {
    EXPECT_TRUE(check->checkPlanted(subject, *expected, element, *out).ok()) << element;
    EXPECT_EQ(bytesOf(*out), data.out);
  }
  EXPECT_EQ(check->checkPlanted(subject, *expected, 234, *out).code(), StatusCode::OutOfRange);
  // A check that finds other rows is no check.
  RowSums others = *expected;
  ++others[3];
  EXPECT_EQ(check->checkPlanted(subject, others, 0, *out).code(), StatusCode::Internal);
}

// As DeviceCheckTest.InputsAreTheHostsBitByBit, of all types of floats, and cut off where tf32 ends.
TEST_F(DeviceCheckTest, RealInputsAreTheHostsBitByBit) {
  int which = 0;
  for (const Types &types : allTypes())
    for (const Size &size : {Size{1, 5, 7, 33}, Size{2, 3, 2, 130}, Size{1, 300, 3, 9}})
      for (bool tf32 : {false, true}) {
        Contraction contraction = inLayouts(makeContraction(types, size), which++);
        if (!hasRealPass(contraction) || isInteger(types.operands) || (tf32 && types.operands != ElementType::F32))
          continue;
        contraction.tf32 = tf32;
        Data data(contraction, Pass::WideRhs, 7); // of the right sizes
        ASSERT_TRUE(fillReal(contraction, 7, data.lhs, data.rhs).ok());
        DeviceCase subject{contraction, Pass::WideRhs, 7};
        subject.check = DeviceCase::Check::Real;
        Ref<hal::Buffer> lhs = empty(data.lhs.size()), rhs = empty(data.rhs.size());
        const Status filled = check->fill(subject, *lhs, *rhs);
        ASSERT_TRUE(filled.ok()) << filled.toString();
        EXPECT_EQ(bytesOf(*lhs), data.lhs) << sizeText(types, size) << (tf32 ? " tf32" : "");
        EXPECT_EQ(bytesOf(*rhs), data.rhs) << sizeText(types, size) << (tf32 ? " tf32" : "");
      }
}

TEST_F(DeviceCheckTest, APlantedElementOfRealNumbersIsFoundAndTakenAway) {
  Data data(makeContraction(kAllTypes[1], {2, 9, 13, 21}), Pass::WideRhs, 2);
  ASSERT_TRUE(fillReal(data.contraction, 2, data.lhs, data.rhs).ok());
  const TensorOperand left(data.contraction.lhs, data.contraction.lhsLayout, data.lhs),
      right(data.contraction.rhs, data.contraction.rhsLayout, data.rhs);
  data.compute([&](int64_t b, int64_t i, int64_t j) {
    std::vector<double> row(21), column(21);
    left.numbersAlong(b, i, 0, 21, row.data());
    right.numbersDown(b, 0, j, 21, column.data());
    return std::inner_product(row.begin(), row.end(), column.begin(), 0.0);
  });
  DeviceCase subject{data.contraction, Pass::WideRhs, data.seed};
  subject.check = DeviceCase::Check::Real;
  Ref<hal::Buffer> lhs = bufferOf(*device, data.lhs), rhs = bufferOf(*device, data.rhs),
                   out = bufferOf(*device, data.out);
  Result<std::vector<SampledSum>> sums = check->expectSums(subject, *lhs, *rhs);
  ASSERT_TRUE(sums.ok()) << sums.status().toString();
  for (uint64_t planted : {0, 12, 117, 1000}) {
    EXPECT_TRUE(check->checkPlantedSum(subject, *sums, planted, *out).ok()) << planted;
    EXPECT_EQ(bytesOf(*out), data.out);
  }
  // A check that finds others is no check.
  std::vector<SampledSum> others = *sums;
  others[3].sum += 1e6;
  EXPECT_EQ(check->checkPlantedSum(subject, others, 0, *out).code(), StatusCode::Internal);
  EXPECT_EQ(check->judgeSums(subject, {}, *out).status().code(), StatusCode::InvalidArgument);
}

// Patterns of 16 bits as functions of themselves, numbers of other types rounded, and elements moved: what the host
// computes is right, and each bit that is another is found.
TEST_F(DeviceCheckTest, ElementsAreFunctionsOfOthers) {
  using Rule = DeviceElements::Rule;
  for (ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::I32})
    for (Rule rule : {Rule::Add, Rule::Multiply, Rule::Relu, Rule::SquareRoot, Rule::Moved}) {
      if (type == ElementType::I32 && (rule == Rule::Relu || rule == Rule::SquareRoot))
        continue;
      const uint64_t size = hal::elementTypeByteSize(type);
      DeviceElements elements{.rule = rule, .type = type, .elements = 60 * 70};
      if (rule == Rule::Moved)
        elements.extents = {70, 60}, elements.strides = {1, 70};
      std::vector<uint8_t> a(elements.elements * size), b(a.size()), out(a.size());
      fillSpecial(type, 3, a);
      fillSpecial(type, 4, b);
      for (uint64_t i = 0; i < elements.elements; ++i) {
        const double x = io::elementAsDouble(type, a.data() + i * size),
                     y = io::elementAsDouble(type, b.data() + i * size);
        uint8_t *element = out.data() + i * size;
        if (rule == Rule::Moved)
          std::memcpy(element, a.data() + (i % 60 * 70 + i / 60) * size, size);
        else if (type == ElementType::I32)
          storeInteger(type,
                       int32_t(rule == Rule::Add ? uint32_t(int32_t(x)) + uint32_t(int32_t(y))
                                                 : uint32_t(int32_t(x)) * uint32_t(int32_t(y))),
                       element);
        else
          io::storeFloat(type,
                         roundTo(type, rule == Rule::Add        ? x + y
                                       : rule == Rule::Multiply ? x * y
                                       : rule == Rule::Relu     ? (x < 0 ? 0 : x)
                                                                : std::sqrt(x)),
                         element);
      }
      Ref<hal::Buffer> first = bufferOf(*device, a), second = bufferOf(*device, b), result = bufferOf(*device, out);
      hal::Buffer *const both[] = {first.get(), second.get()};
      const std::span<hal::Buffer *const> inputs =
          std::span(both).first(rule == Rule::Add || rule == Rule::Multiply ? 2 : 1);
      auto count = [&] { return check->countWrongElements(elements, inputs, *result); };
      Result<uint64_t> wrong = count();
      ASSERT_TRUE(wrong.ok()) << wrong.status().toString();
      EXPECT_EQ(*wrong, 0u) << hal::elementTypeName(type) << " " << int(rule);
      for (uint64_t planted : {0, 59, 60, 4095, 4096, 4199}) {
        EXPECT_TRUE(check->checkPlantedElement(type, elements.elements, planted, *result, count).ok())
            << planted << " " << int(rule);
        EXPECT_EQ(bytesOf(*result), out);
      }
      EXPECT_EQ(check->checkPlantedElement(type, elements.elements, 4200, *result, count).code(),
                StatusCode::OutOfRange);
      EXPECT_EQ(check->countWrongElements(elements, {}, *result).status().code(), StatusCode::InvalidArgument);
      // A unit of the last place, of a number that is no NaN.
      uint64_t at = 0;
      while (!std::isfinite(io::elementAsDouble(type, out.data() + at * size)) ||
             io::elementAsDouble(type, out.data() + at * size) == 0 ||
             std::isnan(io::elementAsDouble(type, a.data() + at * size)))
        ++at;
      out[at * size] ^= 1;
      ASSERT_TRUE(result->write(0, std::as_bytes(std::span(out))).ok());
      wrong = check->countWrongElements(elements, inputs, *result);
      ASSERT_TRUE(wrong.ok());
      EXPECT_EQ(*wrong, 1u) << hal::elementTypeName(type) << " " << int(rule);
    }
}

// Numbers of a bound, each a neighbour of the next; the first ones beyond it are wrong.
TEST(ElementRanges, AreWhatABoundTakes) {
  for (ElementType type : {ElementType::F16, ElementType::BF16, ElementType::F32})
    for (const Expectation &expected :
         {Expectation{1, 0.01}, Expectation{-3.25, 0.125}, Expectation{0, 0}, Expectation{1e-9, 1e-5},
          Expectation{-0.5, 0.5 + 0x1p-30}, Expectation{2, 0}, Expectation{7.5, 1e-3}}) {
      const ElementRange range = rightRange(type, expected);
      auto numberAt = [&](int64_t order) {
        const auto sign = uint64_t(1) << (hal::elementTypeByteSize(type) * 8 - 1);
        const uint64_t bits = order < 0 ? uint64_t(-order) | sign : uint64_t(order);
        EXPECT_EQ(orderOf(type, bits), order);
        return io::elementAsDouble(type, reinterpret_cast<const uint8_t *>(&bits));
      };
      auto isRight = [&](int64_t order) { return std::fabs(numberAt(order) - expected.value) <= expected.bound; };
      if (range.low > range.high) {
        EXPECT_EQ(hal::elementTypeName(type), "f16") << "which alone has no number there";
        continue;
      }
      EXPECT_TRUE(isRight(range.low) && isRight(range.high)) << expected.value;
      EXPECT_FALSE(isRight(range.low - 1) || isRight(range.high + 1)) << expected.value;
    }
  EXPECT_GT(rightRange(ElementType::F16, {1 + 0x1p-12, 0}).low, rightRange(ElementType::F16, {1 + 0x1p-12, 0}).high);
}

TEST_F(DeviceCheckTest, WhatCannotBeCheckedIsAnError) {
  Data data(makeContraction(kAllTypes[0], {1, 9, 13, 21}), Pass::Sums, 2);
  data.computeRightly();
  const DeviceCase subject{data.contraction, data.pass, data.seed};
  Ref<hal::Buffer> lhs = bufferOf(*device, data.lhs), rhs = bufferOf(*device, data.rhs),
                   out = bufferOf(*device, data.out);
  // Tensors that are too short.
  EXPECT_EQ(check->fill(subject, *rhs, *lhs).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(check->expect(subject, *rhs, *lhs).status().code(), StatusCode::InvalidArgument);
  Result<RowSums> expected = check->expect(subject, *lhs, *rhs);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(check->findWrongRows(subject, *expected, *empty(8)).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(check->findWrongRows(subject, RowSums(8), *out).status().code(), StatusCode::InvalidArgument);
  // Inputs that a candidate has written to.
  Data spoiled = data;
  std::memset(spoiled.lhs.data() + 4, 0xFF, 4);
  Ref<hal::Buffer> written = bufferOf(*device, spoiled.lhs);
  EXPECT_EQ(check->expect(subject, *written, *rhs).status().code(), StatusCode::InvalidArgument);
  // Types that there is no code for.
  DeviceCase other = subject;
  other.contraction.result = ElementType::I64;
  EXPECT_EQ(check->fill(other, *lhs, *rhs).code(), StatusCode::Unimplemented);
  // A device that is lost.
  device->lose(unavailable("it is lost"));
  EXPECT_FALSE(check->fill(subject, *lhs, *rhs).ok());
  EXPECT_FALSE(check->prefill(subject, *out).ok());
  EXPECT_FALSE(check->expect(subject, *lhs, *rhs).ok());
  EXPECT_FALSE(check->findWrongRows(subject, *expected, *out).ok());
  EXPECT_FALSE(check->checkPlanted(subject, *expected, 0, *out).ok());
}

TEST(DeviceCheck, OtherDevicesSayThatTheyHaveNone) {
  for (const char *uri : {"local-sync", "discrete"}) {
    Ref<hal::Device> device = openDevice(uri);
    Result<std::unique_ptr<DeviceCheck>> made = DeviceCheck::create(*device);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.status().code(), StatusCode::Unimplemented) << made.status().toString();
    EXPECT_NE(made.status().message().find(uri), std::string_view::npos) << made.status().toString();
  }
}

} // namespace
} // namespace kiln::measure::verify
