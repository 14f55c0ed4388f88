// The coarse check of each family: right results pass, and work that was skipped, or done for other inputs, does not.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <set>

#include "fmt/format.h"
#include "kiln/families/families.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/workers/timing_data.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::families {
namespace {

using measure::Problem;
using measure::TensorType;
using measure::verify::Cause;
using measure::verify::TimedCheck;
using measure::verify::Verdict;

uint64_t byteSize(const TensorType &tensor) {
  uint64_t bytes = hal::elementTypeByteSize(tensor.type);
  for (uint64_t extent : tensor.shape)
    bytes *= extent;
  return bytes;
}

// Tensors of one set: inputs as they are timed with, and the outputs that the definition gives for them.
struct Set {
  const Problem &problem;
  std::vector<TensorType> inputTypes, outputTypes;
  std::vector<std::vector<uint8_t>> inputs, outputs;

  Set(const Problem &problem, uint64_t seed)
      : problem(problem), inputTypes(problem.inputs()), outputTypes(problem.outputs()) {
    for (const TensorType &type : inputTypes) {
      inputs.emplace_back(byteSize(type));
      measure::fillForTiming(seed * 100 + inputs.size(), {type.type, type.shape, inputs.back()},
                             problem.timingNumbers(inputs.size() - 1));
    }
    for (const TensorType &type : outputTypes)
      outputs.emplace_back(byteSize(type), uint8_t(0xFF));
    compute();
  }
  void compute() {
    std::vector<measure::MutableTensor> results;
    for (size_t i = 0; i < outputs.size(); ++i)
      results.push_back({outputTypes[i].type, outputTypes[i].shape, outputs[i]});
    ASSERT_TRUE(problem.reference(inputSpans(), results).ok());
  }
  std::vector<io::TensorSpan> inputSpans() const {
    std::vector<io::TensorSpan> spans;
    for (size_t i = 0; i < inputs.size(); ++i)
      spans.push_back({inputTypes[i].type, inputTypes[i].shape, inputs[i]});
    return spans;
  }
  Verdict check(const TimedCheck &check) const {
    std::vector<io::TensorSpan> spans;
    for (size_t i = 0; i < outputs.size(); ++i)
      spans.push_back({outputTypes[i].type, outputTypes[i].shape, outputs[i]});
    return check.check(spans);
  }
  std::unique_ptr<TimedCheck> timedCheck(uint64_t seed) const { return problem.timedCheck(inputSpans(), seed); }
  uint64_t elementBytes() const { return hal::elementTypeByteSize(outputTypes[0].type); }
  uint64_t elements() const { return outputs[0].size() / elementBytes(); }
};

std::unique_ptr<Problem> parse(const std::string &name) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  Result<std::unique_ptr<Problem>> problem = registry.parse(name);
  EXPECT_TRUE(problem.ok()) << problem.status().toString();
  return std::move(*problem);
}

class TimedChecks : public testing::TestWithParam<const char *> {
protected:
  std::unique_ptr<Problem> problem = parse(GetParam());
};

TEST_P(TimedChecks, RightResultsPass) {
  measure::verify::Deviations pooled;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Set set(*problem, seed);
    std::unique_ptr<TimedCheck> check = set.timedCheck(seed * 7);
    ASSERT_NE(check, nullptr);
    // The inputs may change once the check is made.
    for (std::vector<uint8_t> &input : set.inputs)
      std::ranges::fill(input, uint8_t(0));
    Verdict verdict = set.check(*check);
    EXPECT_TRUE(verdict.ok()) << verdict.explanation;
    pooled += verdict.deviations;
  }
  // Sums whose last rounding is most of what they are off by are 1.3 / 1.1 of the model; see kLastRoundingOfSums.
  EXPECT_LE(pooled.mean(), 1.22) << pooled.sums;
}

TEST_P(TimedChecks, PoisonIsFound) {
  Set set(*problem, 1);
  std::unique_ptr<TimedCheck> check = set.timedCheck(3);
  std::vector<uint8_t> right = set.outputs[0];
  uint64_t size = set.elementBytes(), count = set.elements();
  auto poison = [&](uint64_t begin, uint64_t end) {
    set.outputs[0] = right;
    std::fill(set.outputs[0].begin() + begin * size, set.outputs[0].begin() + end * size, uint8_t(0xFF));
    if (set.outputs[0] == right)
      return; // -1 was the right integer.
    Verdict verdict = set.check(*check);
    EXPECT_EQ(verdict.cause, Cause::NothingWritten) << begin << " to " << end << ": " << verdict.explanation;
  };
  poison(0, count);
  poison(0, 1);
  poison(count - 1, count);
  for (uint64_t i = 0; i < 100; ++i)
    poison(i * 7919 % count, i * 7919 % count + 1);
  poison(count - std::min<uint64_t>(count, 8), count);
  poison(count / 2, count);
}

TEST_P(TimedChecks, ZerosAreFound) {
  Set set(*problem, 1);
  std::unique_ptr<TimedCheck> check = set.timedCheck(3);
  std::ranges::fill(set.outputs[0], uint8_t(0));
  EXPECT_FALSE(set.check(*check).ok());
}

TEST_P(TimedChecks, ResultsOfOtherInputsAreFound) {
  for (uint64_t seed = 2; seed <= 20; ++seed) {
    Set set(*problem, 1), other(*problem, seed);
    std::unique_ptr<TimedCheck> check = set.timedCheck(seed);
    EXPECT_FALSE(other.check(*check).ok()) << seed;
  }
}

// The second half of the output is that of another set.
TEST_P(TimedChecks, AStaleHalfIsFound) {
  Set set(*problem, 1), other(*problem, 2);
  std::unique_ptr<TimedCheck> check = set.timedCheck(3);
  auto half = static_cast<ptrdiff_t>(set.elements() / 2 * set.elementBytes());
  std::copy(other.outputs[0].begin() + half, other.outputs[0].end(), set.outputs[0].begin() + half);
  EXPECT_FALSE(set.check(*check).ok());
}

// A sixteenth of the first input is another one, as one row would be.
TEST_P(TimedChecks, AChangedPartOfTheInputIsFound) {
  Set set(*problem, 1), other(*problem, 1), changes(*problem, 2);
  std::unique_ptr<TimedCheck> check = set.timedCheck(3);
  size_t part = std::max<size_t>(other.inputs[0].size() / 16 / 8 * 8, 8);
  std::copy_n(changes.inputs[0].begin(), part, other.inputs[0].begin());
  other.compute();
  EXPECT_FALSE(other.check(*check).ok());
}

// The second half of each input is zero: of a contraction, half of the products are missing.
TEST_P(TimedChecks, HalfOfTheWorkIsNotEnough) {
  Set set(*problem, 1), other(*problem, 1);
  std::unique_ptr<TimedCheck> check = set.timedCheck(3);
  for (std::vector<uint8_t> &input : other.inputs)
    std::fill(input.begin() + static_cast<ptrdiff_t>(input.size() / 2 / 8 * 8), input.end(), uint8_t(0));
  other.compute();
  EXPECT_FALSE(other.check(*check).ok());
}

TEST_P(TimedChecks, OtherTensorsAreRefused) {
  Set set(*problem, 1);
  std::unique_ptr<TimedCheck> check = set.timedCheck(3);
  EXPECT_FALSE(check->check({}).ok());
  set.outputs[0].resize(set.outputs[0].size() - set.elementBytes());
  EXPECT_FALSE(set.check(*check).ok());
  set.inputTypes[0].shape.push_back(2);
  EXPECT_EQ(set.timedCheck(3), nullptr);
}

// Of each row, what has to be read until a number comes that is at the end of the type, or as far as any in the tensor.
double partReadUntilTheFarthest(const Set &set, const std::function<double(uint64_t)> &number, uint64_t columns) {
  bool largest = set.problem.timingNumbers(0).extremum == measure::TimingNumbers::Extremum::Largest;
  double farthest = number(0);
  uint64_t count = set.inputs[0].size() / set.elementBytes(), read = 0;
  for (uint64_t i = 0; i < count; ++i)
    farthest = largest ? std::max(farthest, number(i)) : std::min(farthest, number(i));
  for (uint64_t row = 0; row < count; row += columns)
    for (uint64_t c = 0; c < columns; ++c) {
      ++read;
      if (number(row + c) == farthest)
        break;
    }
  return double(read) / double(count);
}

// Neither a constant nor a part of each row is enough, and no number says that none is farther.
TEST(TimedExtrema, NothingButReadingAllOfARowTellsIt) {
  constexpr uint64_t kColumns = 4096;
  for (const char *types : {"max_64x4096_i8_i8", "min_64x4096_i8_i8", "max_64x4096_bf16_bf16", "min_64x4096_f16_f16"}) {
    std::unique_ptr<Problem> problem = parse(fmt::format("reduction_{}", types));
    Set set(*problem, 1);
    std::unique_ptr<TimedCheck> check = set.timedCheck(3);
    hal::ElementType type = set.inputTypes[0].type;
    std::vector<uint8_t> right = set.outputs[0];
    auto number = [&](uint64_t i) { return io::elementAsDouble(type, set.inputs[0].data() + i * set.elementBytes()); };
    std::set<double> different;
    for (uint64_t row = 0; row < set.elements(); ++row) {
      const uint8_t *value = right.data() + row * set.elementBytes();
      different.insert(io::elementAsDouble(type, value));
      for (uint64_t i = 0; i < set.elements(); ++i)
        std::copy_n(value, set.elementBytes(), set.outputs[0].begin() + i * set.elementBytes());
      EXPECT_FALSE(set.check(*check).ok()) << types << ": the number of row " << row << " in all rows";
    }
    EXPECT_GT(different.size(), 16U) << types;
    EXPECT_GT(partReadUntilTheFarthest(set, number, kColumns), 0.95) << types;
    // As the same type is filled for all other operations.
    std::vector<uint8_t> made = set.inputs[0];
    measure::fillForTiming(1, {type, set.inputTypes[0].shape, set.inputs[0]});
    EXPECT_LT(partReadUntilTheFarthest(set, number, kColumns), 0.9) << types;
    // Without the last quarter of each row.
    set.inputs[0] = made;
    for (uint64_t row = 0; row < set.elements(); ++row)
      for (uint64_t c = kColumns * 3 / 4; c < kColumns; ++c)
        std::copy_n(set.inputs[0].begin() + row * kColumns * set.elementBytes(), set.elementBytes(),
                    set.inputs[0].begin() + (row * kColumns + c) * set.elementBytes());
    set.compute();
    EXPECT_FALSE(set.check(*check).ok()) << types;
  }
}

// Along other dimensions each row has a start of its own, too.
TEST(TimedExtrema, RowsOfAnyDimension) {
  for (const char *name : {"reduction_max_3x1000x33_i8_i8", "reduction_min_1x1000x64_bf16_bf16"}) {
    std::unique_ptr<Problem> problem = parse(name);
    Set set(*problem, 1);
    std::set<double> different;
    for (uint64_t row = 0; row < set.elements(); ++row)
      different.insert(io::elementAsDouble(set.outputTypes[0].type, set.outputs[0].data() + row * set.elementBytes()));
    EXPECT_GT(different.size(), 16U) << name;
  }
}

// What a program knows of a row without reading all of it: its largest element, the sum of its exponentials over that,
// its mean and its variance.
struct RowStatistics {
  double most = 0, exponentials = 0, mean = 0, variance = 0;
};

// Of softmax and of norms, computed with such statistics.
class WithStatistics {
public:
  explicit WithStatistics(const Problem &problem)
      : set(problem, 1), type(set.inputTypes[0].type), columns(set.inputTypes[0].shape[1]),
        rows(set.inputTypes[0].shape[0]) {}

  std::vector<double> row(uint64_t r) const { return numbers(0, r * columns, columns); }

  RowStatistics of(std::span<const double> part) const {
    RowStatistics known;
    auto count = double(part.size());
    known.most = *std::ranges::max_element(part);
    for (double x : part)
      known.exponentials += std::exp(x - known.most) / count;
    if (set.inputs.size() == 3)
      for (double x : part)
        known.mean += x / count;
    for (double x : part)
      known.variance += (x - known.mean) * (x - known.mean) / count;
    return known;
  }

  // Whether the check takes what `know` of a row gives.
  bool passes(const TimedCheck &check, const std::function<RowStatistics(std::span<const double>)> &know) {
    for (uint64_t r = 0; r < rows; ++r) {
      std::vector<double> elements = row(r);
      RowStatistics known = know(elements);
      for (uint64_t c = 0; c < columns; ++c)
        measure::verify::writeElement(type, result(elements[c], c, known),
                                      set.outputs[0].data() + (r * columns + c) * set.elementBytes());
    }
    return set.check(check).ok();
  }

  Set set;
  const hal::ElementType type;
  const uint64_t columns, rows;

private:
  std::vector<double> numbers(size_t input, uint64_t first, uint64_t count) const {
    std::vector<double> read(count);
    measure::verify::readElements(type, set.inputs[input], first, read);
    return read;
  }
  double result(double x, uint64_t c, const RowStatistics &known) const {
    if (set.inputs.size() == 1)
      return std::exp(x - known.most) / (known.exponentials * double(columns));
    return (x - known.mean) / std::sqrt(known.variance + 1e-5) * gamma[c] + (set.inputs.size() == 3 ? beta[c] : 0);
  }

  const std::vector<double> gamma = numbers(std::min<size_t>(1, set.inputs.size() - 1), 0, columns),
                            beta = numbers(set.inputs.size() - 1, 0, columns);
};

// Neither numbers that follow from how inputs are made nor a part of each row stand for reading all of it.
TEST(TimedStatistics, NothingButReadingAllOfARowTellsThem) {
  for (const char *name :
       {"softmax_64x32768_f32", "softmax_64x4096_f16", "softmax_64x4096_bf16", "layer_norm_64x32768_f32",
        "layer_norm_64x4096_bf16", "rms_norm_64x32768_f32", "rms_norm_64x4096_f16", "rms_norm_64x4096_bf16"}) {
    std::unique_ptr<Problem> problem = parse(name);
    WithStatistics program(*problem);
    std::unique_ptr<TimedCheck> check = program.set.timedCheck(3);
    EXPECT_TRUE(program.passes(*check, [&](auto row) { return program.of(row); })) << name;
    for (size_t part : {2, 16})
      EXPECT_FALSE(program.passes(*check, [&](auto row) { return program.of(row.first(row.size() / part)); }))
          << name << ": one of " << part << " elements of each row";
    // Those of a row of numbers in [-1, 1), and those of the first row, whatever its numbers are.
    const RowStatistics uniform = {.exponentials = std::sinh(1.0), .variance = 1 / 3.0};
    EXPECT_FALSE(program.passes(*check, [&](auto) { return uniform; })) << name;
    const std::vector<double> first = program.row(0);
    EXPECT_FALSE(program.passes(*check, [&](auto) { return program.of(first); })) << name;
    // A maximum that is not subtracted, or another number of the row in its place: exponentials overflow in f32, or all
    // vanish.
    if (program.set.inputs.size() == 1) {
      uint64_t needed = 0, instead = 0;
      for (uint64_t r = 0; r < program.rows; ++r) {
        const std::vector<double> elements = program.row(r);
        const double most = program.of(elements).most;
        needed += std::fabs(most) > 90;
        instead += most - elements[0] > 90;
      }
      EXPECT_GT(needed, program.rows / 8) << name;
      EXPECT_GT(instead, program.rows / 8) << name;
    }
  }
}

// A polynomial that holds in [-1, 1) alone is not what these functions are.
TEST(TimedElements, ReachBeyondOne) {
  for (const char *op : {"exp", "tanh", "sigmoid", "gelu", "gelu_tanh"})
    for (const char *type : {"f32", "f16", "bf16"}) {
      std::unique_ptr<Problem> problem = parse(fmt::format("elementwise_{}_64x1024_{}", op, type));
      Set set(*problem, 1);
      std::unique_ptr<TimedCheck> check = set.timedCheck(3);
      uint64_t beyond = 0;
      for (uint64_t i = 0; i < set.elements(); ++i) {
        uint8_t *element = set.inputs[0].data() + i * set.elementBytes();
        double x = io::elementAsDouble(set.inputTypes[0].type, element);
        beyond += std::fabs(x) > 1;
        measure::verify::writeElement(set.inputTypes[0].type, std::clamp(x, -1.0, 1.0), element);
      }
      EXPECT_GT(beyond, set.elements() / 2) << op << " " << type;
      set.compute();
      EXPECT_FALSE(set.check(*check).ok()) << op << " " << type;
    }
}

// An input that is rounded to 8 bits before it is used, as a provider may that is exact in the passes alone.
TEST(TimedLines, InputsOfEightBitsAreFound) {
  for (const char *name : {"matmul_bias_relu_65x65x300_bf16t_bf16t_bf16t", "matmul_bias_gelu_65x65x300_f16t_f16t_f16t",
                           "attention_3x64x128x64x64_bf16", "attention_3x64x128x64x64_f16"})
    for (size_t input : {1, 2}) {
      std::unique_ptr<Problem> problem = parse(name);
      if (problem->family() != "attention" && input == 2)
        continue;
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        Set set(*problem, seed);
        std::unique_ptr<TimedCheck> check = set.timedCheck(seed * 7);
        const hal::ElementType type = set.inputTypes[input].type;
        for (uint64_t at = 0; at < set.inputs[input].size(); at += set.elementBytes()) {
          uint8_t *element = set.inputs[input].data() + at;
          measure::verify::writeElement(type, std::round(io::elementAsDouble(type, element) * 127) / 127, element);
        }
        set.compute();
        EXPECT_FALSE(set.check(*check).ok()) << name << ", input " << input << ", seed " << seed;
      }
    }
}

// Scores that are all close to zero would weigh all keys alike, whatever exponential a program has.
TEST(TimedLines, ScoresOfAttentionReachFar) {
  std::unique_ptr<Problem> problem = parse("attention_2x64x256x64x64_f32");
  Set set(*problem, 1);
  std::vector<double> queries(2 * 64 * 64);
  measure::verify::readElements(set.inputTypes[0].type, set.inputs[0], 0, queries);
  double smallest = HUGE_VAL, largest = 0;
  for (size_t row = 0; row < queries.size(); row += 64) {
    double most = 0;
    for (size_t i = 0; i < 64; ++i)
      most = std::max(most, std::fabs(queries[row + i]));
    smallest = std::min(smallest, most), largest = std::max(largest, most);
  }
  EXPECT_LT(smallest, 2);
  EXPECT_GT(largest, 8);
}

constexpr const char *kProblems[] = {
    "matmul_37x53x101_f32t_f32t_f32t",
    "matmul_37x53x101_f32n_f32n_f32t",
    "matmul_7x1100x65_f32t_f32n_f32t",
    "matmul_1x1x300_f32t_f32t_f32t",
    "matmul_65x33x77_f16t_f16t_f16t",
    "matmul_65x33x77_f16t_f16n_f32t",
    "matmul_65x33x77_f16t_f16t_f16t_accf16",
    "matmul_33x65x77_bf16t_bf16t_bf16t",
    "matmul_33x65x77_bf16n_bf16t_f32t",
    "matmul_37x53x101_i8t_i8n_i32t",
    "matmul_7x1100x65_i8t_i8t_i32t",
    "batch_matmul_3x17x19x23_f32t_f32t_f32t",
    "batch_matmul_3x17x19x23_i8n_i8t_i32t",
    "matmul_bias_37x53x101_f32t_f32t_f32t",
    "matmul_bias_65x33x77_f16t_f16t_f16t",
    "matmul_bias_relu_37x53x101_f32t_f32t_f32t",
    "matmul_bias_gelu_37x53x101_f32t_f32n_f32t",
    "matmul_bias_gelu_65x33x77_bf16t_bf16t_bf16t",
    "matmul_bias_gelu_tanh_37x53x101_f32t_f32n_f32t",
    "matmul_splitk_parallel_4_13x17x203_f16t_f16t_f16t_partf16",
    "matmul_splitk_serial_3_13x17x203_f32t_f32t_f32t_partf32",
    "matmul_splitk_serial_3_13x17x203_i8t_i8t_i32t_parti32",
    "qmatmul_37x53x101_i8t_i8n_i32t_za3_zbm5",
    "qmatmul_7x1100x65_ui8t_i8t_i32t_za128_zb0",
    "qmatmul_37x53x101_i8t_i8t_i8t_za3_zbm5_zc7_percolumn",
    "qmatmul_37x530x101_ui8n_i8n_ui8t_za128_zb0_zc121_pertensor",
    "conv2d_nhwc_hwcf_2x9x11x6_3x3x5_s1x1_d1x1_p1x1_g1_f32_f32_f32",
    "conv2d_nchw_fchw_2x9x11x6_3x3x5_s1x1_d1x1_p1x1_g1_f32_f32_f32",
    "conv2d_nhwc_hwcf_2x13x11x6_3x2x8_s2x1_d1x2_p1x0_g2_f16_f16_f32",
    "conv2d_nchw_fchw_2x13x11x6_3x2x8_s2x3_d1x2_p1x2_g2_bf16_bf16_bf16",
    "conv2d_nhwc_hwcf_1x15x15x32_3x3x32_s2x2_d1x1_p1x1_g32_f32_f32_f32",
    "conv2d_nchw_fchw_1x15x15x32_3x3x32_s2x2_d1x1_p1x1_g32_f16_f16_f16",
    "conv2d_nhwc_hwcf_2x9x11x6_3x3x5_s1x1_d1x1_p1x1_g1_i8_i8_i32",
    "conv2d_nchw_fchw_2x9x11x6_3x3x6_s1x1_d1x1_p1x1_g3_i8_i8_i32",
    "elementwise_add_33x257_f32",
    "elementwise_add_33x257_i32",
    "elementwise_mul_8193_i32",
    "elementwise_mul_33x257_bf16",
    "elementwise_relu_8193_f32",
    "elementwise_gelu_33x257_f16",
    "elementwise_gelu_tanh_33x257_f32",
    "elementwise_exp_33x257_f32",
    "elementwise_tanh_33x257_bf16",
    "elementwise_sigmoid_33x257_f32",
    "reduction_sum_33x257_f32_f32",
    "reduction_sum_33x257_f16_f16",
    "reduction_sum_33x257_i8_i32",
    "reduction_mean_33x257_bf16_f32",
    "reduction_max_33x257_f32_f32",
    "reduction_min_33x25_i8_i8",
    "reduction_max_33x4097_i8_i8",
    "reduction_min_33x4097_bf16_bf16",
    "reduction_max_33x4097_f16_f16",
    "reduction_sum_3x257x33_f32_f32",
    "reduction_mean_1x257x33_bf16_bf16",
    "reduction_max_5x25x33_i8_i8",
    "layer_norm_33x257_f32",
    "layer_norm_33x257_bf16",
    "rms_norm_33x257_f32",
    "rms_norm_33x2057_f16",
    "transpose_10_33x257_f32",
    "transpose_0213_3x5x7x11_bf16",
    "transpose_210_17x19x23_f16",
    "transpose_102_17x19x23_i8",
    "softmax_33x257_f32",
    "softmax_33x2057_f16",
    "softmax_33x257_bf16",
    "attention_3x37x131x40x24_f32",
    "attention_1x64x33x16x8_f16",
    "attention_5x33x37x24x40_bf16",
    "attention_causal_3x37x131x40x24_f32",
    "attention_causal_2x65x65x32x32_f16",
};

INSTANTIATE_TEST_SUITE_P(Families, TimedChecks, testing::ValuesIn(kProblems), [](const auto &info) {
  std::string name = info.param;
  return name;
});

} // namespace
} // namespace kiln::families
