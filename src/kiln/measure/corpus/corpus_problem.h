// A program of a user's own as a problem of the lab. Its results are compared with the user's own (NAME.out0.npy).
// Where the program is an operation that a family knows, that family checks it as it checks its own problems. All other
// results are compared with those of an unoptimized build of the same compiler, which is never called verified.
#ifndef KILN_MEASURE_CORPUS_CORPUS_PROBLEM_H
#define KILN_MEASURE_CORPUS_CORPUS_PROBLEM_H

#include <functional>

#include "kiln/base/clock.h"
#include "kiln/measure/corpus/goldens.h"
#include "kiln/measure/corpus/signature.h"
#include "kiln/measure/workload.h"

namespace kiln::measure::corpus {

inline constexpr std::string_view kFamily = "corpus";

// One function of one file.
struct Program {
  std::string path;     // of the file, for messages
  std::string file;     // below the corpus' folder: "blocks/mlp.mlir"
  std::string place;    // what names it: "blocks/mlp"
  std::string function; // empty where the file does not compile
  bool only = true;     // the file's only function
  std::string text;     // of the file
  Signature signature;
  Tolerance tolerance;
  Goldens goldens;
};

// Computes the outputs in another way than the candidates do.
using Baseline = std::function<Status(measure::Tensors inputs, measure::MutableTensors outputs)>;

// "corpus_blocks_mlp_4x8xf32_8x16xf32_4x16xf32": the place, the function where the file has several, and the types of
// inputs and outputs (a hash of them where they are many), since results of other types are another problem's.
std::string problemName(const Program &program);

// 32 hexadecimal digits: a program's identity includes its text.
std::string textHash(std::string_view text);

class CorpusProblem final : public Problem {
public:
  explicit CorpusProblem(Program program) : program(std::move(program)), fullName(problemName(this->program)) {}

  // What stands in the way of measuring it: an error of its file, or of the files beside it.
  void setObstacle(Status status) { obstacleStatus = std::move(status); }
  const Status &obstacle() const { return obstacleStatus; }
  void setNarrowestFloat(io::ElementType type) { program.tolerance.narrowest = type; }
  // Whether it computes in a float that is narrower than f64.
  bool hasNarrowFloats() const {
    return program.tolerance.narrowest.value_or(io::ElementType::F64) != io::ElementType::F64;
  }
  // The problem of a family that the program is, with the same inputs and outputs.
  void setOperation(std::unique_ptr<Problem> problem) { known = std::move(problem); }
  bool isKnownOperation() const { return known != nullptr; }
  bool needsBaseline() const { return obstacleStatus.ok() && program.goldens.outputs.empty() && !known; }
  // An unoptimized build of the program as it is.
  void setBaseline(Baseline computes) { baseline = std::move(computes); }
  // One that computes in f64 what the program computes in narrower floats. It is what results are compared with, where
  // the other one is within the tolerance of it: else rounding decides what the program gives.
  void setWideBaseline(Baseline computes) { wide = std::move(computes); }
  // Why there is none.
  void setNoWideBaseline(std::string why) { wideFailed = std::move(why); }
  // By which timed checks have their share of the time, in nanoseconds; monotonicNanoseconds but for tests.
  void setClock(std::function<uint64_t()> nanoseconds) { clock = std::move(nanoseconds); }

  std::string_view family() const override { return kFamily; }
  std::string name() const override { return fullName; }
  // file, function, inputs, outputs, text: {"file", "blocks/mlp.mlir"}, {"inputs", "4x8xf32, 8x16xf32"}; and of what a
  // family knows operation: {"operation", "matmul_4x16x8_f32t_f32t_f32t"}.
  Fields fields() const override;
  std::vector<TensorType> inputs() const override { return program.signature.inputs; }
  std::vector<TensorType> outputs() const override { return program.signature.outputs; }
  bool isWeight(size_t input) const override { return known && known->isWeight(input); }
  TimingNumbers timingNumbers(size_t input) const override {
    return known ? known->timingNumbers(input) : TimingNumbers();
  }
  double flops() const override { return known ? known->flops() : 0; }
  std::string mlir(std::string_view, std::string_view) const override { return program.text; }
  std::optional<std::string_view> ownFunction() const override { return program.function; }
  const Problem &operation() const override { return known ? *known : static_cast<const Problem &>(*this); }

  std::vector<std::string> passes() const override;
  Status fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const override;
  void prefillOutputs(size_t pass, measure::MutableTensors outputs) const override;
  verify::Verdict check(size_t pass, uint64_t seed, measure::Tensors inputs, measure::Tensors outputs) const override;
  // Of a known operation its own. Else a comparison with what the baseline computes from the inputs, which takes long.
  // Null for programs whose inputs are given, and where the baseline took longer than kLongestTimedRun before.
  std::unique_ptr<verify::TimedCheck> timedCheck(measure::Tensors inputs, uint64_t seed) const override;
  // Such comparisons are made of the first inputs, and then of random ones as long as they take no more than
  // kTimedShare of the time; where one takes no longer than kQuickTimedRun, also when kQuickTimedGap, and four times as
  // long as it took, are over since the one before: so that those of all candidates have some, in short sweeps too.
  // So many that a candidate that computes in most of its calls, and not in all, does not get through: one in 1,700
  // does with 60 %. Where a run of the baseline takes long, fewer.
  uint64_t fewestTimedChecks() const override;
  bool leavesOutTimedCheck(uint64_t seed) const override;
  static constexpr double kTimedShare = 0.05;
  static constexpr uint64_t kMostRequired = 8, kFewestRequired = 2, kTimeForRequired = 1'000'000'000;
  static constexpr uint64_t kQuickTimedRun = 50'000'000, kQuickTimedGap = 5'000'000;
  static constexpr uint64_t kLongestTimedRun = 1'000'000'000;
  Status reference(measure::Tensors inputs, measure::MutableTensors outputs) const override;

private:
  // The passes of the known operation come first.
  size_t knownPasses() const { return known ? known->passes().size() : 0; }
  std::vector<std::string> ownPasses() const;
  verify::Verdict checkOwn(size_t pass, uint64_t seed, measure::Tensors inputs, measure::Tensors outputs) const;

  // Of the baselines, for one pass; all candidates are compared with them.
  struct Expected {
    size_t pass = 0;
    uint64_t seed = 0;
    Status status;
    std::vector<io::HostTensor> outputs;
    bool isWide = false;
  };
  const Expected &expected(size_t pass, uint64_t seed, measure::Tensors inputs) const;
  Expected computeExpected(measure::Tensors inputs) const;
  Result<std::vector<io::HostTensor>> compute(const Baseline &computes, measure::Tensors inputs) const;
  // Null where timed calls are not compared at all.
  const Baseline *timedBaseline() const;

  Program program;
  std::string fullName;
  Status obstacleStatus;
  std::unique_ptr<Problem> known;
  Baseline baseline, wide;
  std::function<uint64_t()> clock = monotonicNanoseconds;
  // Why the wide one cannot be compared with, as a pass has shown; what holds for one pass holds for those after it.
  mutable std::string wideFailed = {};
  // What timed checks have taken so far, since when, and what the last run of a baseline took.
  struct TimedCost {
    uint64_t start = 0, spent = 0, lastRun = 0, lastEnd = 0;
    uint64_t shortestRun = UINT64_MAX; // on a busy machine some take long
    bool failed = false;               // on inputs as they are timed with
  };
  mutable TimedCost timedCost;
  mutable std::optional<Expected> lastExpected;
};

} // namespace kiln::measure::corpus

#endif // KILN_MEASURE_CORPUS_CORPUS_PROBLEM_H
