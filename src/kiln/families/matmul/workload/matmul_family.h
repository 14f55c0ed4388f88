// The families matmul and batch_matmul. Names: matmul_spec.h.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_FAMILY_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_FAMILY_H

#include "kiln/families/matmul/workload/matmul_spec.h"
#include "kiln/measure/family.h"

namespace kiln::families {

class MatmulProblem final : public measure::Problem {
public:
  explicit MatmulProblem(MatmulSpec spec) : matmul(spec) {}

  const MatmulSpec &spec() const { return matmul; }

  std::string_view family() const override { return matmul.family(); }
  std::string name() const override { return matmul.name(); }
  // batch_count (1 for matmul), m, n, k, lhs, rhs, result, accumulator: {"lhs", "f32t"}, {"accumulator", "f32"}.
  std::vector<std::pair<std::string, std::string>> fields() const override;
  std::vector<measure::TensorType> inputs() const override { return {matmul.lhsTensor(), matmul.rhsTensor()}; }
  std::vector<measure::TensorType> outputs() const override { return {matmul.resultTensor()}; }
  double flops() const override;
  std::string mlir(std::string_view function, std::string_view configuration) const override;
  std::vector<std::string> passes() const override;
  Status fillInputs(size_t pass, uint64_t seed, std::span<const measure::MutableTensor> inputs) const override;
  void prefillOutputs(size_t pass, std::span<const measure::MutableTensor> outputs) const override;
  measure::verify::Verdict check(size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs,
                                 std::span<const io::TensorSpan> outputs) const override;

private:
  MatmulSpec matmul;
};

class MatmulFamily final : public measure::Family {
public:
  explicit MatmulFamily(bool batched) : batched(batched) {}

  std::string_view name() const override { return batched ? "batch_matmul" : "matmul"; }
  std::string_view summary() const override;
  std::span<const measure::Dimension> dimensions() const override;
  // Of dimensions it knows m, n and k, which are given together, and batch_matmul also b. A type is an element type, or
  // three matrices ("f16t_f16n_f32t", also with "_accf16"). By default: f32, f16, bf16 and i8, row-major.
  Result<std::vector<std::unique_ptr<measure::Problem>>>
  problems(const measure::ProblemSelection &selection) const override;
  Result<std::unique_ptr<measure::Problem>> parse(std::string_view name) const override;
  // kConfigurationCount of them for llvm-cpu, fewer where the problem is too small to be cut in so many ways; none for
  // targets that are not known here.
  std::vector<std::string> configurations(const measure::Problem &problem, std::string_view target) const override;
  // Thousands, 500 and more for all but small problems.
  std::vector<std::string> configurationSpace(const measure::Problem &problem, std::string_view target) const override;

  static constexpr size_t kConfigurationCount = 32;

private:
  bool batched;
};

void registerMatmulFamily(measure::FamilyRegistry &registry);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_MATMUL_FAMILY_H
