// Right results of attention pass, and each mistake is rejected under its name.
#include "kiln/families/attention/workload/attention_verification.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

#include "kiln/families/attention/workload/attention_family.h"
#include "kiln/measure/problem_trial.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {
namespace {

using namespace measure::verify;

constexpr const char *kTypes[] = {"f32", "f16", "bf16"};
enum { kMeans, kSelection, kValues };

float same(float x) {
  return x;
}

// A program in f32, and what it does otherwise.
struct Program {
  using Function = std::function<float(float)>;
  Function ofInput = same, ofWeight = same, ofScoreSum = same, ofWeightSum = same, ofValueSum = same;
  float scaleFactor = 1;
  bool subtracts = true, divides = true, ignoresMask = false;
  int64_t maskShift = 0; // keys beyond the diagonal that a query sees
  uint64_t skippedKeys = 0, skippedDepth = 0, skippedValues = 0;
  uint64_t keyHead = 0, valueHead = 0; // so many heads further
  bool keysTransposed = false, queriesHeadsInside = false, writesHeadsInside = false, isAlongQueries = false;
};

class Trial : public measure::ProblemTrial {
public:
  explicit Trial(const std::string &name, size_t pass, uint64_t seed = 5)
      : measure::ProblemTrial(std::make_shared<AttentionProblem>(*AttentionSpec::parse(name)), pass, seed),
        spec(*AttentionSpec::parse(name)) {}

  void run(const Program &program) {
    for (uint64_t head = 0; head < spec.heads; ++head) {
      std::vector<std::vector<float>> scores(spec.queries);
      for (uint64_t query = 0; query < spec.queries; ++query)
        scores[query] = scoresOf(program, head, query);
      if (program.isAlongQueries)
        softmaxAlongQueries(scores);
      for (uint64_t query = 0; query < spec.queries; ++query)
        mix(program, head, query, scores[query]);
    }
  }

  void runOnline() {
    for (uint64_t row = 0; row < spec.heads * spec.queries; ++row) {
      std::vector<float> mixed(spec.valueDepth);
      float most = -HUGE_VALF, total = 0;
      for (uint64_t key = 0; key < spec.visibleKeys(row % spec.queries); ++key) {
        uint64_t of = row / spec.queries * spec.keys + key;
        float score = 0;
        for (uint64_t axis = 0; axis < spec.depth; ++axis)
          score += static_cast<float>(input(0, row * spec.depth + axis)) * spec.scale() *
                   static_cast<float>(input(1, of * spec.depth + axis));
        float larger = std::max(most, score), factor = std::exp(most - larger), weight = std::exp(score - larger);
        most = larger;
        total = total * factor + weight;
        for (uint64_t c = 0; c < spec.valueDepth; ++c)
          mixed[c] = mixed[c] * factor + weight * static_cast<float>(input(2, of * spec.valueDepth + c));
      }
      for (uint64_t c = 0; c < spec.valueDepth; ++c)
        set(row * spec.valueDepth + c, mixed[c] / total);
    }
  }

private:
  std::vector<float> scoresOf(const Program &program, uint64_t head, uint64_t query) const {
    uint64_t seen = spec.visibleKeys(query);
    if (program.ignoresMask)
      seen = spec.keys;
    if (program.maskShift != 0)
      seen = static_cast<uint64_t>(std::clamp<int64_t>(int64_t(query) + 1 + program.maskShift, 0, int64_t(spec.keys)));
    seen = std::min(seen, spec.keys - program.skippedKeys);
    std::vector<float> scores;
    for (uint64_t key = 0; key < seen; ++key) {
      float sum = 0;
      for (uint64_t axis = 0; axis < spec.depth - program.skippedDepth; ++axis) {
        uint64_t of = (head + program.keyHead) % spec.heads;
        uint64_t q = program.queriesHeadsInside ? query * spec.heads + head : head * spec.queries + query;
        uint64_t k = program.keysTransposed ? (of * spec.depth + axis) * spec.keys + key
                                            : (of * spec.keys + key) * spec.depth + axis;
        auto left = static_cast<float>(input(0, q * spec.depth + axis)), right = static_cast<float>(input(1, k));
        sum = program.ofScoreSum(sum + program.ofInput(left) * program.ofInput(right));
      }
      scores.push_back(sum * spec.scale() * program.scaleFactor);
    }
    if (program.isAlongQueries || scores.empty())
      return scores;
    float most = program.subtracts ? *std::ranges::max_element(scores) : 0, total = 0;
    for (float &score : scores) {
      score = std::exp(score - most);
      total = program.ofWeightSum(total + score);
    }
    for (float &score : scores)
      score = program.divides ? score / total : score;
    return scores;
  }

  static void softmaxAlongQueries(std::vector<std::vector<float>> &scores) {
    for (size_t key = 0; key < scores[0].size(); ++key) {
      float most = -HUGE_VALF, total = 0;
      for (const std::vector<float> &row : scores)
        most = std::max(most, row[key]);
      for (std::vector<float> &row : scores)
        total += row[key] = std::exp(row[key] - most);
      for (std::vector<float> &row : scores)
        row[key] /= total;
    }
  }

  void mix(const Program &program, uint64_t head, uint64_t query, const std::vector<float> &weights) {
    uint64_t used = std::min<uint64_t>(weights.size(), spec.keys - program.skippedValues);
    for (uint64_t column = 0; column < spec.valueDepth; ++column) {
      float sum = weights.empty() ? NAN : 0;
      for (uint64_t key = 0; key < used; ++key) {
        uint64_t of = (head + program.valueHead) % spec.heads;
        auto value = static_cast<float>(input(2, (of * spec.keys + key) * spec.valueDepth + column));
        sum = program.ofValueSum(sum + program.ofWeight(weights[key]) * program.ofInput(value));
      }
      uint64_t row = program.writesHeadsInside ? query * spec.heads + head : head * spec.queries + query;
      set(row * spec.valueDepth + column, sum);
    }
  }

  const AttentionSpec spec;
};

auto roundedTo(const FloatFormat &format) {
  return [format](float x) { return static_cast<float>(roundTo(format, x)); };
}

TEST(AttentionVerification, TheReferencePasses) {
  for (const char *shape : {"1x1x1x1x1", "2x3x5x1x4", "2x5x7x2x3", "1x9x13x3x1", "3x8x16x4x5", "3x37x131x40x24",
                            "2x64x64x64x64", "2x3x1000x8x9", "1x300x300x64x8", "5x1x77x128x3", "2x9x70x333x5"})
    for (const char *mask : {"", "causal_"})
      for (const char *type : kTypes)
        for (size_t pass = 0; pass < 3; ++pass) {
          Trial trial(fmt::format("attention_{}{}_{}", mask, shape, type), pass);
          trial.compute();
          Verdict verdict = trial.check();
          EXPECT_TRUE(verdict.ok()) << mask << shape << " " << type << ", pass " << pass << ": " << verdict.explanation;
        }
}

// A sum for the largest score so far, which is multiplied when a larger one comes.
TEST(AttentionVerification, OnePassOverTheKeysPasses) {
  for (const char *name : {"attention_3x37x131x40x24_f32", "attention_causal_2x64x64x64x16_bf16"})
    for (size_t pass = 0; pass < 3; ++pass) {
      Trial trial(name, pass);
      trial.runOnline();
      EXPECT_TRUE(trial.check().ok()) << name << ", pass " << pass << ": " << trial.check().explanation;
    }
}

void expectRejected(const std::string &name, size_t pass, const Program &program, Cause cause,
                    const std::string &part) {
  SCOPED_TRACE(fmt::format("{}, pass {}: {}", name, pass, part));
  Trial trial(name, pass);
  trial.run({});
  EXPECT_TRUE(trial.check().ok()) << name << ": " << trial.check().explanation;
  trial.run(program);
  trial.expectCause(cause, part);
}

TEST(AttentionVerification, TheMaximumHasToBeSubtracted) {
  for (const char *type : kTypes)
    expectRejected(fmt::format("attention_3x37x131x40x24_{}", type), kSelection, {.subtracts = false},
                   Cause::NotANumber, "without the row's maximum subtracted");
}

TEST(AttentionVerification, OtherFormulas) {
  for (const char *type : kTypes) {
    std::string name = fmt::format("attention_3x37x131x40x24_{}", type);
    expectRejected(name, kValues, {.scaleFactor = std::sqrt(40.0F)}, Cause::WrongEpilogue, "without a scale");
    expectRejected(name, kValues, {.scaleFactor = 1 / std::sqrt(40.0F)}, Cause::WrongEpilogue, "scaled twice");
    expectRejected(name, kValues, {.scaleFactor = 40}, Cause::WrongEpilogue, "times the root of the depth");
    expectRejected(name, kMeans, {.divides = false}, Cause::Unknown, "not divided by the sum");
    for (size_t pass : {kSelection, kMeans, kValues})
      expectRejected(name, pass, {.isAlongQueries = true}, Cause::SwappedLayout, "along the queries");
  }
}

TEST(AttentionVerification, Masks) {
  for (const char *type : kTypes)
    for (size_t pass : {kSelection, kValues}) {
      std::string causal = fmt::format("attention_causal_3x37x39x40x24_{}", type);
      expectRejected(causal, pass, {.ignoresMask = true}, Cause::WrongEpilogue, "without the causal mask");
      expectRejected(causal, pass, {.maskShift = 1}, Cause::WrongEpilogue, "see a key too many");
      expectRejected(causal, pass, {.maskShift = -1}, Cause::WrongEpilogue, "hides each query's own key");
      expectRejected(causal, pass, {.maskShift = 39 - 37}, Cause::WrongEpilogue, "whose last query sees the last key");
    }
}

TEST(AttentionVerification, DroppedTails) {
  for (const char *type : kTypes)
    for (size_t pass : {kSelection, kValues}) {
      std::string name = fmt::format("attention_3x37x131x40x24_{}", type);
      expectRejected(name, pass, {.skippedKeys = 3}, Cause::DroppedTail, "the first 128 of 131 keys");
      expectRejected(name, pass, {.skippedValues = 3}, Cause::DroppedTail, "the first 128 of 131 values");
      expectRejected(fmt::format("attention_3x37x131x37x24_{}", type), pass, {.skippedDepth = 5}, Cause::DroppedTail,
                     "the first 32 of 37 elements");
    }
}

// Of a single query one pass or another shows what is missing, whatever the seed.
TEST(AttentionVerification, DroppedTailsOfOneQuery) {
  struct Lie {
    const char *what;
    Program program;
  };
  for (const char *shape : {"1x1x131x40x24", "1x1x1000x64x64", "1x2x77x33x5"})
    for (const char *type : kTypes)
      for (const Lie &lie : {Lie{"key", {.skippedKeys = 1}}, Lie{"value", {.skippedValues = 1}},
                             Lie{"element of the depth", {.skippedDepth = 1}}})
        for (uint64_t seed = 1; seed <= 4; ++seed) {
          bool rejected = false;
          for (size_t pass : {kMeans, kSelection, kValues}) {
            Trial trial(fmt::format("attention_{}_{}", shape, type), pass, seed);
            trial.run(lie.program);
            rejected |= !trial.check().ok();
          }
          EXPECT_TRUE(rejected) << shape << " " << type << " without the last " << lie.what << ", seed " << seed;
        }
}

TEST(AttentionVerification, OtherReadings) {
  for (const char *type : kTypes)
    for (size_t pass : {kSelection, kValues}) {
      std::string name = fmt::format("attention_3x37x131x40x24_{}", type);
      expectRejected(name, pass, {.keyHead = 1}, Cause::SwappedLayout, "keys of the next head");
      expectRejected(name, pass, {.valueHead = 1}, Cause::SwappedLayout, "values of the next head");
      expectRejected(name, pass, {.keyHead = 1, .valueHead = 1}, Cause::SwappedLayout,
                     "keys and values of the next head");
      expectRejected(name, pass, {.keysTransposed = true}, Cause::SwappedLayout, "keys read in the other layout");
      expectRejected(name, pass, {.queriesHeadsInside = true}, Cause::SwappedLayout,
                     "queries read with heads inside of rows");
      expectRejected(name, pass, {.writesHeadsInside = true}, Cause::SwappedLayout,
                     "written with heads inside of queries");
    }
}

TEST(AttentionVerification, NarrowSums) {
  for (const FloatFormat &format : {kFormatF16, kFormatBF16})
    for (const char *type : {"f32", "f16"}) {
      std::string name = fmt::format("attention_3x37x131x40x24_{}", type);
      std::string sums = fmt::format("sums in {}", format.name);
      expectRejected(name, kMeans, {.ofValueSum = roundedTo(format)}, Cause::NarrowAccumulator, "of values: " + sums);
      expectRejected(name, kValues, {.ofScoreSum = roundedTo(format)}, Cause::NarrowAccumulator, "of scores: " + sums);
      expectRejected(name, kValues, {.ofWeightSum = roundedTo(format)}, Cause::NarrowAccumulator,
                     "of exponentials: " + sums);
      expectRejected(name, kValues, {.ofWeight = roundedTo(format)}, Cause::NarrowAccumulator,
                     fmt::format("weights rounded to {}", format.name));
    }
}

// Also where there are so many keys and such long queries that f32 may lose as much in other data.
TEST(AttentionVerification, NarrowedNumbers) {
  for (const char *name : {"attention_3x37x131x40x24_f32", "attention_1x5x2049x256x4_f32"}) {
    expectRejected(name, kValues, {.ofInput = roundedTo(kFormatTF32)}, Cause::NarrowedInputs, "tf32");
    expectRejected(name, kValues, {.ofInput = roundedTo(kFormatBF16)}, Cause::NarrowedInputs, "bf16");
    expectRejected(name, kValues, {.ofWeight = roundedTo(kFormatF16)}, Cause::NarrowAccumulator, "weights rounded");
  }
}

TEST(AttentionVerification, TransposedTiles) {
  for (size_t pass : {kMeans, kSelection, kValues}) {
    Trial right("attention_3x37x131x40x24_f32", pass), trial = right;
    right.compute();
    trial.compute();
    for (uint64_t query = 0; query < 8; ++query)
      for (uint64_t column = 0; column < 8; ++column)
        trial.set((37 + 8 + query) * 24 + 16 + column, right.get((37 + 8 + column) * 24 + 16 + query));
    trial.expectCause(Cause::TransposedTile, "tiles of 8x8");
  }
}

TEST(AttentionVerification, OtherMistakes) {
  Trial before("attention_3x37x131x40x24_f16", kMeans), rows = before, added = before;
  before.expectCause(Cause::NothingWritten);
  rows.compute();
  for (uint64_t i = (3 * 37 - 5) * 24; i < rows.count(); ++i)
    rows.set(i, before.get(i));
  rows.expectCause(Cause::DroppedTail, "the last 120 elements are as they were");
  added.compute();
  for (uint64_t i = 0; i < added.count(); ++i)
    added.set(i, added.get(i) + before.get(i));
  added.expectCause(Cause::NotZeroed);
}

} // namespace
} // namespace kiln::families
