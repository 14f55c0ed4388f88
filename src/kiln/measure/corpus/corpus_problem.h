// A program of a user's own as a problem of the lab. Only its file says what it computes, so that its results are
// compared with the user's own (NAME.out0.npy), or with those of an unoptimized build of the same compiler: these are
// called self-consistent, not verified.
#ifndef KILN_MEASURE_CORPUS_CORPUS_PROBLEM_H
#define KILN_MEASURE_CORPUS_CORPUS_PROBLEM_H

#include <functional>

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
using Baseline = std::function<Status(std::span<const io::TensorSpan> inputs, std::span<const MutableTensor> outputs)>;

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
  bool needsBaseline() const { return obstacleStatus.ok() && program.goldens.outputs.empty(); }
  void setBaseline(Baseline computes) { baseline = std::move(computes); }

  std::string_view family() const override { return kFamily; }
  std::string name() const override { return fullName; }
  // file, function, inputs, outputs: {"file", "blocks/mlp.mlir"}, {"inputs", "4x8xf32, 8x16xf32"}.
  std::vector<std::pair<std::string, std::string>> fields() const override;
  std::vector<TensorType> inputs() const override { return program.signature.inputs; }
  std::vector<TensorType> outputs() const override { return program.signature.outputs; }
  double flops() const override { return 0; }
  std::string mlir(std::string_view, std::string_view) const override { return program.text; }
  std::optional<std::string_view> ownFunction() const override { return program.function; }

  std::vector<std::string> passes() const override;
  Status fillInputs(size_t pass, uint64_t seed, std::span<const MutableTensor> inputs) const override;
  void prefillOutputs(size_t pass, std::span<const MutableTensor> outputs) const override;
  verify::Verdict check(size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs,
                        std::span<const io::TensorSpan> outputs) const override;
  Status reference(std::span<const io::TensorSpan> inputs, std::span<const MutableTensor> outputs) const override;

private:
  // Of the baseline, for one pass; all candidates are compared with them.
  struct Expected {
    size_t pass = 0;
    uint64_t seed = 0;
    Status status;
    std::vector<io::HostTensor> outputs;
  };
  const Expected &expected(size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs) const;
  Status compute(std::span<const io::TensorSpan> inputs, std::vector<io::HostTensor> &outputs) const;

  Program program;
  std::string fullName;
  Status obstacleStatus;
  Baseline baseline;
  mutable std::optional<Expected> lastExpected;
};

} // namespace kiln::measure::corpus

#endif // KILN_MEASURE_CORPUS_CORPUS_PROBLEM_H
