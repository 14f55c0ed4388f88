// The family attention. Names: attention_spec.h.
#ifndef KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_FAMILY_H
#define KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_FAMILY_H

#include "kiln/families/attention/workload/attention_spec.h"
#include "kiln/measure/family.h"

namespace kiln::families {

class AttentionProblem final : public measure::Problem {
public:
  explicit AttentionProblem(const AttentionSpec &spec) : attention(spec) {}

  const AttentionSpec &spec() const { return attention; }

  std::string_view family() const override { return "attention"; }
  std::string name() const override { return attention.name(); }
  // heads, queries, keys, depth, value_depth, mask ("none" or "causal"), type, accumulator.
  std::vector<std::pair<std::string, std::string>> fields() const override;
  std::vector<measure::TensorType> inputs() const override {
    return {attention.query(), attention.key(), attention.value()};
  }
  std::vector<measure::TensorType> outputs() const override { return {attention.output()}; }
  // Scores of each query have a spread of their own, from one that weighs all keys alike to one that takes a few.
  measure::TimingNumbers timingNumbers(size_t input) const override {
    if (input > 0)
      return {};
    return {.largestScale = 16, .rows = {.columns = attention.depth}};
  }
  // Of each pair of a query and a key that it sees: two products and sums for each element of a query and of a value,
  // and the five of softmax.
  double flops() const override;
  std::string mlir(std::string_view function, std::string_view configuration) const override;
  std::vector<std::string> passes() const override;
  Status fillInputs(size_t pass, uint64_t seed, std::span<const measure::MutableTensor> inputs) const override;
  void prefillOutputs(size_t pass, std::span<const measure::MutableTensor> outputs) const override;
  measure::verify::Verdict check(size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs,
                                 std::span<const io::TensorSpan> outputs) const override;
  std::unique_ptr<measure::verify::TimedCheck> timedCheck(std::span<const io::TensorSpan> inputs,
                                                          uint64_t seed) const override;
  Status reference(std::span<const io::TensorSpan> inputs,
                   std::span<const measure::MutableTensor> outputs) const override;

private:
  AttentionSpec attention;
};

class AttentionFamily final : public measure::Family {
public:
  std::string_view name() const override { return "attention"; }
  std::string_view summary() const override {
    return "softmax(Q K^T / sqrt(depth)) V of each head: attention_12x128x128x64x64_f32, attention_causal_...";
  }
  std::span<const measure::Dimension> dimensions() const override;
  // Each of the selected sizes without a mask and with a causal one.
  Result<std::vector<std::unique_ptr<measure::Problem>>>
  problems(const measure::ProblemSelection &selection) const override;
  Result<std::unique_ptr<measure::Problem>> parse(std::string_view name) const override;
  std::vector<std::unique_ptr<measure::Problem>>
  problemsLike(std::span<const measure::TensorType> inputs,
               std::span<const measure::TensorType> outputs) const override;
  // None beside the compiler's default: the program is of several dispatches, and a configuration is of one.
  std::vector<std::string> configurations(const measure::Problem &, std::string_view) const override { return {}; }
};

void registerAttentionFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_FAMILY_H
