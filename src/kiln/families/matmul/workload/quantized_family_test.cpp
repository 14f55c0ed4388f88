#include "kiln/families/matmul/workload/quantized_family.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

#include "kiln/families/families.h"
#include "kiln/families/matmul/workload/quantized_inputs.h"
#include "kiln/measure/problem_trial.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {
namespace {

using measure::Problem;
using measure::ProblemTrial;
using measure::verify::Cause;

std::shared_ptr<Problem> parse(std::string_view name) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  Result<std::unique_ptr<Problem>> problem = registry.parse(name);
  EXPECT_TRUE(problem.ok()) << problem.status().toString();
  return *std::move(problem);
}

const QuantizedSpec &specOf(const Problem &problem) {
  return dynamic_cast<const QuantizedProblem &>(problem).spec();
}

// A problem's trial, and its operands as numbers without zero points taken into account.
struct Trial {
  std::shared_ptr<Problem> problem;
  QuantizedSpec spec;
  ProblemTrial data;

  explicit Trial(const std::string &name, size_t pass = 0, uint64_t seed = 5)
      : problem(parse(name)), spec(specOf(*problem)), data(problem, pass, seed) {}
  double left(uint64_t i, uint64_t p) const {
    return data.input(0, spec.lhs.columnMajor ? p * spec.m + i : i * spec.k + p);
  }
  double right(uint64_t p, uint64_t j) const {
    return data.input(1, spec.rhs.columnMajor ? j * spec.k + p : p * spec.n + j);
  }
  float scale(uint64_t j) const { return static_cast<float>(data.input(2, spec.perColumn ? j : 0)); }

  using Product = std::function<double(double a, double b)>;
  double sum(uint64_t i, uint64_t j, const Product &product) const {
    double total = 0;
    for (uint64_t p = 0; p < spec.k; ++p)
      total += product(left(i, p), right(p, j));
    return total;
  }
  double right(uint64_t i, uint64_t j, const QuantizedSpec &of) const {
    return sum(i, j, [&](double a, double b) { return (a - of.lhsZero) * (b - of.rhsZero); });
  }
  double finished(double sum, uint64_t j) const {
    return spec.requantizes() ? requantize(spec, static_cast<int64_t>(sum), scale(j))
                              : measure::verify::roundTo(ElementType::I32, sum);
  }
  void compute(const std::function<double(uint64_t i, uint64_t j)> &element) {
    for (uint64_t i = 0; i < spec.m; ++i)
      for (uint64_t j = 0; j < spec.n; ++j)
        data.set(i * spec.n + j, element(i, j));
  }
  void computeSums(const std::function<double(uint64_t i, uint64_t j)> &sum) {
    compute([&](uint64_t i, uint64_t j) { return finished(sum(i, j), j); });
  }
};

constexpr const char *kProblems[] = {
    "qmatmul_17x33x65_i8t_i8t_i32t_za3_zbm5",
    "qmatmul_17x33x65_i8n_i8n_i32t_zam128_zb127",
    "qmatmul_17x33x65_ui8t_i8n_i32t_za131_zb0",
    "qmatmul_1x1x1_i8t_i8t_i32t_za0_zb0",
    "qmatmul_3x2x40000_i8t_i8t_i32t_zam128_zbm128",
    "qmatmul_17x33x65_i8t_i8t_i8t_za3_zbm5_zc7_percolumn",
    "qmatmul_17x33x65_i8t_i8t_i8t_za3_zbm5_zcm7_pertensor",
    "qmatmul_17x33x65_ui8n_i8n_ui8t_za128_zbm128_zc0_percolumn",
    "qmatmul_17x33x65_ui8t_i8t_ui8t_za0_zb127_zc255_pertensor",
    "qmatmul_1x1x1_i8t_i8t_i8t_za0_zb0_zc0_pertensor",
    "qmatmul_2x3x2_i8t_i8t_i8t_za127_zb127_zc0_percolumn",
    "qmatmul_3x2x40000_i8t_i8t_i8t_zam128_zbm128_zc3_percolumn",
};

class Quantized : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Families, Quantized, testing::ValuesIn(kProblems), [](const auto &info) {
  std::string name = info.param;
  return name;
});

TEST_P(Quantized, TheDefinitionIsRight) {
  std::shared_ptr<Problem> problem = parse(GetParam());
  for (size_t pass = 0; pass < problem->passes().size(); ++pass) {
    Trial trial(GetParam(), pass);
    trial.computeSums([&](uint64_t i, uint64_t j) { return trial.right(i, j, trial.spec); });
    trial.data.expectCause(Cause::None);
  }
}

TEST_P(Quantized, TheReferenceIsRight) {
  std::shared_ptr<Problem> problem = parse(GetParam());
  for (size_t pass = 0; pass < problem->passes().size(); ++pass) {
    Trial trial(GetParam(), pass);
    trial.data.compute();
    trial.data.expectCause(Cause::None);
  }
}

TEST_P(Quantized, OneWrongElementIsFound) {
  std::shared_ptr<Problem> problem = parse(GetParam());
  for (size_t pass = 0; pass < problem->passes().size(); ++pass) {
    Trial trial(GetParam(), pass);
    trial.data.compute();
    for (uint64_t element = 0; element < trial.data.count(); element += 7) {
      double right = trial.data.get(element);
      trial.data.set(element, right > 0 ? right - 1 : right + 1);
      EXPECT_FALSE(trial.data.check().ok()) << element;
      trial.data.set(element, right);
    }
  }
}

TEST_P(Quantized, NothingWrittenIsNamed) {
  Trial trial(GetParam());
  trial.data.expectCause(Cause::NothingWritten);
}

//===--- Planted mistakes -----------------------------------------------------------------------------------------===//

// The first pass that rejects what `make` computes names it.
void expectRejected(const std::string &name, const std::function<void(Trial &)> &make, Cause cause,
                    const std::string &part) {
  for (size_t pass = 0; pass < parse(name)->passes().size(); ++pass) {
    Trial trial(name, pass);
    make(trial);
    if (trial.data.check().ok())
      continue;
    trial.data.expectCause(cause, part);
    return;
  }
  ADD_FAILURE() << name << ": " << part << " is not found";
}

constexpr const char *kSigned[] = {"qmatmul_17x33x65_i8t_i8n_i32t_za3_zbm5",
                                   "qmatmul_17x33x65_i8t_i8n_i8t_za3_zbm5_zc7_percolumn",
                                   "qmatmul_17x33x65_i8t_i8n_i8t_za3_zbm5_zc7_pertensor"};
constexpr const char *kUnsigned[] = {"qmatmul_17x33x65_ui8t_i8t_i32t_za131_zb2",
                                     "qmatmul_17x33x65_ui8t_i8t_ui8t_za131_zb2_zc100_percolumn"};
constexpr const char *kRequantized[] = {"qmatmul_17x33x65_i8t_i8n_i8t_za3_zbm5_zc7_percolumn",
                                        "qmatmul_17x33x65_i8t_i8n_i8t_za3_zbm5_zc7_pertensor",
                                        "qmatmul_17x33x65_ui8t_i8t_ui8t_za131_zb2_zc101_percolumn"};

TEST(QuantizedMistakes, ZeroPoints) {
  struct Mistake {
    int32_t ofLhs, ofRhs; // what they are multiplied with
    const char *part;
  };
  for (const Mistake &mistake :
       {Mistake{0, 1, "lhs without its zero point"}, Mistake{1, 0, "rhs without its zero point"},
        Mistake{0, 0, "both operands without their zero points"}, Mistake{-1, 1, "lhs with its zero point added"},
        Mistake{1, -1, "rhs with its zero point added"}, Mistake{-1, -1, "both operands with their zero points added"}})
    for (std::span<const char *const> names :
         {std::span<const char *const>(kSigned), std::span<const char *const>(kUnsigned)})
      for (const char *name : names)
        expectRejected(
            name,
            [&](Trial &trial) {
              QuantizedSpec wrong = trial.spec;
              wrong.lhsZero *= mistake.ofLhs, wrong.rhsZero *= mistake.ofRhs;
              trial.computeSums([&](uint64_t i, uint64_t j) { return trial.right(i, j, wrong); });
            },
            Cause::WrongZeroPoint, mistake.part);
}

TEST(QuantizedMistakes, LostProductOfZeroPoints) {
  for (std::span<const char *const> names :
       {std::span<const char *const>(kSigned), std::span<const char *const>(kUnsigned)})
    for (const char *name : names)
      expectRejected(
          name,
          [&](Trial &trial) {
            double lost = double(trial.spec.k) * trial.spec.lhsZero * trial.spec.rhsZero;
            trial.computeSums([&](uint64_t i, uint64_t j) { return trial.right(i, j, trial.spec) - lost; });
          },
          Cause::WrongZeroPoint, "K times both zero points");
}

TEST(QuantizedMistakes, Signs) {
  auto other = [](double number, bool isSigned) {
    return isSigned ? (number < 0 ? number + 256 : number) : (number > 127 ? number - 256 : number);
  };
  for (const char *name : kUnsigned)
    expectRejected(
        name,
        [&](Trial &trial) {
          trial.computeSums([&](uint64_t i, uint64_t j) {
            return trial.sum(i, j, [&](double a, double b) {
              return (other(a, false) - trial.spec.lhsZero) * (b - trial.spec.rhsZero);
            });
          });
        },
        Cause::WrongSign, "lhs taken as i8");
  for (const char *name : kSigned)
    expectRejected(
        name,
        [&](Trial &trial) {
          trial.computeSums([&](uint64_t i, uint64_t j) {
            return trial.sum(i, j, [&](double a, double b) {
              return (a - trial.spec.lhsZero) * (other(b, true) - trial.spec.rhsZero);
            });
          });
        },
        Cause::WrongSign, "rhs taken as ui8");
}

// Products that are added in pairs in i16, as vpmaddubsw does: of numbers as they are in memory, of lhs without sign,
// or of numbers without their zero points. Zero points are taken into account afterwards.
TEST(QuantizedMistakes, SaturatedPairs) {
  auto saturated = [](const Trial &trial, uint64_t i, uint64_t j, double ofLhs, double ofRhs) {
    double sum = trial.right(i, j, trial.spec);
    for (uint64_t p = 0; p < trial.spec.k; p += 2) {
      double pair = 0;
      for (uint64_t of = p; of < std::min(p + 2, trial.spec.k); ++of)
        pair += (trial.left(i, of) + ofLhs) * (trial.right(of, j) + ofRhs);
      sum += std::clamp(pair, -32768.0, 32767.0) - pair;
    }
    return sum;
  };
  for (const char *name : kSigned) {
    for (double ofLhs : {0.0, 128.0}) {
      // As they are in memory, a pair of i8 loses 1 of its sum, which is too little for what is scaled to 8 bits.
      if (ofLhs == 0 && specOf(*parse(name)).requantizes())
        continue;
      expectRejected(
          name,
          [&](Trial &trial) {
            trial.computeSums([&](uint64_t i, uint64_t j) { return saturated(trial, i, j, ofLhs, 0); });
          },
          Cause::NarrowAccumulator, "in pairs in i16");
    }
    expectRejected(
        name,
        [&](Trial &trial) { trial.computeSums([&](uint64_t i, uint64_t j) { return saturated(trial, i, j, -3, 5); }); },
        Cause::NarrowAccumulator, "in pairs in i16");
  }
  for (const char *name : kUnsigned)
    expectRejected(
        name,
        [&](Trial &trial) { trial.computeSums([&](uint64_t i, uint64_t j) { return saturated(trial, i, j, 0, 0); }); },
        Cause::NarrowAccumulator, "in pairs in i16");
  // Pairs of -128 times -128 are the only ones of i8 that do not fit; they are there in the smallest problem.
  Trial small("qmatmul_1x1x8_i8t_i8t_i32t_za0_zb0");
  small.computeSums([&](uint64_t i, uint64_t j) { return saturated(small, i, j, 0, 0); });
  EXPECT_FALSE(small.data.check().ok());
}

TEST(QuantizedMistakes, NarrowSums) {
  for (const char *name : {kSigned[0], kSigned[1], kUnsigned[0]})
    expectRejected(
        name,
        [&](Trial &trial) {
          trial.computeSums([&](uint64_t i, uint64_t j) {
            return measure::verify::roundTo(ElementType::I16, trial.right(i, j, trial.spec));
          });
        },
        Cause::NarrowAccumulator, "wrapped around in i16");
}

// As programs do that take zero points into account in f32.
TEST(QuantizedMistakes, SumsRoundedToF32) {
  for (const char *name : {"qmatmul_17x33x2000_i8t_i8t_i32t_za3_zbm5", "qmatmul_17x33x4001_ui8t_i8n_i32t_za128_zb2"})
    expectRejected(
        name,
        [&](Trial &trial) {
          trial.computeSums(
              [&](uint64_t i, uint64_t j) { return double(static_cast<float>(trial.right(i, j, trial.spec))); });
        },
        Cause::NarrowAccumulator, "rounded to f32");
}

TEST(QuantizedMistakes, DroppedTails) {
  for (const char *name : {kSigned[0], kSigned[1], kUnsigned[1]})
    expectRejected(
        name,
        [&](Trial &trial) {
          trial.computeSums([&](uint64_t i, uint64_t j) {
            double sum = 0;
            for (uint64_t p = 0; p < 64; ++p)
              sum += (trial.left(i, p) - trial.spec.lhsZero) * (trial.right(p, j) - trial.spec.rhsZero);
            return sum;
          });
        },
        Cause::DroppedTail, "first 64 of 65");
}

// Few sums, some longer than an i32 has room for: the last product is missing in one of them at least.
TEST(QuantizedMistakes, DroppedTailsOfFewLongSums) {
  for (const char *shape : {"1x1x500", "1x3x500", "1x1x70000", "1x3x70000", "3x1x200000"})
    for (const char *zeros : {"za0_zb0", "za3_zbm5", "zam128_zb127"})
      for (uint64_t seed = 1; seed <= 20; ++seed) {
        std::string name = fmt::format("qmatmul_{}_i8t_i8t_i32t_{}", shape, zeros);
        Trial trial(name, 0, seed);
        trial.compute([&](uint64_t i, uint64_t j) {
          uint64_t last = trial.spec.k - 1;
          return trial.right(i, j, trial.spec) -
                 (trial.left(i, last) - trial.spec.lhsZero) * (trial.right(last, j) - trial.spec.rhsZero);
        });
        EXPECT_FALSE(trial.data.check().ok()) << name << " seed " << seed;
      }
}

TEST(QuantizedMistakes, Layouts) {
  for (const char *name : {kSigned[0], kSigned[1]})
    expectRejected(
        name,
        [&](Trial &trial) {
          trial.computeSums([&](uint64_t i, uint64_t j) {
            double sum = 0;
            for (uint64_t p = 0; p < trial.spec.k; ++p)
              sum += (trial.left(i, p) - trial.spec.lhsZero) *
                     (trial.data.input(1, p * trial.spec.n + j) - trial.spec.rhsZero);
            return sum;
          });
        },
        Cause::SwappedLayout, "rhs read in the other layout");
}

TEST(QuantizedMistakes, Requantization) {
  using measure::verify::roundTo;
  struct Mistake {
    Cause cause;
    const char *part;
    std::function<double(const QuantizedSpec &, float real, float scale)> result;
  };
  auto low = [](const QuantizedSpec &spec) { return double(measure::verify::smallestInteger(spec.result.type)); };
  auto clamp = [=](const QuantizedSpec &spec, double x) { return std::clamp(x, low(spec), low(spec) + 255); };
  auto even = [](float x) { return double(std::nearbyint(x)); };
  auto wrap = [](const QuantizedSpec &spec, double x) { return roundTo(spec.result.type, x); };
  const Mistake mistakes[] = {
      {Cause::WrongRounding, "halves are rounded up",
       [&](const QuantizedSpec &s, float r, float f) {
         return clamp(s, std::floor(double(r * f) + 0.5) + s.resultZero);
       }},
      {Cause::WrongRounding, "halves are rounded away from zero",
       [&](const QuantizedSpec &s, float r, float f) { return clamp(s, double(std::round(r * f)) + s.resultZero); }},
      {Cause::WrongRounding, "cut off",
       [&](const QuantizedSpec &s, float r, float f) { return clamp(s, double(std::trunc(r * f)) + s.resultZero); }},
      {Cause::WrongRounding, "rounded down",
       [&](const QuantizedSpec &s, float r, float f) { return clamp(s, double(std::floor(r * f)) + s.resultZero); }},
      {Cause::WrongRounding, "not rounded to f32",
       [&](const QuantizedSpec &s, float r, float f) {
         return clamp(s, std::nearbyint(double(r) * double(f)) + s.resultZero);
       }},
      {Cause::WrongEpilogue, "added before it is rounded",
       [&](const QuantizedSpec &s, float r, float f) {
         return clamp(s, even(r * f + static_cast<float>(s.resultZero)));
       }},
      {Cause::WrongZeroPoint, "zero point of the result is left out",
       [&](const QuantizedSpec &s, float r, float f) { return clamp(s, even(r * f)); }},
      {Cause::WrongZeroPoint, "zero point of the result is subtracted",
       [&](const QuantizedSpec &s, float r, float f) { return clamp(s, even(r * f) - s.resultZero); }},
      {Cause::WrongEpilogue, "added after clamping",
       [&](const QuantizedSpec &s, float r, float f) { return wrap(s, clamp(s, even(r * f)) + s.resultZero); }},
      {Cause::WrongEpilogue, "added after clamping",
       [&](const QuantizedSpec &s, float r, float f) { return clamp(s, clamp(s, even(r * f)) + s.resultZero); }},
      {Cause::WrongEpilogue, "wrap around",
       [&](const QuantizedSpec &s, float r, float f) { return wrap(s, even(r * f) + s.resultZero); }},
      {Cause::WrongEpilogue, "range of numbers with the other sign",
       [&](const QuantizedSpec &s, float r, float f) {
         double otherLow = low(s) < 0 ? 0 : -128;
         return wrap(s, std::clamp(even(r * f) + s.resultZero, otherLow, otherLow + 255));
       }},
      // Of numbers without sign that is the same as adding the zero point after clamping.
      {Cause::WrongEpilogue, "clamp",
       [&](const QuantizedSpec &s, float r, float f) { return clamp(s, std::max(even(r * f), 0.0) + s.resultZero); }},
      {Cause::WrongEpilogue, "not scaled",
       [&](const QuantizedSpec &s, float r, float) { return clamp(s, double(r) + s.resultZero); }},
  };
  for (const Mistake &mistake : mistakes)
    for (const char *name : kRequantized)
      expectRejected(
          name,
          [&](Trial &trial) {
            trial.compute([&](uint64_t i, uint64_t j) {
              return mistake.result(trial.spec, static_cast<float>(trial.right(i, j, trial.spec)), trial.scale(j));
            });
          },
          mistake.cause, mistake.part);
  expectRejected(
      kRequantized[0],
      [&](Trial &trial) {
        trial.compute([&](uint64_t i, uint64_t j) {
          return std::clamp(even(static_cast<float>(trial.right(i, j, trial.spec)) * trial.scale(j)) +
                                trial.spec.resultZero,
                            -127.0, 127.0);
        });
      },
      Cause::WrongEpilogue, "clamped at -127");
}

TEST(QuantizedMistakes, TransposedTiles) {
  for (bool ofSums : {false, true})
    for (const char *name : kRequantized)
      expectRejected(
          name,
          [&](Trial &trial) {
            trial.compute([&](uint64_t i, uint64_t j) {
              uint64_t row = i < 8 && j < 8 ? j : i, column = i < 8 && j < 8 ? i : j;
              return requantize(trial.spec, static_cast<int64_t>(trial.right(row, column, trial.spec)),
                                trial.scale(ofSums ? j : column));
            });
          },
          Cause::TransposedTile, "tiles of 8x8");
}

TEST(QuantizedMistakes, Scales) {
  struct Mistake {
    const char *part;
    std::function<uint64_t(uint64_t i, uint64_t j, uint64_t n)> column;
  };
  for (const Mistake &mistake :
       {Mistake{"scale of the first column", [](uint64_t, uint64_t, uint64_t) { return uint64_t(0); }},
        Mistake{"scale of the next column", [](uint64_t, uint64_t j, uint64_t n) { return (j + 1) % n; }},
        Mistake{"scale of the column before", [](uint64_t, uint64_t j, uint64_t n) { return (j + n - 1) % n; }},
        Mistake{"scale of their row", [](uint64_t i, uint64_t, uint64_t n) { return std::min(i, n - 1); }}})
    for (const char *name : {kRequantized[0], kRequantized[2]})
      expectRejected(
          name,
          [&](Trial &trial) {
            trial.compute([&](uint64_t i, uint64_t j) {
              return requantize(trial.spec, static_cast<int64_t>(trial.right(i, j, trial.spec)),
                                trial.scale(mistake.column(i, j, trial.spec.n)));
            });
          },
          Cause::WrongEpilogue, mistake.part);
}

//===--- The family -----------------------------------------------------------------------------------------------===//

TEST(QuantizedFamily, FieldsFlopsAndBytes) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse("qmatmul_4x5x6_i8t_i8n_i32t_za3_zbm5")->fields(), (Fields{{"m", "4"},
                                                                            {"n", "5"},
                                                                            {"k", "6"},
                                                                            {"lhs", "i8t"},
                                                                            {"rhs", "i8n"},
                                                                            {"result", "i32t"},
                                                                            {"accumulator", "i32"},
                                                                            {"lhs_zero_point", "3"},
                                                                            {"rhs_zero_point", "-5"}}));
  std::shared_ptr<Problem> problem = parse("qmatmul_4x5x6_ui8t_i8n_ui8t_za3_zbm5_zc9_percolumn");
  Fields fields = problem->fields();
  ASSERT_EQ(fields.size(), 11U);
  EXPECT_EQ(fields[9], (Fields::value_type{"result_zero_point", "9"}));
  EXPECT_EQ(fields[10], (Fields::value_type{"scale", "column"}));
  EXPECT_EQ(problem->flops(), 2.0 * 4 * 5 * 6);
  EXPECT_EQ(problem->bytes(), 4 * 6 + 6 * 5 + 5 * 4 + 4 * 5);
  EXPECT_FALSE(problem->isWeight(0));
  EXPECT_TRUE(problem->isWeight(1));
  EXPECT_TRUE(problem->isWeight(2));
}

TEST(QuantizedFamily, ProblemsAreSelected) {
  QuantizedFamily family;
  auto names = [&](const measure::ProblemSelection &selection) {
    std::vector<std::string> list;
    auto problems = family.problems(selection);
    EXPECT_TRUE(problems.ok()) << problems.status().toString();
    for (const auto &problem : *problems)
      list.push_back(problem->name());
    return list;
  };
  using Names = std::vector<std::string>;
  measure::ProblemSelection small{{{"m", {2}}, {"n", {3}}, {"k", {4}}}, {"i8"}};
  EXPECT_EQ(names(small),
            (Names{"qmatmul_2x3x4_i8t_i8t_i32t_za3_zbm5", "qmatmul_2x3x4_i8t_i8t_i8t_za3_zb0_zc7_percolumn"}));
  small.types = {"f32", "ui8t_i8n_i32t_za9_zbm1"};
  EXPECT_EQ(names(small), Names{"qmatmul_2x3x4_ui8t_i8n_i32t_za9_zbm1"});
  EXPECT_EQ(names({}).size(), 12U);
  small.types = {"i8t_i8n_i32t_za999_zbm1"};
  EXPECT_EQ(family.problems(small).status().code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(family.problems({{{"m", {2}}}, {}}).ok());
  // Types that are meant for this family are no mistake to the others.
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  EXPECT_TRUE((*(*registry.find("matmul"))->problems({{}, {"i8t_i8n_i32t_za9_zbm1"}})).empty());
}

TEST(QuantizedFamily, ConfigurationsAreThoseOfTheProduct) {
  std::shared_ptr<Problem> problem = parse("qmatmul_256x512x128_i8t_i8t_i8t_za3_zbm5_zc7_percolumn");
  QuantizedFamily family;
  EXPECT_GE(family.configurations(*problem, "llvm-cpu").size(), 24U);
  EXPECT_GE(family.configurationSpace(*problem, "llvm-cpu").size(), 500U);
  EXPECT_TRUE(family.configurations(*problem, "tpu").empty());
}

TEST(QuantizedFamily, OtherTensorsAreErrors) {
  std::shared_ptr<Problem> problem = parse("qmatmul_2x3x4_i8t_i8t_i8t_za3_zbm5_zc7_percolumn");
  EXPECT_EQ(problem->fillInputs(0, 1, {}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(problem->reference({}, {}).code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(problem->check(0, 1, {}, {}).ok());
  EXPECT_EQ(problem->timedCheck({}, 1), nullptr);
}

// What requantization is timed with uses the whole range of the result, and stays within it.
TEST(QuantizedFamily, TimedResultsAreSpread) {
  for (const char *name : {"qmatmul_65x33x128_i8t_i8n_i8t_za3_zbm5_zc7_percolumn",
                           "qmatmul_65x33x9_ui8t_i8n_ui8t_za128_zb0_zc120_pertensor"}) {
    std::shared_ptr<Problem> problem = parse(name);
    measure::TimingNumbers numbers = problem->timingNumbers(2);
    EXPECT_GT(numbers.low, 0) << name;
    EXPECT_NEAR(numbers.high, 3 * numbers.low, 1e-9) << name;
    double typical = std::sqrt(double(specOf(*problem).k)) * (256.0 * 256 / 12);
    EXPECT_NEAR(numbers.low * 2 * typical, 40, 2) << name;
  }
}

} // namespace
} // namespace kiln::families
