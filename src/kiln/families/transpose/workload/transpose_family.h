// The family transpose. Names: transpose_spec.h.
#ifndef KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_FAMILY_H
#define KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_FAMILY_H

#include "kiln/families/transpose/workload/transpose_spec.h"
#include "kiln/measure/spec_family.h"

namespace kiln::families {

class TransposeProblem final : public measure::SpecProblem<TransposeSpec> {
public:
  using SpecProblem::SpecProblem;

  std::string_view family() const override { return "transpose"; }
  // permutation ("0213"), shape ("2x3x4x5", the input's), type.
  measure::Fields fields() const override;
  std::vector<measure::TensorType> inputs() const override { return {own.input()}; }
  std::vector<measure::TensorType> outputs() const override { return {own.output()}; }
  double flops() const override { return 0; }
  std::string mlir(std::string_view function, std::string_view configuration) const override;
  std::vector<std::string> passes() const override;
  Status fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const override;
  void prefillOutputs(size_t pass, measure::MutableTensors outputs) const override;
  Result<measure::verify::DeviceCase> deviceCase(size_t pass, uint64_t seed) const override;
  measure::verify::Verdict check(size_t pass, uint64_t seed, measure::Tensors inputs,
                                 measure::Tensors outputs) const override;
  std::unique_ptr<measure::verify::TimedCheck> timedCheck(measure::Tensors inputs, uint64_t seed) const override;
  Status reference(measure::Tensors inputs, measure::MutableTensors outputs) const override;
};

class TransposeFamily final : public measure::SpecFamily<TransposeProblem> {
public:
  std::string_view name() const override { return "transpose"; }
  std::string_view summary() const override {
    return "dimensions in another order: transpose_10_1000x1001_f32, transpose_0213_8x12x128x64_f16";
  }
  std::span<const measure::Dimension> dimensions() const override;
  bool takesShapes() const override { return true; }
  // Of dimensions it knows rows and columns, which are given together, and permutation: its digits, of which those are
  // taken that fit a shape. Without any, each shape comes in the orders that programs ask for most.
  Result<measure::Problems> problems(const measure::ProblemSelection &selection) const override;
  measure::Problems problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const override;
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;
};

// tile_config_{M}x{N}_0x1_vector_1x{columns}: N along the result's last dimension and M along those before it, in
// vectors of so many elements. Likely best first.
std::vector<std::string> transposeConfigurations(const TransposeSpec &spec, int64_t vectorBits);

void registerTransposeFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_TRANSPOSE_WORKLOAD_TRANSPOSE_FAMILY_H
