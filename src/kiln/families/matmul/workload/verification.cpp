#include "kiln/families/matmul/workload/verification.h"

#include <algorithm>

#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/inputs.h"

namespace kiln::families {

using measure::verify::Cause;
using measure::verify::Contraction;
using measure::verify::Layout;
using measure::verify::Pass;
using measure::verify::Verdict;

static Layout layoutOf(const Matrix &matrix, int64_t rows, int64_t columns) {
  return matrix.columnMajor ? Layout::columnMajor(rows, columns) : Layout::rowMajor(rows, columns);
}

static Contraction contractionOf(const MatmulSpec &spec) {
  auto m = static_cast<int64_t>(spec.m), n = static_cast<int64_t>(spec.n), k = static_cast<int64_t>(spec.k);
  Contraction contraction =
      Contraction::dense(static_cast<int64_t>(spec.batch), m, n, k, spec.lhs.type, spec.result.type, spec.accumulator);
  contraction.lhsLayout = layoutOf(spec.lhs, m, k);
  contraction.rhsLayout = layoutOf(spec.rhs, k, n);
  return contraction;
}

static Status matches(std::string_view what, const measure::TensorType &wanted, ElementType type,
                      std::span<const uint64_t> shape, size_t bytes) {
  uint64_t size = hal::elementTypeByteSize(wanted.type);
  for (uint64_t extent : wanted.shape)
    size *= extent;
  if (type == wanted.type && std::ranges::equal(shape, wanted.shape) && bytes == size)
    return okStatus();
  return invalidArgument("{} is {} bytes of type {}; {} bytes of type {} are needed", what, bytes,
                         hal::elementTypeName(type), size, hal::elementTypeName(wanted.type));
}

static Result<Pass> passOf(const Contraction &contraction, size_t index) {
  std::span<const Pass> passes = passesOf(contraction);
  if (index >= passes.size())
    return invalidArgument("pass {} was asked for; there are {}", index, passes.size());
  return passes[index];
}

std::vector<std::string> verificationPasses(const MatmulSpec &spec) {
  std::vector<std::string> names;
  for (Pass pass : passesOf(contractionOf(spec)))
    names.emplace_back(passName(pass));
  return names;
}

Status fillInputs(const MatmulSpec &spec, size_t pass, uint64_t seed, std::span<const measure::MutableTensor> inputs) {
  Contraction contraction = contractionOf(spec);
  KILN_ASSIGN_OR_RETURN(Pass chosen, passOf(contraction, pass));
  if (inputs.size() != 2)
    return invalidArgument("{} has 2 inputs, not {}", spec.name(), inputs.size());
  const measure::TensorType wanted[] = {spec.lhsTensor(), spec.rhsTensor()};
  for (size_t i = 0; i < 2; ++i)
    KILN_RETURN_IF_ERROR(
        matches(fmt::format("input {}", i), wanted[i], inputs[i].type, inputs[i].shape, inputs[i].bytes.size()));
  return measure::verify::fillInputs(contraction, chosen, seed, inputs[0].bytes, inputs[1].bytes);
}

void prefillOutputs(const MatmulSpec &spec, size_t pass, std::span<const measure::MutableTensor> outputs) {
  Result<Pass> chosen = passOf(contractionOf(spec), pass);
  for (const measure::MutableTensor &output : outputs)
    if (chosen.ok())
      measure::verify::prefillOutput(output.type, *chosen, output.bytes);
}

static Result<Verdict> checkOutputs(const MatmulSpec &spec, size_t pass, uint64_t seed,
                                    std::span<const io::TensorSpan> inputs, std::span<const io::TensorSpan> outputs) {
  Contraction contraction = contractionOf(spec);
  KILN_ASSIGN_OR_RETURN(Pass chosen, passOf(contraction, pass));
  if (inputs.size() != 2 || outputs.size() != 1)
    return invalidArgument("{} has 2 inputs and 1 output, not {} and {}", spec.name(), inputs.size(), outputs.size());
  KILN_RETURN_IF_ERROR(
      matches("the output", spec.resultTensor(), outputs[0].type, outputs[0].shape, outputs[0].bytes.size()));
  return checkContraction(contraction, chosen, seed, inputs[0].bytes, inputs[1].bytes, outputs[0].bytes);
}

Verdict check(const MatmulSpec &spec, size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs,
              std::span<const io::TensorSpan> outputs) {
  Result<Verdict> verdict = checkOutputs(spec, pass, seed, inputs, outputs);
  if (verdict.ok())
    return *std::move(verdict);
  // Tensors that do not fit say nothing of the result, and must not pass for a right one.
  Verdict failure;
  failure.cause = Cause::Unknown;
  failure.method = "none";
  failure.explanation = verdict.status().message();
  return failure;
}

} // namespace kiln::families
