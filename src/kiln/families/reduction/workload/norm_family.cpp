#include "kiln/families/reduction/workload/norm_family.h"

#include <cmath>

#include "kiln/families/reduction/workload/norm_mlir.h"
#include "kiln/families/reduction/workload/norm_verification.h"
#include "kiln/families/reduction/workload/row_configurations.h"
#include "kiln/families/reduction/workload/row_inputs.h"
#include "kiln/measure/cpu_shape.h"

namespace kiln::families {

using hal::ElementType;
using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

measure::Fields NormProblem::fields() const {
  return {{"rows", std::to_string(own.rows)},
          {"columns", std::to_string(own.columns)},
          {"type", std::string(hal::elementTypeName(own.type))},
          {"epsilon", fmt::format("{:g}", kNormEpsilon)},
          {"accumulator", "f32"}};
}

measure::TimingNumbers NormProblem::timingNumbers(size_t input) const {
  measure::TimingNumbers numbers;
  if (input > 0)
    return numbers; // gamma or beta
  numbers.rows = {.columns = own.columns};
  numbers.smallestScale = 0.25, numbers.largestScale = 4, numbers.largestOffset = 1;
  return numbers;
}

double NormProblem::flops() const {
  return (own.isLayerNorm ? 7.0 : 4.0) * static_cast<double>(own.rows) * static_cast<double>(own.columns);
}

std::string NormProblem::mlir(std::string_view function, std::string_view configuration) const {
  return normMlir(own, function, configuration);
}

std::vector<std::string> NormProblem::passes() const {
  std::vector<std::string> names;
  for (NormPass pass : kNormPasses)
    names.emplace_back(normPassName(pass));
  return names;
}

Status NormProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  if (inputs.size() != own.inputs().size())
    return invalidArgument("{} has {} inputs, not {}", name(), own.inputs().size(), inputs.size());
  fillNorm(own, kNormPasses[pass], seed, inputs);
  return okStatus();
}

void NormProblem::prefillOutputs(size_t pass, measure::MutableTensors outputs) const {
  for (const measure::MutableTensor &output : outputs)
    prefillNorm(kNormPasses[pass], output);
}

measure::verify::Verdict NormProblem::check(size_t pass, uint64_t, measure::Tensors inputs,
                                            measure::Tensors outputs) const {
  return checkNorm(own, kNormPasses[pass], inputs, outputs[0]);
}

Result<measure::verify::DeviceCase> NormProblem::deviceCase(size_t pass, uint64_t seed) const {
  if (pass >= std::size(kNormPasses))
    return invalidArgument("pass {} was asked for; there are {}", pass, std::size(kNormPasses));
  return normOnDevice(own, kNormPasses[pass], seed);
}

std::unique_ptr<measure::verify::TimedCheck> NormProblem::timedCheck(measure::Tensors inputs, uint64_t seed) const {
  return timedNorm(own, inputs, seed);
}

// In f32, from the first column to the last.
static void normalizePlainly(const NormSpec &spec, std::span<const double> row, std::span<const double> gamma,
                             std::span<const double> beta, std::span<float> results) {
  auto columns = static_cast<float>(row.size());
  float mean = 0, squares = 0;
  for (double x : row)
    mean += spec.isLayerNorm ? static_cast<float>(x) : 0;
  mean /= columns;
  for (double x : row)
    squares += (static_cast<float>(x) - mean) * (static_cast<float>(x) - mean);
  float root = std::sqrt(squares / columns + kNormEpsilon);
  for (size_t c = 0; c < row.size(); ++c) {
    results[c] = (static_cast<float>(row[c]) - mean) / root * static_cast<float>(gamma[c]);
    if (spec.isLayerNorm)
      results[c] += static_cast<float>(beta[c]);
  }
}

Status NormProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  if (inputs.size() != own.inputs().size() || outputs.size() != 1)
    return invalidArgument("{} has {} inputs and one output", name(), own.inputs().size());
  std::vector<double> gamma(own.columns), beta(own.columns);
  measure::verify::readElements(own.type, inputs[1].bytes, 0, gamma);
  if (own.isLayerNorm)
    measure::verify::readElements(own.type, inputs[2].bytes, 0, beta);
  std::vector<float> results(own.columns);
  uint64_t size = hal::elementTypeByteSize(own.type);
  forRows(own.asRows(), inputs[0].bytes, 0, own.rows, [&](uint64_t row, std::span<const double> elements) {
    normalizePlainly(own, elements, gamma, beta, results);
    for (uint64_t c = 0; c < own.columns; ++c)
      measure::verify::writeElement(own.type, results[c], outputs[0].bytes.data() + (row * own.columns + c) * size);
  });
  return okStatus();
}

//===--- Family ---------------------------------------------------------------------------------------------------===//

std::string_view NormFamily::summary() const {
  return isLayerNorm ? "rows by their mean and variance, with gamma and beta: layer_norm_1000x1024_f32"
                     : "rows by the root of their mean square, with gamma: rms_norm_1000x1024_f32";
}

std::span<const measure::Dimension> NormFamily::dimensions() const {
  static constexpr measure::Dimension kDimensions[] = {
      {"rows", "Sizes as above, of norms of rows."},
      {"columns", "Likewise; rows and columns are given together."},
  };
  return kDimensions;
}

Result<measure::Problems> NormFamily::problems(const measure::ProblemSelection &selection) const {
  KILN_ASSIGN_OR_RETURN(auto matrices, selection.matrices({{512, 768}, {4096, 4096}, {1000, 1001}}));
  measure::Problems problems;
  for (auto [rows, columns] : matrices)
    for (ElementType type : selection.elementTypes({ElementType::F32, ElementType::F16, ElementType::BF16})) {
      NormSpec spec{isLayerNorm, rows, columns, type};
      KILN_RETURN_IF_ERROR(add(problems, spec));
    }
  return problems;
}

measure::Problems NormFamily::problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const {
  measure::Problems problems;
  if (inputs.empty() || inputs[0].shape.size() != 2)
    return problems;
  addIfValid(problems, NormSpec{isLayerNorm, inputs[0].shape[0], inputs[0].shape[1], inputs[0].type});
  return problems;
}

std::vector<std::string> NormFamily::configurations(const Problem &problem, std::string_view target) const {
  const NormSpec *spec = specFor(problem, target);
  return spec ? rowConfigurations(spec->asRows(), measure::CpuShape::host().vectorBits) : std::vector<std::string>();
}

void registerNormFamilies(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<NormFamily>(/*isLayerNorm=*/true));
  registry.add(std::make_unique<NormFamily>(/*isLayerNorm=*/false));
}

} // namespace kiln::families
