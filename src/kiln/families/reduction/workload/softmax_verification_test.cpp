// Right results of softmax pass, and each mistake is rejected under its name.
#include "kiln/families/reduction/workload/softmax_verification.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>

#include "kiln/families/reduction/workload/reduction_verification.h"
#include "kiln/families/reduction/workload/row_trial.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {
namespace {

using measure::verify::Cause;

constexpr const char *kTypes[] = {"f32", "f16", "bf16"};

// Computes each row in f32 with a function of the row and the number of columns that take part in the sum.
void fill(RowTrial &trial, const std::function<std::vector<float>(const std::vector<double> &)> &softmax) {
  for (uint64_t r = 0; r < trial.spec().rows; ++r) {
    std::vector<float> results = softmax(trial.row(r));
    for (uint64_t c = 0; c < results.size(); ++c)
      trial.set(r * trial.spec().columns + c, results[c]);
  }
}

std::vector<float> exponentials(const std::vector<double> &row, double offset) {
  std::vector<float> values;
  for (double element : row)
    values.push_back(std::exp(static_cast<float>(element - offset)));
  return values;
}

std::vector<float> divided(std::vector<float> values, size_t columns) {
  float sum = 0;
  for (size_t c = 0; c < columns; ++c)
    sum += values[c];
  for (float &value : values)
    value /= sum;
  return values;
}

TEST(SoftmaxVerification, TheReferencePasses) {
  for (const char *shape : {"1x1", "3x2", "64x33", "37x1001", "2x50001"})
    for (const char *type : kTypes)
      for (size_t pass = 0; pass < 2; ++pass) {
        RowTrial trial(fmt::format("softmax_{}_{}", shape, type), pass);
        trial.compute();
        measure::verify::Verdict verdict = trial.check();
        EXPECT_TRUE(verdict.ok()) << shape << " " << type << ", pass " << pass << ": " << verdict.explanation;
      }
}

TEST(SoftmaxVerification, TheMaximumHasToBeSubtracted) {
  for (const char *type : kTypes) {
    std::string name = fmt::format("softmax_37x1001_{}", type);
    auto naive = [](const std::vector<double> &row) { return divided(exponentials(row, 0), row.size()); };
    // Small inputs do not show it.
    RowTrial small(name), large(name, 1);
    fill(small, naive);
    EXPECT_TRUE(small.check().ok()) << small.check().explanation;
    fill(large, naive);
    large.expectCause(Cause::NotANumber, "without the row's maximum subtracted");
  }
}

TEST(SoftmaxVerification, DroppedColumns) {
  for (const char *type : kTypes) {
    RowTrial sums(fmt::format("softmax_37x1001_{}", type)), unwritten = sums;
    fill(sums, [](const std::vector<double> &row) {
      return divided(exponentials(row, *std::ranges::max_element(row)), 992);
    });
    if (std::string_view(type) == "f32")
      sums.expectCause(Cause::DroppedTail, "the sum of the first 992 of 1001 columns");
    else
      EXPECT_FALSE(sums.check().ok());
    RowTrial before = unwritten;
    unwritten.compute();
    for (uint64_t r = 0; r < 37; ++r)
      for (uint64_t c = 992; c < 1001; ++c)
        unwritten.set(r * 1001 + c, before.get(r * 1001 + c));
    unwritten.expectCause(Cause::DroppedTail, "the last 9 of 1001 columns are as they were");
  }
}

// As a library does that keeps them in the result's memory until their sum is known.
TEST(SoftmaxVerification, NarrowExponentials) {
  for (const char *type : {"f16", "bf16"})
    for (const char *shape : {"37x1001", "64x8"}) {
      RowTrial trial(fmt::format("softmax_{}_{}", shape, type));
      hal::ElementType result = trial.spec().result;
      fill(trial, [result](const std::vector<double> &row) {
        std::vector<float> values = exponentials(row, *std::ranges::max_element(row));
        float sum = std::accumulate(values.begin(), values.end(), 0.0F);
        for (float &value : values)
          value = static_cast<float>(measure::verify::roundTo(result, value)) / sum;
        return values;
      });
      trial.expectCause(Cause::NarrowAccumulator, "before they were divided");
    }
}

TEST(SoftmaxVerification, NotDivided) {
  RowTrial trial("softmax_37x1001_f32");
  fill(trial, [](const std::vector<double> &row) { return exponentials(row, *std::ranges::max_element(row)); });
  trial.expectCause(Cause::Unknown, "not divided by their sum");
}

float narrowSumOf(const std::vector<float> &values, const measure::verify::FloatFormat &format, size_t lanes) {
  std::vector<double> numbers(values.begin(), values.end());
  return static_cast<float>(narrowSum(format, numbers, lanes));
}

// Of short rows any sum shows it. What f32 may lose in long ones is as much as f16 loses, and only exponentials of
// which the sum is exact in f32 tell them apart.
TEST(SoftmaxVerification, NarrowAccumulators) {
  for (const char *type : {"f32", "f16"})
    for (size_t lanes : {1U, 16U, 64U, 256U}) {
      auto narrow = [&](const std::vector<double> &row) {
        std::vector<float> values = exponentials(row, *std::ranges::max_element(row));
        float sum = narrowSumOf(values, measure::verify::kFormatF16, lanes);
        for (float &value : values)
          value /= sum;
        return values;
      };
      RowTrial any(fmt::format("softmax_65x65_{}", type)), exact(fmt::format("softmax_8x20001_{}", type), 1);
      fill(any, narrow);
      any.expectCause(Cause::NarrowAccumulator, "sums in f16");
      fill(exact, narrow);
      exact.expectCause(Cause::NarrowAccumulator, "sums in f16");
    }
}

TEST(SoftmaxVerification, NarrowedInputs) {
  RowTrial trial("softmax_37x1001_f32");
  fill(trial, [](const std::vector<double> &row) {
    std::vector<double> rounded;
    for (double element : row)
      rounded.push_back(roundTo(measure::verify::kFormatTF32, element));
    return divided(exponentials(rounded, *std::ranges::max_element(rounded)), row.size());
  });
  trial.expectCause(Cause::NarrowedInputs, "tf32");
}

TEST(SoftmaxVerification, OtherMistakes) {
  RowTrial before("softmax_37x1001_f16"), row = before, added = before;
  before.expectCause(Cause::NothingWritten);
  row.compute();
  for (uint64_t c = 0; c < 1001; ++c)
    row.set(11 * 1001 + c, before.get(11 * 1001 + c));
  row.expectCause(Cause::NothingWritten, "they are as they were before the run");
  added.compute();
  for (uint64_t i = 0; i < added.count(); ++i)
    added.set(i, added.get(i) + before.get(i));
  added.expectCause(Cause::NotZeroed);
}

} // namespace
} // namespace kiln::families
