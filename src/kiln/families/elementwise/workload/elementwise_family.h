// The family elementwise. Names: elementwise_spec.h.
#ifndef KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_FAMILY_H
#define KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_FAMILY_H

#include "kiln/families/elementwise/workload/elementwise_spec.h"
#include "kiln/measure/spec_family.h"

namespace kiln::families {

class ElementwiseProblem final : public measure::SpecProblem<ElementwiseSpec> {
public:
  using SpecProblem::SpecProblem;

  std::string_view family() const override { return "elementwise"; }
  // op, shape ("1000x1001"), type.
  measure::Fields fields() const override;
  measure::TimingNumbers timingNumbers(size_t input) const override;
  std::vector<measure::TensorType> inputs() const override {
    return std::vector<measure::TensorType>(own.op->inputs, own.tensor());
  }
  std::vector<measure::TensorType> outputs() const override { return {own.tensor()}; }
  double flops() const override;
  std::string mlir(std::string_view function, std::string_view configuration) const override;
  std::vector<std::string> passes() const override { return {"values", "special"}; }
  Status fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const override;
  void prefillOutputs(size_t pass, measure::MutableTensors outputs) const override;
  Result<measure::verify::DeviceCase> deviceCase(size_t pass, uint64_t seed) const override;
  measure::verify::Verdict check(size_t pass, uint64_t seed, measure::Tensors inputs,
                                 measure::Tensors outputs) const override;
  std::unique_ptr<measure::verify::TimedCheck> timedCheck(measure::Tensors inputs, uint64_t seed) const override;
  Status reference(measure::Tensors inputs, measure::MutableTensors outputs) const override;
};

class ElementwiseFamily final : public measure::SpecFamily<ElementwiseProblem> {
public:
  std::string_view name() const override { return "elementwise"; }
  std::string_view summary() const override {
    return "one operation for each element: elementwise_add_1000x1001_f32; also mul, relu, gelu, gelu_tanh, exp, tanh, "
           "sigmoid, sqrt";
  }
  std::span<const measure::Dimension> dimensions() const override;
  bool takesShapes() const override { return true; }
  // Of dimensions it knows rows and columns; columns alone are tensors of one dimension. Whole shapes come beside them.
  Result<measure::Problems> problems(const measure::ProblemSelection &selection) const override;
  measure::Problems problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const override;
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;
};

void registerElementwiseFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_FAMILY_H
