// Right reductions pass, and each mistake is rejected under its name.
#include "kiln/families/reduction/workload/reduction_verification.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <tuple>

#include "kiln/families/reduction/workload/row_trial.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {
namespace {

using measure::verify::Cause;
using measure::verify::roundTo;

constexpr const char *kSums[] = {"f32_f32", "f16_f16", "f16_f32", "bf16_bf16", "bf16_f32"};

TEST(ReductionVerification, TheReferencePasses) {
  for (const char *shape : {"1x1", "3x2", "64x33", "37x1001", "2x100003", "1x1001x37", "3x129x33", "5x1x2"})
    for (const char *op : {"sum", "mean", "max", "min"})
      for (const char *types : {"f32_f32", "f16_f16", "f16_f32", "bf16_bf16", "bf16_f32", "i8_i32", "i8_i8"}) {
        std::string name = fmt::format("reduction_{}_{}_{}", op, shape, types);
        Result<RowSpec> spec = RowSpec::parse("reduction", name);
        if (!spec.ok())
          continue;
        for (size_t pass = 0; pass < rowPasses(*spec).size(); ++pass) {
          RowTrial trial(name, pass);
          trial.compute();
          measure::verify::Verdict verdict = trial.check();
          EXPECT_TRUE(verdict.ok()) << name << ", pass " << pass << ": " << verdict.explanation;
        }
      }
}

// Sums are exact in f32 in any order, and beyond narrower accumulators; results have their type.
TEST(ReductionVerification, InputsAreAsLargeAsTheAccumulatorAllows) {
  for (const char *types : kSums)
    for (uint64_t columns : {100U, 1001U, 4096U, 100000U}) {
      RowTrial trial(fmt::format("reduction_sum_8x{}_{}", columns, types));
      double largestPart = 0;
      for (uint64_t r = 0; r < 8; ++r) {
        double part = 0, magnitudes = 0;
        for (double element : trial.row(r)) {
          EXPECT_EQ(element, std::round(element));
          part += element;
          magnitudes += std::fabs(element);
          largestPart = std::max(largestPart, std::fabs(part));
        }
        EXPECT_LE(magnitudes, 0x1p24);
        EXPECT_EQ(part, roundTo(trial.spec().result, part)) << types;
      }
      EXPECT_GT(largestPart, 2048) << types << " " << columns;
    }
}

TEST(ReductionVerification, OneUnitInOneRowIsFound) {
  for (const char *name :
       {"reduction_sum_37x1001_f32_f32", "reduction_max_37x1001_f16_f16", "reduction_sum_37x100_i8_i32",
        "reduction_min_37x100_i8_i8", "reduction_sum_37x1001_bf16_bf16"}) {
    RowTrial trial(name);
    trial.compute();
    double right = trial.get(36);
    double unit = std::max(2 * measure::verify::halfSpacing(trial.spec().result, right),
                           measure::verify::isInteger(trial.spec().result) ? 1.0 : 0.0);
    trial.set(36, right - unit);
    trial.expectCause(Cause::WrongElements, "1 of 37 elements are wrong, the first at [36]");
  }
}

// What is said of rows holds along any dimension.
TEST(ReductionVerification, AlongOtherDimensions) {
  RowTrial sums("reduction_sum_3x1001x33_f16_f32"), unit("reduction_max_3x129x33_i8_i8"),
      start = unit, swapped("reduction_sum_3x33x33_f32_f32"), outer("reduction_mean_33x33x3_f32_f32"), before = sums;
  for (uint64_t r = 0; r < sums.count(); ++r)
    sums.set(r, narrowSum(measure::verify::kFormatF16, sums.row(r), 1));
  sums.expectCause(Cause::NarrowAccumulator, "sums in f16");
  unit.compute();
  unit.set(70, unit.get(70) - 1);
  unit.expectCause(Cause::WrongElements, "1 of 99 elements are wrong, the first at [2, 4]");
  start.compute();
  for (uint64_t r = 0; r < start.count(); ++r)
    start.set(r, std::max(0.0, start.get(r)));
  start.expectCause(Cause::WrongStart, "a zero");
  for (auto [trial, inner, places] : {std::tuple(&swapped, 33, 99), std::tuple(&outer, 3, 99)})
    for (int at = 0; at < places; ++at) {
      double sum = 0;
      for (int c = 0; c < 33; ++c) // the two dimensions of 33 in the other order
        sum += trial->input(0, inner == 33 ? (at / 33 * 33 + at % 33) * 33 + c : (c * 33 + at / 3) * 3 + at % 3);
      trial->set(at, inner == 33 ? sum : static_cast<float>(sum) / 33);
    }
  swapped.expectCause(Cause::SwappedLayout);
  outer.expectCause(Cause::SwappedLayout);
  before.expectCause(Cause::NothingWritten);
}

TEST(ReductionVerification, NothingWrittenAndRowsLeftOut) {
  for (const char *name :
       {"reduction_sum_37x1001_f32_f32", "reduction_max_37x1001_bf16_bf16", "reduction_sum_37x100_i8_i32"}) {
    RowTrial nothing(name), tail(name);
    nothing.expectCause(Cause::NothingWritten, "the output is as it was before the run");
    tail.compute();
    for (uint64_t r = 32; r < 37; ++r)
      tail.set(r, nothing.get(r));
    tail.expectCause(Cause::DroppedTail, "the last 5 elements are as they were");
  }
}

// Of a single row one pass or another shows that the last column is missing, whatever the seed.
TEST(ReductionVerification, ADroppedColumnOfOneRow) {
  for (const char *op : {"sum", "mean", "max", "min"})
    for (const char *types : {"f32_f32", "f16_f16", "f16_f32", "bf16_bf16", "bf16_f32", "i8_i8", "i8_i32"})
      for (uint64_t columns : {100U, 1001U, 4096U}) {
        std::string name = fmt::format("reduction_{}_1x{}_{}", op, columns, types);
        Result<RowSpec> spec = RowSpec::parse("reduction", name);
        if (!spec.ok())
          continue;
        for (uint64_t seed = 1; seed <= 100; ++seed) {
          bool rejected = false;
          for (size_t pass = 0; pass < rowPasses(*spec).size(); ++pass) {
            RowTrial trial(name, pass, seed);
            std::vector<double> row = trial.row(0);
            row.pop_back();
            double value = spec->op == RowOp::Max   ? *std::ranges::max_element(row)
                           : spec->op == RowOp::Min ? *std::ranges::min_element(row)
                                                    : std::accumulate(row.begin(), row.end(), 0.0);
            trial.set(0, spec->op == RowOp::Mean ? value / double(columns) : value);
            rejected |= !trial.check().ok();
          }
          EXPECT_TRUE(rejected) << name << " seed " << seed;
        }
      }
}

TEST(ReductionVerification, DroppedColumns) {
  for (const char *op : {"sum", "mean", "max", "min"})
    for (const char *types : {"f32_f32", "f16_f16", "i8_i8", "i8_i32"})
      for (uint64_t kept : {1000U, 992U, 1001U - 1001U % 256}) {
        std::string name = fmt::format("reduction_{}_64x1001_{}", op, types);
        if (!RowSpec::parse("reduction", name).ok())
          continue;
        RowTrial trial(name);
        for (uint64_t r = 0; r < 64; ++r) {
          std::vector<double> row = trial.row(r);
          row.resize(kept);
          RowSpec spec = trial.spec();
          double value = reduceRow(spec, row).value;
          trial.set(r, value);
        }
        // What is missing of a maximum can be told, but not where it would have been.
        bool extremum = trial.spec().isExtremum();
        trial.expectCause(Cause::DroppedTail,
                          extremum ? "of 1001 columns" : fmt::format("first {} of 1001 columns", kept));
      }
}

TEST(ReductionVerification, OutputsThatAreAddedTo) {
  for (const char *types : kSums) {
    RowTrial trial(fmt::format("reduction_sum_64x1001_{}", types)), before = trial;
    trial.compute();
    for (uint64_t r = 0; r < 64; ++r)
      trial.set(r, trial.get(r) + before.get(r));
    trial.expectCause(Cause::NotZeroed, "added to what the output held before");
  }
}

TEST(ReductionVerification, ExtremaThatStartFromZero) {
  for (const char *name :
       {"reduction_max_64x1001_f32_f32", "reduction_min_64x1001_f16_f16", "reduction_max_64x100_i8_i8"}) {
    RowTrial trial(name);
    trial.compute();
    for (uint64_t r = 0; r < 64; ++r)
      trial.set(r, trial.spec().op == RowOp::Max ? std::max(0.0, trial.get(r)) : std::min(0.0, trial.get(r)));
    trial.expectCause(Cause::WrongStart, "starts from it");
  }
}

// Rows of nothing but infinities show them.
TEST(ReductionVerification, ExtremaThatStartFromTheLargestNumber) {
  for (const char *name : {"reduction_max_64x11_f32_f32", "reduction_min_64x11_f16_f16", "reduction_max_3x1_f32_f32"}) {
    RowTrial trial(name, 1);
    trial.compute();
    double largest = measure::verify::floatFormat(trial.spec().type)->largest;
    uint64_t changed = 0;
    for (uint64_t r = 0; r < trial.spec().rows; ++r)
      if (trial.get(r) == (trial.spec().op == RowOp::Max ? -INFINITY : INFINITY)) {
        trial.set(r, std::copysign(largest, trial.get(r)));
        ++changed;
      }
    ASSERT_GT(changed, 0U) << name;
    // A few wrong ones match anything by chance.
    trial.expectCause(changed >= std::min<uint64_t>(4, trial.spec().rows) ? Cause::WrongStart : Cause::NumberInstead);
  }
}

TEST(ReductionVerification, SubnormalNumbersThatAreFlushed) {
  RowTrial trial("reduction_max_64x3_bf16_bf16", 1);
  trial.compute();
  for (uint64_t r = 0; r < 64; ++r)
    if (std::fabs(trial.get(r)) < 0x1p-126)
      trial.set(r, 0);
  trial.expectCause(Cause::WrongElements, "below the smallest normal one of f32");
}

TEST(ReductionVerification, ExtremaThatStartFromWhatWasThere) {
  for (const char *name : {"reduction_max_64x1001_f32_f32", "reduction_min_64x1001_f16_f16"}) {
    RowTrial trial(name), before = trial;
    trial.compute();
    for (uint64_t r = 0; r < 64; ++r)
      trial.set(r, trial.spec().op == RowOp::Max ? std::max(before.get(r), trial.get(r))
                                                 : std::min(before.get(r), trial.get(r)));
    trial.expectCause(Cause::NotZeroed, "starts from what the output held");
  }
}

TEST(ReductionVerification, NarrowAccumulators) {
  for (const char *types : kSums)
    for (const measure::verify::FloatFormat &format : {measure::verify::kFormatF16, measure::verify::kFormatBF16})
      for (size_t lanes : {1U, 16U}) {
        RowTrial trial(fmt::format("reduction_sum_64x1001_{}", types));
        for (uint64_t r = 0; r < 64; ++r) {
          std::vector<double> row = trial.row(r), sums(lanes);
          for (size_t c = 0; c < row.size(); ++c)
            sums[c % lanes] = roundTo(format, sums[c % lanes] + row[c]);
          for (size_t half = lanes / 2; half > 0; half /= 2)
            for (size_t lane = 0; lane < half; ++lane)
              sums[lane] = roundTo(format, sums[lane] + sums[lane + half]);
          trial.set(r, sums[0]);
        }
        trial.expectCause(Cause::NarrowAccumulator, format.name);
      }
}

TEST(ReductionVerification, NarrowedInputs) {
  struct Case {
    const char *types;
    measure::verify::FloatFormat format;
  };
  for (const Case &test :
       {Case{"f32_f32", measure::verify::kFormatTF32}, Case{"f32_f32", measure::verify::kFormatBF16},
        Case{"f16_f16", measure::verify::kFormatBF16}, Case{"f16_f32", measure::verify::kFormatBF16}})
    for (const char *op : {"sum", "mean"}) {
      RowTrial trial(fmt::format("reduction_{}_64x1001_{}", op, test.types), 1);
      for (uint64_t r = 0; r < 64; ++r) {
        std::vector<double> row = trial.row(r);
        for (double &element : row)
          element = roundTo(test.format, element);
        trial.set(r, reduceRow(trial.spec(), row).value);
      }
      trial.expectCause(Cause::NarrowedInputs);
    }
}

// A sum where a mean was asked for.
TEST(ReductionVerification, MeansThatAreNotDivided) {
  RowTrial trial("reduction_mean_64x1001_f32_f32");
  for (uint64_t r = 0; r < 64; ++r) {
    std::vector<double> row = trial.row(r);
    trial.set(r, std::accumulate(row.begin(), row.end(), 0.0));
  }
  trial.expectCause(Cause::Unknown);
}

} // namespace
} // namespace kiln::families
