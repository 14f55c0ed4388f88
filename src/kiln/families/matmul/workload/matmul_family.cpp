#include "kiln/families/matmul/workload/matmul_family.h"

#include <algorithm>
#include <array>

#include "kiln/families/matmul/workload/cpu_configurations.h"
#include "kiln/families/matmul/workload/matmul_mlir.h"
#include "kiln/families/matmul/workload/verification.h"

namespace kiln::families {

using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

std::vector<std::pair<std::string, std::string>> MatmulProblem::fields() const {
  return {{"batch_count", std::to_string(matmul.batch)},
          {"m", std::to_string(matmul.m)},
          {"n", std::to_string(matmul.n)},
          {"k", std::to_string(matmul.k)},
          {"lhs", matmul.lhs.name()},
          {"rhs", matmul.rhs.name()},
          {"result", matmul.result.name()},
          {"accumulator", std::string(hal::elementTypeName(matmul.accumulator))}};
}

double MatmulProblem::flops() const {
  return 2.0 * static_cast<double>(matmul.batch) * static_cast<double>(matmul.m) * static_cast<double>(matmul.n) *
         static_cast<double>(matmul.k);
}

std::string MatmulProblem::mlir(std::string_view function, std::string_view configuration) const {
  return matmulMlir(matmul, function, configuration);
}

std::vector<std::string> MatmulProblem::passes() const {
  return verificationPasses(matmul);
}

Status MatmulProblem::fillInputs(size_t pass, uint64_t seed, std::span<const measure::MutableTensor> inputs) const {
  return families::fillInputs(matmul, pass, seed, inputs);
}

void MatmulProblem::prefillOutputs(size_t pass, std::span<const measure::MutableTensor> outputs) const {
  families::prefillOutputs(matmul, pass, outputs);
}

measure::verify::Verdict MatmulProblem::check(size_t pass, uint64_t seed, std::span<const io::TensorSpan> inputs,
                                              std::span<const io::TensorSpan> outputs) const {
  return families::check(matmul, pass, seed, inputs, outputs);
}

//===--- Family ---------------------------------------------------------------------------------------------------===//

namespace {
struct Shape {
  uint64_t batch, m, n, k;
};
} // namespace

// The documents' shapes.
static constexpr std::array<Shape, 3> kMatmulShapes = {
    {{1, 256, 512, 128}, {1, 2560, 2560, 2560}, {1, 3456, 1024, 2048}}};
static constexpr std::array<Shape, 1> kBatchMatmulShapes = {{{16, 512, 64, 512}}};
static constexpr std::array<const char *, 4> kTypes = {"f32", "f16", "bf16", "i8"};

std::string_view MatmulFamily::summary() const {
  return batched ? "B products of matrices, MxK times KxN: batch_matmul_BxMxNxK_f32t_f32t_f32t"
                 : "the product of two matrices, MxK times KxN: matmul_MxNxK_f32t_f32t_f32t";
}

static Result<std::vector<Shape>> selectedShapes(const measure::ProblemSelection &selection, bool batched) {
  auto values = [&](std::string_view dimension) {
    auto found = selection.dimensions.find(dimension);
    return found == selection.dimensions.end() ? std::vector<uint64_t>() : found->second;
  };
  std::span<const Shape> defaults = batched ? std::span<const Shape>(kBatchMatmulShapes) : kMatmulShapes;
  std::vector<uint64_t> batches = batched ? values("b") : std::vector<uint64_t>();
  std::vector<uint64_t> ms = values("m"), ns = values("n"), ks = values("k");
  size_t given = (ms.empty() ? 0 : 1) + (ns.empty() ? 0 : 1) + (ks.empty() ? 0 : 1);
  if (given != 0 && given != 3)
    return invalidArgument("a matrix product has three sizes; give --problem-m, --problem-n and --problem-k together");
  std::vector<Shape> shapes;
  if (given == 0)
    shapes.assign(defaults.begin(), defaults.end());
  for (uint64_t m : ms)
    for (uint64_t n : ns)
      for (uint64_t k : ks)
        shapes.push_back({defaults.front().batch, m, n, k});
  if (batches.empty())
    return shapes;
  std::vector<Shape> withBatches;
  for (uint64_t batch : batches)
    for (const Shape &shape : shapes)
      withBatches.push_back({batch, shape.m, shape.n, shape.k});
  return withBatches;
}

static Result<std::vector<MatmulSpec>> selectedTypes(const measure::ProblemSelection &selection) {
  std::vector<std::string> names = selection.types;
  if (names.empty())
    names.assign(kTypes.begin(), kTypes.end());
  std::vector<MatmulSpec> types;
  for (const std::string &name : names) {
    Result<MatmulSpec> spec = parseMatmulTypes(name);
    // An element type that this family has no products of is meant for other families.
    if (!spec.ok() && spec.status().code() == StatusCode::Unimplemented && hal::parseElementType(name))
      continue;
    KILN_RETURN_IF_ERROR(spec.status());
    types.push_back(*spec);
  }
  return types;
}

std::span<const measure::Dimension> MatmulFamily::dimensions() const {
  static constexpr measure::Dimension kDimensions[] = {
    {"m", "A size, a list 64,128, or a range start:end:increment, whose end counts where a step meets it. m, n and k are "
          "given together."},
    {"n", "Likewise; of a convolution, its images."},
    {"k", "Likewise."},
    {"b", "Likewise, of batches."},
  };
  // The last is for batches.
  return std::span(kDimensions).first(std::size(kDimensions) - (batched ? 0 : 1));
}

Result<std::vector<std::unique_ptr<Problem>>> MatmulFamily::problems(const measure::ProblemSelection &selection) const {
  KILN_ASSIGN_OR_RETURN(std::vector<Shape> shapes, selectedShapes(selection, batched));
  KILN_ASSIGN_OR_RETURN(std::vector<MatmulSpec> types, selectedTypes(selection));
  std::vector<std::unique_ptr<Problem>> problems;
  for (const Shape &shape : shapes)
    for (MatmulSpec spec : types) {
      spec.batched = batched;
      spec.batch = shape.batch;
      spec.m = shape.m, spec.n = shape.n, spec.k = shape.k;
      if (Status status = spec.validate(); !status.ok())
        return std::move(status).withContext(spec.name());
      problems.push_back(std::make_unique<MatmulProblem>(spec));
    }
  return problems;
}

Result<std::unique_ptr<Problem>> MatmulFamily::parse(std::string_view name) const {
  KILN_ASSIGN_OR_RETURN(MatmulSpec spec, MatmulSpec::parse(this->name(), name));
  return std::unique_ptr<Problem>(std::make_unique<MatmulProblem>(spec));
}

static const MatmulSpec *specOf(const Problem &problem, std::string_view target) {
  const auto *matmul = dynamic_cast<const MatmulProblem *>(&problem);
  return matmul && target == "llvm-cpu" ? &matmul->spec() : nullptr;
}

std::vector<std::string> MatmulFamily::configurations(const Problem &problem, std::string_view target) const {
  const MatmulSpec *spec = specOf(problem, target);
  return spec ? cpuConfigurations(*spec, CpuShape::host(), kConfigurationCount) : std::vector<std::string>();
}

std::vector<std::string> MatmulFamily::configurationSpace(const Problem &problem, std::string_view target) const {
  std::vector<std::string> names;
  if (const MatmulSpec *spec = specOf(problem, target))
    for (const RatedConfig &rated : cpuConfigurationSpace(*spec, CpuShape::host()))
      names.push_back(rated.config.name());
  return names;
}

void registerMatmulFamily(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<MatmulFamily>(/*batched=*/false));
  registry.add(std::make_unique<MatmulFamily>(/*batched=*/true));
}

} // namespace kiln::families
