// The families of matrix products: plain, batched, with an epilogue, split-k. Names: matmul_spec.h.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_FAMILY_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_FAMILY_H

#include "kiln/families/matmul/workload/matmul_spec.h"
#include "kiln/measure/spec_family.h"

namespace kiln::families {

class MatmulProblem final : public measure::SpecProblem<MatmulSpec> {
public:
  using SpecProblem::SpecProblem;

  std::string_view family() const override { return own.family(); }
  // batch_count (1 unless batched), m, n, k, lhs, rhs, result, accumulator: {"lhs", "f32t"}, {"accumulator", "f32"}.
  // In tf32 {"arithmetic", "tf32"}.
  // Then, of a fused one, epilogue: {"epilogue", "bias_relu"}; of split-k, split_k_mode, split_k_slices, partials:
  // {"split_k_mode", "serial"}, {"split_k_slices", "4"}, {"partials", "f32"}.
  measure::Fields fields() const override;
  // lhs, rhs, and the bias, where there is one.
  std::vector<measure::TensorType> inputs() const override;
  bool isWeight(size_t input) const override { return input >= 1; } // the right operand, and a bias
  std::vector<measure::TensorType> outputs() const override { return {own.resultTensor()}; }
  std::unique_ptr<measure::Problem> inTF32() const override;
  void promiseSumsOfTensorCores() override { own.cutsSums = own.sumsNarrowFloats(); }
  // Of the product alone, so that what an epilogue or a split costs shows in GFLOP/s.
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

class MatmulFamily final : public measure::SpecFamily<MatmulProblem> {
public:
  // By its name, which MatmulSpec::ofFamily knows.
  explicit MatmulFamily(std::string_view name) : prototype(*MatmulSpec::ofFamily(name)) {}

  std::string_view name() const override { return prototype.family(); }
  std::string_view summary() const override;
  std::span<const measure::Dimension> dimensions() const override;
  // Of dimensions it knows m, n and k, which are given together; batch_matmul also b, and matmul_splitk slices. A type
  // is an element type, or three matrices ("f16t_f16n_f32t", also with "_accf16", or of split-k with "_partf16"). By
  // default: f32, f16, bf16 and (without an epilogue) i8, row-major.
  Result<measure::Problems> problems(const measure::ProblemSelection &selection) const override;
  measure::Problems problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const override;
  // kConfigurationCount of them for llvm-cpu and for GPUs of NVIDIA, fewer where the problem is too small to be cut in
  // so many ways; none for targets that are not known here.
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;
  // Thousands, 500 and more for all but small problems.
  std::vector<std::string> configurationSpace(const measure::Problem &problem, std::string_view target) const override;

  static constexpr size_t kConfigurationCount = 32;

private:
  MatmulSpec prototype;
};

void registerMatmulFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_FAMILY_H
