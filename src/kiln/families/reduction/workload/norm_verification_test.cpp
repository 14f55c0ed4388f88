// Right norms pass, and each mistake is rejected under its name.
#include "kiln/families/reduction/workload/norm_verification.h"

#include <cmath>
#include <gtest/gtest.h>

#include "kiln/families/reduction/workload/norm_family.h"
#include "kiln/measure/problem_trial.h"
#include "kiln/measure/verify/narrowing.h"

namespace kiln::families {
namespace {

using namespace measure::verify;

constexpr const char *kTypes[] = {"f32", "f16", "bf16"};

NormSpec parsed(const std::string &name) {
  return *NormSpec::parse(name.substr(0, name.find("_norm") + 5), name);
}

class Trial : public measure::ProblemTrial {
public:
  explicit Trial(const std::string &name, size_t pass = 0, uint64_t seed = 5)
      : measure::ProblemTrial(std::make_shared<NormProblem>(parsed(name)), pass, seed), norm(parsed(name)) {}

  const NormSpec &spec() const { return norm; }
  // Each element from its row's numbers in f32, with gamma and beta.
  template <typename Moments>
  void fill(Moments moments, bool withGamma = true, bool withBeta = true, float epsilon = kNormEpsilon) {
    for (uint64_t r = 0; r < norm.rows; ++r) {
      std::vector<double> row = inputRow(0, r);
      auto [mean, variance] = moments(row);
      float scale = 1 / std::sqrt(static_cast<float>(variance) + epsilon);
      for (uint64_t c = 0; c < norm.columns; ++c) {
        float value = (static_cast<float>(row[c]) - static_cast<float>(mean)) * scale;
        value *= withGamma ? static_cast<float>(input(1, c)) : 1;
        set(r * norm.columns + c, value + (norm.isLayerNorm && withBeta ? static_cast<float>(input(2, c)) : 0));
      }
    }
  }
  std::pair<double, double> moments(const std::vector<double> &row) const {
    RowMoments right = momentsOf(norm, row);
    return {right.mean, right.variance};
  }

private:
  NormSpec norm;
};

TEST(NormVerification, TheReferencePasses) {
  for (const char *family : {"layer_norm", "rms_norm"})
    for (const char *shape : {"1x1", "3x2", "64x33", "37x1001", "9x20001"})
      for (const char *type : kTypes)
        for (size_t pass = 0; pass < 2; ++pass) {
          Trial trial(fmt::format("{}_{}_{}", family, shape, type), pass);
          trial.compute();
          Verdict verdict = trial.check();
          EXPECT_TRUE(verdict.ok()) << family << shape << " " << type << ", pass " << pass << ": "
                                    << verdict.explanation;
        }
}

// A mean that moves with each column (Welford), and x * (scale * gamma) + (beta - mean * scale * gamma).
TEST(NormVerification, OtherWaysToComputeItPass) {
  for (const char *name : {"layer_norm_37x1001_f32", "layer_norm_64x4096_bf16"})
    for (size_t pass = 0; pass < 2; ++pass) {
      Trial trial(name, pass);
      for (uint64_t r = 0; r < trial.spec().rows; ++r) {
        float mean = 0, squares = 0, count = 0;
        for (double number : trial.inputRow(0, r)) {
          auto x = static_cast<float>(number);
          float before = x - mean;
          mean += before / ++count;
          squares += before * (x - mean);
        }
        float scale = 1 / std::sqrt(squares / count + kNormEpsilon);
        for (uint64_t c = 0; c < trial.spec().columns; ++c) {
          float slope = scale * static_cast<float>(trial.input(1, c));
          float shift = static_cast<float>(trial.input(2, c)) - mean * slope;
          uint64_t at = r * trial.spec().columns + c;
          trial.set(at, static_cast<float>(trial.input(0, at)) * slope + shift);
        }
      }
      EXPECT_TRUE(trial.check().ok()) << trial.check().explanation;
    }
}

TEST(NormVerification, OtherFormulas) {
  for (const char *type : kTypes) {
    Trial trial(fmt::format("layer_norm_37x101_{}", type)), constant(fmt::format("layer_norm_37x101_{}", type), 1);
    auto right = [&](const std::vector<double> &row) { return trial.moments(row); };
    trial.fill(right);
    EXPECT_TRUE(trial.check().ok()) << trial.check().explanation;
    trial.fill(right, false);
    trial.expectCause(Cause::WrongEpilogue, "without gamma");
    trial.fill(right, true, false);
    trial.expectCause(Cause::WrongEpilogue, "without beta");
    trial.fill([](const std::vector<double> &row) {
      double squares = 0;
      for (double x : row)
        squares += x * x;
      return std::pair(0.0, squares / double(row.size()));
    });
    trial.expectCause(Cause::Unknown, "the mean is not subtracted");
    if (std::string_view(type) == "f32") {
      trial.fill([&](const std::vector<double> &row) {
        auto [mean, variance] = trial.moments(row);
        return std::pair(mean, variance * double(row.size()) / double(row.size() - 1));
      });
      trial.expectCause(Cause::Unknown, "one less than the number of columns");
    }
    constant.fill([&](const std::vector<double> &row) { return trial.moments(row); }, true, true, 0);
    constant.expectCause(Cause::Unknown, "without epsilon");
  }
}

TEST(NormVerification, DroppedColumns) {
  for (const char *family : {"layer_norm", "rms_norm"}) {
    Trial trial(fmt::format("{}_37x101_f32", family));
    trial.fill([&](const std::vector<double> &row) {
      double mean = trial.spec().isLayerNorm ? trial.moments(row).first : 0, squares = 0;
      for (size_t c = 0; c < 96; ++c)
        squares += (row[c] - mean) * (row[c] - mean);
      return std::pair(mean, squares / 101);
    });
    trial.expectCause(Cause::DroppedTail, "of the first 96 of 101 columns");
  }
}

// The last column is missing in the moments of the only row, of however many columns.
TEST(NormVerification, ADroppedColumnOfALongRow) {
  for (const char *family : {"layer_norm", "rms_norm"})
    for (const char *type : kTypes)
      for (uint64_t columns : {1001U, 4096U, 16384U})
        for (uint64_t seed = 1; seed <= 4; ++seed) {
          std::string name = fmt::format("{}_1x{}_{}", family, columns, type);
          bool rejected = false;
          for (size_t pass = 0; pass < 2; ++pass) {
            Trial trial(name, pass, seed);
            trial.fill([&](std::vector<double> row) {
              row.pop_back();
              auto [mean, variance] = trial.moments(row);
              return std::pair(mean * double(row.size()) / double(columns),
                               variance * double(row.size()) / double(columns));
            });
            rejected |= !trial.check().ok();
          }
          EXPECT_TRUE(rejected) << name << " seed " << seed;
        }
}

TEST(NormVerification, NarrowAccumulatorsAndInputs) {
  for (const char *family : {"layer_norm", "rms_norm"})
    for (const char *type : {"f32", "f16"}) {
      for (size_t lanes : {1U, 16U}) {
        Trial trial(fmt::format("{}_65x1001_{}", family, type));
        trial.fill([&](const std::vector<double> &row) {
          double mean = trial.spec().isLayerNorm ? narrowSum(kFormatBF16, row, lanes) / 1001 : 0;
          std::vector<double> squares(row);
          for (double &x : squares)
            x = (x - mean) * (x - mean);
          return std::pair(mean, narrowSum(kFormatBF16, squares, lanes) / 1001);
        });
        trial.expectCause(Cause::NarrowAccumulator, "sums in bf16");
      }
    }
  Trial narrow("layer_norm_37x1001_f32");
  Trial right = narrow;
  right.compute();
  for (uint64_t r = 0; r < 37; ++r) {
    std::vector<double> row;
    for (double x : narrow.inputRow(0, r))
      row.push_back(roundTo(kFormatTF32, x));
    RowMoments moments = momentsOf(narrow.spec(), row);
    for (uint64_t c = 0; c < 1001; ++c)
      narrow.set(r * 1001 + c,
                 normalizedElement(narrow.spec(), moments, row[c], roundTo(kFormatTF32, narrow.input(1, c)),
                                   roundTo(kFormatTF32, narrow.input(2, c)))
                     .value);
  }
  narrow.expectCause(Cause::NarrowedInputs, "tf32");
}

TEST(NormVerification, OtherMistakes) {
  Trial before("rms_norm_37x1001_f16"), tail = before, added = before;
  before.expectCause(Cause::NothingWritten);
  added.compute();
  for (uint64_t i = 0; i < added.count(); ++i)
    added.set(i, added.get(i) + before.get(i));
  added.expectCause(Cause::NotZeroed);
  tail.compute();
  for (uint64_t r = 0; r < 37; ++r)
    for (uint64_t c = 992; c < 1001; ++c)
      tail.set(r * 1001 + c, before.get(r * 1001 + c));
  tail.expectCause(Cause::DroppedTail, "the last 9 of 1001 columns are as they were");
}

} // namespace
} // namespace kiln::families
