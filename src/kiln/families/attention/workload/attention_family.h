// The family attention. Names: attention_spec.h.
#ifndef KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_FAMILY_H
#define KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_FAMILY_H

#include "kiln/families/attention/workload/attention_spec.h"
#include "kiln/measure/spec_family.h"

namespace kiln::families {

class AttentionProblem final : public measure::SpecProblem<AttentionSpec> {
public:
  using SpecProblem::SpecProblem;

  std::string_view family() const override { return "attention"; }
  // heads, queries, keys, depth, value_depth, mask ("none" or "causal"), type, accumulator.
  measure::Fields fields() const override;
  std::vector<measure::TensorType> inputs() const override { return {own.query(), own.key(), own.value()}; }
  std::vector<measure::TensorType> outputs() const override { return {own.output()}; }
  // Scores of each query have a spread of their own, from one that weighs all keys alike to one that takes a few.
  measure::TimingNumbers timingNumbers(size_t input) const override {
    if (input > 0)
      return {};
    return {.largestScale = 16, .rows = {.columns = own.depth}};
  }
  // Of each pair of a query and a key that it sees: two products and sums for each element of a query and of a value,
  // and the five of softmax.
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

class AttentionFamily final : public measure::SpecFamily<AttentionProblem> {
public:
  std::string_view name() const override { return "attention"; }
  std::string_view summary() const override {
    return "softmax(Q K^T / sqrt(depth)) V of each head: attention_12x128x128x64x64_f32, attention_causal_...";
  }
  std::span<const measure::Dimension> dimensions() const override;
  // Each of the selected sizes without a mask and with a causal one.
  Result<measure::Problems> problems(const measure::ProblemSelection &selection) const override;
  measure::Problems problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const override;
  // None beside the compiler's default: the program is of several dispatches, and a configuration is of one.
  std::vector<std::string> configurations(const measure::Problem &, std::string_view) const override { return {}; }
};

void registerAttentionFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_FAMILY_H
