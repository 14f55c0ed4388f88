// The family elementwise. Names: elementwise_spec.h.
#ifndef KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_FAMILY_H
#define KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_FAMILY_H

#include "kiln/families/elementwise/workload/elementwise_spec.h"
#include "kiln/measure/family.h"

namespace kiln::families {

class ElementwiseProblem final : public measure::Problem {
public:
  explicit ElementwiseProblem(ElementwiseSpec spec) : elementwise(std::move(spec)) {}

  const ElementwiseSpec &spec() const { return elementwise; }

  std::string_view family() const override { return "elementwise"; }
  std::string name() const override { return elementwise.name(); }
  // op, shape ("1000x1001"), type.
  std::vector<std::pair<std::string, std::string>> fields() const override;
  measure::TimingNumbers timingNumbers(size_t input) const override;
  std::vector<measure::TensorType> inputs() const override {
    return std::vector<measure::TensorType>(elementwise.op->inputs, elementwise.tensor());
  }
  std::vector<measure::TensorType> outputs() const override { return {elementwise.tensor()}; }
  double flops() const override;
  std::string mlir(std::string_view function, std::string_view configuration) const override;
  std::vector<std::string> passes() const override { return {"values", "special"}; }
  Status fillInputs(size_t pass, uint64_t seed, std::span<const measure::MutableTensor> inputs) const override;
  void prefillOutputs(size_t pass, std::span<const measure::MutableTensor> outputs) const override;
  measure::verify::Verdict check(size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs,
                                 std::span<const io::TensorSpan> outputs) const override;
  std::unique_ptr<measure::verify::TimedCheck> timedCheck(std::span<const io::TensorSpan> inputs,
                                                          uint64_t seed) const override;
  Status reference(std::span<const io::TensorSpan> inputs,
                   std::span<const measure::MutableTensor> outputs) const override;

private:
  ElementwiseSpec elementwise;
};

class ElementwiseFamily final : public measure::Family {
public:
  std::string_view name() const override { return "elementwise"; }
  std::string_view summary() const override {
    return "one operation for each element: elementwise_add_1000x1001_f32; also mul, relu, gelu, gelu_tanh, exp, tanh, "
           "sigmoid, sqrt";
  }
  std::span<const measure::Dimension> dimensions() const override;
  bool takesShapes() const override { return true; }
  // Of dimensions it knows rows and columns; columns alone are tensors of one dimension. Whole shapes come beside them.
  Result<std::vector<std::unique_ptr<measure::Problem>>>
  problems(const measure::ProblemSelection &selection) const override;
  Result<std::unique_ptr<measure::Problem>> parse(std::string_view name) const override;
  std::vector<std::unique_ptr<measure::Problem>>
  problemsLike(std::span<const measure::TensorType> inputs,
               std::span<const measure::TensorType> outputs) const override;
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;
};

void registerElementwiseFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_ELEMENTWISE_WORKLOAD_ELEMENTWISE_FAMILY_H
