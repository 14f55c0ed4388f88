// Every planted lie is rejected, and named rightly by the first pass that sees it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/test_util.h"

namespace kiln::measure::verify {

namespace {

using Lie = std::function<void(Data &)>;

// The verdict of the first pass that is not ok.
Verdict firstFailure(const Types &types, const Size &size, uint64_t seed, const Lie &lie) {
  Contraction contraction = makeContraction(types, size);
  for (Pass pass : passesOf(contraction)) {
    Data data(contraction, pass, seed);
    lie(data);
    Verdict verdict = data.check();
    if (!verdict.ok())
      return verdict;
  }
  return {};
}

constexpr Size kSizes[] = {{1, 33, 65, 127}, {3, 48, 48, 48}, {1, 40, 48, 256}, {1, 96, 64, 61}};

void expectNamed(const Lie &lie, Cause cause, std::span<const Types> allTypes = kAllTypes,
                 std::span<const Size> sizes = kSizes) {
  for (const Types &types : allTypes) {
    for (const Size &size : sizes) {
      for (uint64_t seed : {1, 2}) {
        Verdict verdict = firstFailure(types, size, seed, lie);
        EXPECT_STREQ(causeName(verdict.cause), causeName(cause))
            << sizeText(types, size) << " seed " << seed << ": " << verdict.explanation << "\n"
            << verdict.method << "\n"
            << verdict.tilePattern << "\n"
            << verdict.ulpHistogram;
      }
    }
  }
}

bool isFloatType(const Types &types) {
  return !isInteger(types.operands);
}

std::vector<Types> typesWhere(const std::function<bool(const Types &)> &wanted) {
  std::vector<Types> types;
  for (const Types &each : kAllTypes)
    if (wanted(each))
      types.push_back(each);
  return types;
}

TEST(LiesTest, TruthPasses) {
  for (const Types &types : kAllTypes)
    for (const Size &size : kSizes)
      EXPECT_TRUE(firstFailure(types, size, 1, [](Data &data) { data.computeRightly(); }).ok())
          << sizeText(types, size);
}

TEST(LiesTest, WrongElement) {
  expectNamed(
      [](Data &data) {
        data.computeRightly();
        data.setOutput(0, 17, 30, data.output(0, 17, 30) + 1);
      },
      Cause::WrongElements);
}

TEST(LiesTest, WrongElementIsTold) {
  Data data(makeContraction(kAllTypes[0], {3, 33, 65, 127}), Pass::Sums, 1);
  data.computeRightly();
  double right = data.output(2, 17, 30);
  data.setOutput(2, 17, 30, right + 2);
  Verdict verdict = data.check();
  EXPECT_EQ(verdict.wrong, 1u);
  EXPECT_EQ(verdict.total, 3u * 33 * 65);
  ASSERT_EQ(verdict.examples.size(), 1u);
  EXPECT_EQ(verdict.examples[0].index, (std::vector<uint64_t>{2, 17, 30}));
  EXPECT_EQ(verdict.examples[0].expected, right);
  EXPECT_EQ(verdict.examples[0].actual, right + 2);
  EXPECT_EQ(verdict.examples[0].ulps, ulpsBetween(ElementType::F32, right, right + 2));
  EXPECT_NE(verdict.explanation.find("[2, 17, 30]"), std::string::npos) << verdict.explanation;
  EXPECT_EQ(std::count(verdict.tilePattern.begin(), verdict.tilePattern.end(), 'x'), 1);
  EXPECT_EQ(std::count(verdict.tilePattern.begin(), verdict.tilePattern.end(), '\n'), 15);
}

TEST(LiesTest, SmallestErrorIsSeen) {
  for (const Types &types : typesWhere(isFloatType)) {
    Data data(makeContraction(types, {1, 40, 40, 64}), Pass::Sums, 1);
    data.computeRightly();
    double right = data.output(0, 3, 4);
    double half = right + 0.5; // no integer
    if (roundTo(types.result, half) == half) {
      data.setOutput(0, 3, 4, half);
      EXPECT_EQ(data.check().wrong, 1u) << types.name;
    }
  }
}

TEST(LiesTest, TransposedTile) {
  for (int64_t tile : {4, 8, 12, 16}) {
    expectNamed(
        [&](Data &data) {
          data.compute([&](int64_t b, int64_t i, int64_t j) {
            int64_t top = i / tile * tile, left = j / tile * tile;
            bool inTile = top == tile && left == 0 && top + tile <= data.contraction.m;
            return inTile ? data.exact(b, top + j - left, left + i - top) : data.exact(b, i, j);
          });
        },
        Cause::TransposedTile);
  }
}

TEST(LiesTest, DroppedReductionTail) {
  for (int64_t dropped : {1, 5, 16, 33}) {
    expectNamed(
        [&](Data &data) {
          data.compute([&](int64_t b, int64_t i, int64_t j) {
            double sum = 0;
            for (int64_t p = 0; p < data.contraction.k - dropped; ++p)
              sum += data.left(b, i, p) * data.right(b, p, j);
            return sum;
          });
        },
        Cause::DroppedTail);
  }
}

// Few sums, and longer ones than a narrow accumulator can count: whatever is missing at the end is missing in all of
// them, and no sum is as it would be without.
TEST(LiesTest, DroppedTailOfFewLongSums) {
  std::vector<Types> types = typesWhere([](const Types &each) {
    return !isFloatType(each) || each.accumulator == ElementType::F16 || each.accumulator == ElementType::BF16;
  });
  for (const Types &each : types)
    for (auto [m, n] : {std::pair(1, 1), std::pair(1, 3), std::pair(2, 1), std::pair(1, 40)})
      for (int64_t k : {129, 700, 1000, 4097, 32769})
        for (int64_t dropped : {1, 2, 5, 33})
          for (uint64_t seed = 1; seed <= (k > 5000 ? 3U : 12U); ++seed) {
            auto lie = [&](Data &data) {
              data.compute([&](int64_t b, int64_t i, int64_t j) {
                double sum = 0;
                for (int64_t p = 0; p < data.contraction.k - dropped; ++p)
                  sum += data.left(b, i, p) * data.right(b, p, j);
                return sum;
              });
            };
            EXPECT_FALSE(firstFailure(each, {1, m, n, k}, seed, lie).ok())
                << sizeText(each, {1, m, n, k}) << " without " << dropped << ", seed " << seed;
          }
}

// Also at the end of each slice, and anywhere between where there are as many sums as positions to one that takes part.
TEST(LiesTest, DroppedPositionsOfLongSums) {
  for (const Types &each : typesWhere([](const Types &each) { return exactBits(each.accumulator) <= 11; }))
    for (auto [m, n] : {std::pair(1, 64), std::pair(64, 1)})
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        Contraction contraction = makeContraction(each, {1, m, n, 4100});
        contraction.slice = 1025;
        Data data(contraction, Pass::Sums, seed);
        for (int64_t position : {1024, 2049, 3074, 4099, 0, 1025, 600, 1500, 2500, 3333}) {
          data.compute([&](int64_t b, int64_t i, int64_t j) {
            return data.exact(b, i, j) - data.left(b, i, position) * data.right(b, position, j);
          });
          EXPECT_FALSE(data.check().ok())
              << sizeText(each, {1, m, n, 4100}) << " without " << position << " seed " << seed;
        }
      }
}

TEST(LiesTest, DroppedRowsAndColumns) {
  for (auto [rows, columns] : {std::pair(1, 0), std::pair(0, 1), std::pair(9, 0), std::pair(0, 17), std::pair(3, 5)}) {
    for (bool zeroed : {false, true}) {
      expectNamed(
          [&](Data &data) {
            const Contraction &c = data.contraction;
            for (int64_t b = 0; b < c.batch; ++b)
              for (int64_t i = 0; i < c.m; ++i)
                for (int64_t j = 0; j < c.n; ++j)
                  if (i < c.m - rows && j < c.n - columns)
                    data.setOutput(b, i, j, data.exact(b, i, j));
                  else if (zeroed)
                    data.setOutput(b, i, j, 0);
          },
          Cause::DroppedTail);
    }
  }
}

TEST(LiesTest, NotZeroed) {
  expectNamed(
      [](Data &data) {
        data.compute([&](int64_t b, int64_t i, int64_t j) { return data.exact(b, i, j) + data.output(b, i, j); });
      },
      Cause::NotZeroed);
}

TEST(LiesTest, NarrowedInputs) {
  for (const FloatFormat &format : {kFormatTF32, kFormatBF16}) {
    for (Rounding rounding : {Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero}) {
      for (int sides : {1, 2, 3}) {
        std::vector<Types> types = typesWhere([&](const Types &each) {
          return isFloatType(each) && std::min(exactBits(each.operands), exactBits(each.result)) > format.significand;
        });
        ASSERT_FALSE(types.empty());
        auto lie = [&](Data &data) {
          data.compute([&](int64_t b, int64_t i, int64_t j) {
            double sum = 0;
            for (int64_t p = 0; p < data.contraction.k; ++p) {
              double left = data.left(b, i, p), right = data.right(b, p, j);
              if (sides & 1)
                left = roundTo(format, left, rounding);
              if (sides & 2)
                right = roundTo(format, right, rounding);
              sum += left * right;
            }
            return sum;
          });
        };
        expectNamed(lie, Cause::NarrowedInputs, types, std::span(kSizes).first(2));
      }
    }
  }
}

TEST(LiesTest, NarrowAccumulator) {
  for (const FloatFormat &format : {kFormatF32, kFormatF16, kFormatBF16}) {
    for (int64_t lanes : {1, 8}) {
      for (bool fused : {true, false}) {
        auto lie = [&](Data &data) {
          data.compute([&](int64_t b, int64_t i, int64_t j) {
            std::vector<double> sums(lanes, 0.0);
            for (int64_t p = 0; p < data.contraction.k; ++p) {
              double product = data.left(b, i, p) * data.right(b, p, j);
              double &sum = sums[p % lanes];
              sum = roundTo(format, sum + (fused ? product : roundTo(format, product)));
            }
            for (int64_t lane = 1; lane < lanes; ++lane)
              sums[0] = roundTo(format, sums[0] + sums[lane]);
            return sums[0];
          });
        };
        std::vector<Types> types = typesWhere([&](const Types &each) {
          // Sums that leave f32 leave f16's range too, and are not numbers then.
          int least = each.accumulator == ElementType::F64 ? kFormatF32.significand : 0;
          return isFloatType(each) && exactBits(each.accumulator) > format.significand && format.significand >= least;
        });
        expectNamed(lie, Cause::NarrowAccumulator, types, std::span(kSizes).first(3));
      }
    }
  }
}

// Of integers: wrapped around, or cut off at the ends of the type, after each step or after the last.
TEST(LiesTest, NarrowIntegerAccumulator) {
  enum class Beyond { Wraps, StopsEachTime, StopsOnce };
  for (ElementType narrow : {ElementType::I8, ElementType::I16})
    for (Beyond beyond : {Beyond::Wraps, Beyond::StopsEachTime, Beyond::StopsOnce}) {
      auto keep = [&](double sum) {
        if (beyond == Beyond::Wraps)
          return roundTo(narrow, sum);
        return std::clamp(sum, double(smallestInteger(narrow)), double(largestInteger(narrow)));
      };
      auto lie = [&](Data &data) {
        data.compute([&](int64_t b, int64_t i, int64_t j) {
          double sum = 0;
          for (int64_t p = 0; p < data.contraction.k; ++p) {
            sum += data.left(b, i, p) * data.right(b, p, j);
            sum = beyond == Beyond::StopsOnce ? sum : keep(sum);
          }
          return keep(sum);
        });
      };
      std::vector<Types> types = typesWhere(
          [&](const Types &each) { return !isFloatType(each) && exactBits(each.accumulator) > exactBits(narrow); });
      ASSERT_FALSE(types.empty());
      expectNamed(lie, Cause::NarrowAccumulator, types, std::span(kSizes).first(3));
    }
}

// An order that the explanation does not simulate: f16 within blocks of the reduction, f32 over them.
TEST(LiesTest, NarrowAccumulatorInBlocks) {
  for (int64_t block : {16, 32}) {
    auto lie = [&](Data &data) {
      data.compute([&](int64_t b, int64_t i, int64_t j) {
        double total = 0;
        for (int64_t begin = 0; begin < data.contraction.k; begin += block) {
          double sum = 0;
          for (int64_t p = begin; p < std::min(begin + block, data.contraction.k); ++p)
            sum = roundTo(kFormatF16, sum + data.left(b, i, p) * data.right(b, p, j));
          total += sum;
        }
        return total;
      });
    };
    // A few products of f8 numbers have an exact sum in f16.
    std::vector<Types> types = typesWhere([](const Types &each) {
      return each.accumulator == ElementType::F32 && each.operands != ElementType::F8E4M3FN;
    });
    expectNamed(lie, Cause::NarrowAccumulator, types);
  }
}

TEST(LiesTest, SwappedOperand) {
  for (bool left : {true, false}) {
    auto lie = [&](Data &data) {
      data.compute([&](int64_t b, int64_t i, int64_t j) {
        double sum = 0;
        for (int64_t p = 0; p < data.contraction.k; ++p)
          sum += left ? data.left(b, p, i) * data.right(b, p, j) : data.left(b, i, p) * data.right(b, j, p);
        return sum;
      });
    };
    constexpr Size square[] = {{1, 48, 48, 48}, {3, 33, 33, 33}, {1, 64, 64, 64}};
    expectNamed(lie, Cause::SwappedLayout, kAllTypes, square);
  }
}

TEST(LiesTest, SwappedOutput) {
  constexpr Size square[] = {{1, 48, 48, 127}, {3, 33, 33, 10}, {1, 64, 64, 64}};
  auto lie = [](Data &data) { data.compute([&](int64_t b, int64_t i, int64_t j) { return data.exact(b, j, i); }); };
  expectNamed(lie, Cause::SwappedLayout, kAllTypes, square);
}

// Without equal dimensions: the memory is read as if it were the other way round.
TEST(LiesTest, SwappedLayoutOfOblongMatrices) {
  auto lie = [](Data &data) {
    const Contraction &c = data.contraction;
    Data other = data;
    other.contraction.rhsLayout = Layout::columnMajor(c.k, c.n);
    data.compute([&](int64_t b, int64_t i, int64_t j) { return other.exact(b, i, j); });
  };
  expectNamed(lie, Cause::SwappedLayout);
}

TEST(LiesTest, NotANumber) {
  for (bool all : {true, false}) {
    auto lie = [&](Data &data) {
      data.computeRightly();
      double nan = std::numeric_limits<double>::quiet_NaN();
      if (all)
        data.compute([&](int64_t, int64_t, int64_t) { return nan; });
      else
        data.setOutput(0, 5, 7, nan);
    };
    expectNamed(lie, Cause::NotANumber, typesWhere(isFloatType));
  }
}

TEST(LiesTest, NothingWritten) {
  expectNamed([](Data &) {}, Cause::NothingWritten);
}

TEST(LiesTest, PartNeverWritten) {
  auto lie = [](Data &data) {
    Data untouched = data;
    data.computeRightly();
    for (int64_t i = 8; i < 16; ++i)
      for (int64_t j = 16; j < 32; ++j)
        data.setOutput(0, i, j, untouched.output(0, i, j));
  };
  expectNamed(lie, Cause::NothingWritten);
}

TEST(LiesTest, OneElement) {
  constexpr Size one[] = {{1, 1, 1, 1}};
  expectNamed([](Data &) {}, Cause::NothingWritten, kAllTypes, one);
  auto added = [](Data &data) {
    data.compute([&](int64_t b, int64_t i, int64_t j) { return data.exact(b, i, j) + data.output(b, i, j); });
  };
  expectNamed(added, Cause::NotZeroed, kAllTypes, one);
  for (const Types &types : kAllTypes)
    EXPECT_FALSE(firstFailure(types, one[0], 1, [](Data &data) {
                   data.computeRightly();
                   data.setOutput(0, 0, 0, data.output(0, 0, 0) + 1);
                 }).ok());
}

TEST(LiesTest, AllZeros) {
  for (const Types &types : kAllTypes) {
    Verdict verdict =
        firstFailure(types, {1, 33, 65, 127}, 1, [](Data &data) { std::fill(data.out.begin(), data.out.end(), 0); });
    EXPECT_EQ(verdict.cause, Cause::Unknown);
    EXPECT_NE(verdict.explanation.find("all zero"), std::string::npos) << verdict.explanation;
  }
}

// Where computing all candidates would take too long, the same is found from a sample.
TEST(LiesTest, SampledExplanation) {
  CheckOptions options;
  options.explainWork = 200'000;
  Data data(makeContraction(kAllTypes[0], {2, 200, 300, 100}), Pass::Sums, 1);
  data.compute([&](int64_t b, int64_t i, int64_t j) { return data.exact(b, i, j) + data.output(b, i, j); });
  Verdict verdict = data.check(options);
  EXPECT_EQ(verdict.cause, Cause::NotZeroed);
  EXPECT_EQ(verdict.wrong, verdict.total);
  EXPECT_NE(verdict.explanation.find("about 120000 of 120000"), std::string::npos) << verdict.explanation;

  data.computeRightly();
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 150; i < 200; ++i)
      for (int64_t j = 0; j < 300; ++j)
        data.setOutput(b, i, j, 0);
  verdict = data.check(options);
  EXPECT_EQ(verdict.cause, Cause::DroppedTail) << verdict.explanation;
  EXPECT_NEAR(double(verdict.wrong), 30000.0, 600.0);
  EXPECT_NE(verdict.explanation.find("rows from 150 on"), std::string::npos) << verdict.explanation;
}

// Errors that cancel in every row and in every column, so that sums over them show nothing.
TEST(LiesTest, ErrorsThatCancel) {
  for (const Types &types : kAllTypes) {
    for (int64_t apart : {1, 8, 16}) {
      Data data(makeContraction(types, {2, 20, 21, 30}), Pass::Sums, 1);
      data.computeRightly();
      auto add = [&](int64_t i, int64_t j, double error) { data.setOutput(1, i, j, data.output(1, i, j) + error); };
      add(3, 4, 1);
      add(3, 4 + apart, -1);
      add(3 + apart, 4, -1);
      add(3 + apart, 4 + apart, 1);
      Verdict verdict = data.check();
      EXPECT_EQ(verdict.wrong, 4u) << types.name;
      EXPECT_EQ(verdict.cause, Cause::WrongElements) << types.name << ": " << verdict.explanation;
    }
  }
}

// Thousands of places, signs and sizes of one error: none escapes, and each is found where it is.
TEST(LiesTest, SingleErrorsNeverEscape) {
  for (const Types &types : kAllTypes) {
    for (Pass pass : passesOf(makeContraction(types, {1, 1, 1, 1}))) {
      Data data(makeContraction(types, {2, 13, 21, 9}), pass, 5);
      data.computeRightly();
      for (uint64_t trial = 0; trial < 400; ++trial) {
        uint64_t bits = randomBits(99, trial);
        auto b = static_cast<int64_t>(bits % 2), i = static_cast<int64_t>(bits / 2 % 13),
             j = static_cast<int64_t>(bits / 32 % 21);
        double right = data.output(b, i, j);
        double wrong = roundTo(types.result, right + (bits & 0x10000 ? 1 : -1) * std::exp2(double(bits >> 20 & 7)));
        if (wrong == right) // less than half of the last place
          continue;
        data.setOutput(b, i, j, wrong);
        data.seed = trial;
        Verdict verdict = data.check();
        ASSERT_EQ(verdict.wrong, 1u) << types.name << " trial " << trial;
        ASSERT_EQ(verdict.examples[0].index, (std::vector<uint64_t>{uint64_t(b), uint64_t(i), uint64_t(j)}));
        data.setOutput(b, i, j, right);
      }
      ASSERT_TRUE(data.check().ok());
    }
  }
}

} // namespace

} // namespace kiln::measure::verify
