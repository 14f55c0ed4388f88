// Right results pass, and each mistake is rejected under its name.
#include "kiln/families/transpose/workload/transpose_verification.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "kiln/families/transpose/workload/transpose_family.h"
#include "kiln/measure/problem_trial.h"
#include "kiln/measure/verify/narrowing.h"

namespace kiln::families {
namespace {

using measure::verify::Cause;

class Trial : public measure::ProblemTrial {
public:
  explicit Trial(const std::string &name, size_t pass = 0)
      : measure::ProblemTrial(std::make_unique<TransposeProblem>(*TransposeSpec::parse(name)), pass) {}
};

// The elements of another permutation's result, in the memory of this one's.
void computeAs(Trial &trial, const std::string &other) {
  TransposedOrder order(*TransposeSpec::parse(other));
  for (uint64_t i = 0; i < trial.count(); ++i)
    trial.set(i, trial.input(0, order.source(i)));
}

TEST(TransposeVerification, TheReferencePasses) {
  for (const char *shape :
       {"10_1x1", "10_33x17", "10_1000x1001", "021_3x17x33", "120_5x6x7", "0213_2x3x4x5", "3210_5x4x3x33"})
    for (const char *type : {"f32", "f16", "bf16", "i8", "i32"}) {
      Trial first(fmt::format("transpose_{}_{}", shape, type));
      for (size_t pass = 0; pass < first.passes(); ++pass) {
        Trial trial(fmt::format("transpose_{}_{}", shape, type), pass);
        trial.compute();
        EXPECT_TRUE(trial.check().ok()) << shape << " " << type << ": " << trial.check().explanation;
      }
    }
}

// One bit of one element, also where it is a sign of zero or a bit of NaN.
TEST(TransposeVerification, EachBitCounts) {
  for (const char *type : {"f32", "f16", "bf16"}) {
    Trial right(fmt::format("transpose_10_33x17_{}", type), 1);
    right.compute();
    for (uint64_t element : {0, 7, 200, 560}) {
      Trial trial = right;
      trial.outputBytes()[element * trial.outputSize()] ^= 1;
      EXPECT_FALSE(trial.check().ok()) << type << " " << element;
    }
  }
}

TEST(TransposeVerification, OtherOrders) {
  for (const char *type : {"f32", "bf16", "i8"}) {
    Trial same(fmt::format("transpose_10_65x65_{}", type)), lying(fmt::format("transpose_10_33x65_{}", type)),
        other(fmt::format("transpose_0213_3x9x9x5_{}", type));
    for (Trial *trial : {&same, &lying})
      for (uint64_t i = 0; i < trial->count(); ++i)
        trial->set(i, trial->input(0, i));
    same.expectCause(Cause::SwappedLayout, "not transposed");
    lying.expectCause(Cause::SwappedLayout, "not transposed");
    computeAs(other, fmt::format("transpose_2013_3x9x9x5_{}", type));
    other.expectCause(Cause::SwappedLayout, "the permutation 2013");
  }
}

TEST(TransposeVerification, TilesTransposedInThemselves) {
  Trial trial("transpose_10_64x64_f32");
  for (uint64_t row = 0; row < 64; ++row)
    for (uint64_t column = 0; column < 64; ++column) {
      // Tiles are where they belong, and each holds what the input does.
      uint64_t fromRow = column / 8 * 8 + row % 8, fromColumn = row / 8 * 8 + column % 8;
      trial.set(row * 64 + column, trial.input(0, fromRow * 64 + fromColumn));
    }
  trial.expectCause(Cause::TransposedTile, "tiles of 8x8");
}

TEST(TransposeVerification, NarrowedElements) {
  for (const measure::verify::Narrowing &narrowing : measure::verify::narrowings(hal::ElementType::F32)) {
    if (std::string_view(narrowing.format.name) == "f16")
      continue; // Integers of 24 bits are infinite there.
    Trial trial("transpose_10_33x65_f32");
    trial.compute();
    for (uint64_t i = 0; i < trial.count(); ++i)
      trial.set(i, narrowing.of(trial.get(i)));
    trial.expectCause(Cause::NarrowedInputs, narrowing.format.name);
  }
}

TEST(TransposeVerification, OtherMistakes) {
  for (size_t pass = 0; pass < 2; ++pass) {
    Trial before("transpose_10_33x65_f16", pass), tail = before;
    before.expectCause(Cause::NothingWritten);
    tail.compute();
    for (uint64_t row = 0; row < 65; ++row)
      for (uint64_t column = 32; column < 33; ++column)
        std::memcpy(tail.outputBytes().data() + (row * 33 + column) * 2,
                    before.outputBytes().data() + (row * 33 + column) * 2, 2);
    tail.expectCause(Cause::DroppedTail, "the last 1 of 33 columns are as they were");
  }
  for (const char *type : {"f32", "i8"}) { // Integers wrap around.
    Trial sum(fmt::format("transpose_10_33x65_{}", type)), old = sum;
    sum.compute();
    for (uint64_t i = 0; i < sum.count(); ++i)
      sum.set(i, measure::verify::roundTo(sum.outputType(), sum.get(i) + old.get(i)));
    sum.expectCause(Cause::NotZeroed);
  }
}

} // namespace
} // namespace kiln::families
