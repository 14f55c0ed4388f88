// The families reduction and softmax. Names: row_spec.h.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_FAMILY_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_FAMILY_H

#include "kiln/families/reduction/workload/row_spec.h"
#include "kiln/measure/spec_family.h"

namespace kiln::families {

class RowProblem final : public measure::SpecProblem<RowSpec> {
public:
  using SpecProblem::SpecProblem;

  std::string_view family() const override { return own.family(); }
  // op, rows, columns, inner where it is not 1, type, result_type, accumulator; of softmax rows, columns, type,
  // accumulator.
  measure::Fields fields() const override;
  std::vector<measure::TensorType> inputs() const override { return {own.input()}; }
  std::vector<measure::TensorType> outputs() const override { return {own.output()}; }
  measure::TimingNumbers timingNumbers(size_t input) const override;
  // One for each element and arithmetic operation: a reduction has one, and for a mean the division of each row;
  // softmax has five (maximum, difference, exponential, sum, division).
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

class RowFamily final : public measure::SpecFamily<RowProblem> {
public:
  explicit RowFamily(bool softmax) : softmax(softmax) {}

  std::string_view name() const override { return softmax ? "softmax" : "reduction"; }
  std::string_view summary() const override;
  std::span<const measure::Dimension> dimensions() const override;
  // Of dimensions it knows rows and columns, which are given together, and of a reduction inner. A type is an element
  // type, or of a reduction two: "f16_f32".
  Result<measure::Problems> problems(const measure::ProblemSelection &selection) const override;
  measure::Problems problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const override;
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;

private:
  bool softmax;
};

void registerReductionFamilies(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_REDUCTION_FAMILY_H
