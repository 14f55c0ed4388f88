// The families layer_norm and rms_norm. Names: norm_spec.h.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_FAMILY_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_FAMILY_H

#include "kiln/families/reduction/workload/norm_spec.h"
#include "kiln/measure/spec_family.h"

namespace kiln::families {

class NormProblem final : public measure::SpecProblem<NormSpec> {
public:
  using SpecProblem::SpecProblem;

  std::string_view family() const override { return own.family(); }
  // rows, columns, type, epsilon, accumulator.
  measure::Fields fields() const override;
  std::vector<measure::TensorType> inputs() const override { return own.inputs(); }
  std::vector<measure::TensorType> outputs() const override { return {own.input()}; }
  // Each row has a mean and a variance of its own.
  measure::TimingNumbers timingNumbers(size_t input) const override;
  // One for each element and arithmetic operation: RMS norm has four (square, sum, scale, gamma), layer norm three more
  // (sum for the mean, difference, beta). What there is of each row counts little, and is left out.
  double flops() const override;
  std::string mlir(std::string_view function, std::string_view configuration) const override;
  std::vector<std::string> passes() const override;
  Status fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const override;
  void prefillOutputs(size_t pass, measure::MutableTensors outputs) const override;
  measure::verify::Verdict check(size_t pass, uint64_t seed, measure::Tensors inputs,
                                 measure::Tensors outputs) const override;
  Result<measure::verify::DeviceCase> deviceCase(size_t pass, uint64_t seed) const override;
  std::unique_ptr<measure::verify::TimedCheck> timedCheck(measure::Tensors inputs, uint64_t seed) const override;
  Status reference(measure::Tensors inputs, measure::MutableTensors outputs) const override;
};

class NormFamily final : public measure::SpecFamily<NormProblem> {
public:
  explicit NormFamily(bool isLayerNorm) : isLayerNorm(isLayerNorm) {}

  std::string_view name() const override { return isLayerNorm ? "layer_norm" : "rms_norm"; }
  std::string_view summary() const override;
  std::span<const measure::Dimension> dimensions() const override;
  // Of dimensions it knows rows and columns, which are given together.
  Result<measure::Problems> problems(const measure::ProblemSelection &selection) const override;
  measure::Problems problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const override;
  // As those of softmax, which goes through rows in the same way.
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;

private:
  bool isLayerNorm;
};

void registerNormFamilies(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_NORM_FAMILY_H
