// The family of products of 8-bit integers with zero points. Names: quantized_spec.h.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_FAMILY_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_FAMILY_H

#include "kiln/families/matmul/workload/quantized_spec.h"
#include "kiln/measure/spec_family.h"

namespace kiln::families {

class QuantizedProblem final : public measure::SpecProblem<QuantizedSpec> {
public:
  using SpecProblem::SpecProblem;

  std::string_view family() const override { return kQuantizedFamily; }
  // m, n, k, lhs, rhs, result, accumulator ("i32"), lhs_zero_point, rhs_zero_point ("-5"); of a requantized result also
  // result_zero_point and scale, "tensor" or "column".
  measure::Fields fields() const override;
  std::vector<measure::TensorType> inputs() const override { return own.inputs(); }
  bool isWeight(size_t input) const override { return input >= 1; }
  // Scales spread results over their type.
  measure::TimingNumbers timingNumbers(size_t input) const override;
  std::vector<measure::TensorType> outputs() const override { return {own.resultTensor()}; }
  // Of the product alone.
  double flops() const override;
  std::string mlir(std::string_view function, std::string_view configuration) const override;
  std::vector<std::string> passes() const override;
  Status fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const override;
  void prefillOutputs(size_t pass, measure::MutableTensors outputs) const override;
  measure::verify::Verdict check(size_t pass, uint64_t seed, measure::Tensors inputs,
                                 measure::Tensors outputs) const override;
  std::unique_ptr<measure::verify::TimedCheck> timedCheck(measure::Tensors inputs, uint64_t seed) const override;
  Status reference(measure::Tensors inputs, measure::MutableTensors outputs) const override;
};

class QuantizedFamily final : public measure::SpecFamily<QuantizedProblem> {
public:
  std::string_view name() const override { return kQuantizedFamily; }
  std::string_view summary() const override {
    return "products of 8-bit integers with zero points: qmatmul_MxNxK_i8t_i8t_i32t_za3_zbm5";
  }
  // m, n and k, which are given together.
  std::span<const measure::Dimension> dimensions() const override;
  // A type is i8 or ui8, lhs's, or all that a name says behind its sizes. An element type means a result in i32 and a
  // requantized one, row-major, with zero points as models have them.
  Result<measure::Problems> problems(const measure::ProblemSelection &selection) const override;
  // Those of the product without zero points.
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;
  std::vector<std::string> configurationSpace(const measure::Problem &problem, std::string_view target) const override;
};

void registerQuantizedFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_FAMILY_H
