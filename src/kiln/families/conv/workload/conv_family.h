// The family conv2d. Names: conv_spec.h.
#ifndef KILN_FAMILIES_CONV_WORKLOAD_CONV_FAMILY_H
#define KILN_FAMILIES_CONV_WORKLOAD_CONV_FAMILY_H

#include "kiln/families/conv/workload/conv_spec.h"
#include "kiln/measure/spec_family.h"

namespace kiln::families {

class ConvProblem final : public measure::SpecProblem<ConvSpec> {
public:
  using SpecProblem::SpecProblem;

  std::string_view family() const override { return "conv2d"; }
  // layout, n, h, w, c, r, s, f, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w, groups, input_type,
  // filter_type, result_type, accumulator; in tf32 {"arithmetic", "tf32"}.
  measure::Fields fields() const override;
  std::vector<measure::TensorType> inputs() const override { return {own.imageTensor(), own.filterTensor()}; }
  bool isWeight(size_t input) const override { return input == 1; }
  std::vector<measure::TensorType> outputs() const override { return {own.resultTensor()}; }
  std::unique_ptr<measure::Problem> inTF32() const override;
  void promiseSumsOfTensorCores() override { own.cutsSums = own.sumsNarrowFloats(); }
  // Products with padding count: that is what everybody counts, and what most programs compute.
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

class ConvFamily final : public measure::SpecFamily<ConvProblem> {
public:
  std::string_view name() const override { return "conv2d"; }
  std::string_view summary() const override;
  std::span<const measure::Dimension> dimensions() const override;
  // Of dimensions it knows h, w, c and f, which are given together; with them n (1), r and s (3, and as r), stride and
  // dilation (1), pad (0) and groups (1), each the same for rows and columns. n alone is the number of images of the
  // default shapes, unless m or k say that it is another family's. A type is an element type, or those of image, filter
  // and result ("f16_f16_f32"). By default: f32, f16, bf16 and i8. Each problem is there in both layouts.
  Result<measure::Problems> problems(const measure::ProblemSelection &selection) const override;
  measure::Problems problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const override;
  // At most kConfigurationCount of them for llvm-cpu; none for targets that are not known here.
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;
  std::vector<std::string> configurationSpace(const measure::Problem &problem, std::string_view target) const override;

  static constexpr size_t kConfigurationCount = 32;
};

void registerConvFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_CONV_WORKLOAD_CONV_FAMILY_H
