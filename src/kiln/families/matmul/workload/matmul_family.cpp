#include "kiln/families/matmul/workload/matmul_family.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "kiln/families/matmul/workload/cpu_configurations.h"
#include "kiln/families/matmul/workload/cuda_configurations.h"
#include "kiln/families/matmul/workload/matmul_mlir.h"
#include "kiln/families/matmul/workload/quantized_spec.h"
#include "kiln/families/matmul/workload/reference.h"
#include "kiln/families/matmul/workload/verification.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

measure::Fields MatmulProblem::fields() const {
  measure::Fields fields = {{"batch_count", std::to_string(own.batch)},
                            {"m", std::to_string(own.m)},
                            {"n", std::to_string(own.n)},
                            {"k", std::to_string(own.k)},
                            {"lhs", own.lhs.name()},
                            {"rhs", own.rhs.name()},
                            {"result", own.result.name()},
                            {"accumulator", std::string(hal::elementTypeName(own.accumulator))}};
  if (own.tf32)
    fields.emplace_back("arithmetic", "tf32");
  if (own.hasBias())
    fields.emplace_back("epilogue", epilogueName(own.epilogue));
  if (own.split != SplitK::None) {
    fields.emplace_back("split_k_mode", splitName(own.split));
    fields.emplace_back("split_k_slices", std::to_string(own.slices));
    fields.emplace_back("partials", hal::elementTypeName(own.partials));
  }
  return fields;
}

std::vector<measure::TensorType> MatmulProblem::inputs() const {
  std::vector<measure::TensorType> tensors = {own.lhsTensor(), own.rhsTensor()};
  if (own.hasBias())
    tensors.push_back(own.biasTensor());
  return tensors;
}

std::unique_ptr<Problem> MatmulProblem::inTF32() const {
  if (own.lhs.type != ElementType::F32 || own.accumulator != ElementType::F32)
    return nullptr;
  MatmulSpec narrow = own;
  narrow.tf32 = true;
  return std::make_unique<MatmulProblem>(narrow);
}

double MatmulProblem::flops() const {
  return 2.0 * static_cast<double>(own.batch) * static_cast<double>(own.m) * static_cast<double>(own.n) *
         static_cast<double>(own.k);
}

std::string MatmulProblem::mlir(std::string_view function, std::string_view configuration) const {
  return matmulMlir(own, function, configuration);
}

std::vector<std::string> MatmulProblem::passes() const {
  return verificationPasses(own);
}

Status MatmulProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  return families::fillInputs(own, pass, seed, inputs);
}

void MatmulProblem::prefillOutputs(size_t pass, measure::MutableTensors outputs) const {
  families::prefillOutputs(own, pass, outputs);
}

measure::verify::Verdict MatmulProblem::check(size_t pass, uint64_t seed, measure::Tensors inputs,
                                              measure::Tensors outputs) const {
  return families::check(own, pass, seed, inputs, outputs);
}

Result<measure::verify::DeviceCase> MatmulProblem::deviceCase(size_t pass, uint64_t seed) const {
  return families::deviceCase(own, pass, seed);
}

std::unique_ptr<measure::verify::TimedCheck> MatmulProblem::timedCheck(measure::Tensors inputs, uint64_t seed) const {
  return families::timedCheck(own, inputs, seed);
}

Status MatmulProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  return computeReference(own, inputs, outputs);
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
static constexpr std::array<Shape, 1> kFusedShapes = {{{1, 256, 512, 128}}};
static constexpr std::array<Shape, 1> kSplitShapes = {{{1, 128, 128, 12288}}};
static constexpr std::array<uint64_t, 4> kSliceCounts = {2, 4, 16, 18};
static constexpr std::array<const char *, 4> kTypes = {"f32", "f16", "bf16", "i8"};
static constexpr const char *kFamilies[] = {"matmul",           "batch_matmul",     "matmul_bias",
                                            "matmul_bias_relu", "matmul_bias_gelu", "matmul_bias_gelu_tanh",
                                            "matmul_splitk"};

std::string_view MatmulFamily::summary() const {
  if (prototype.split != SplitK::None)
    return "the product in slices of K: matmul_splitk_parallel_4_MxNxK_f32t_f32t_f32t_partf32, or serial";
  switch (prototype.epilogue) {
  case Epilogue::None: break;
  case Epilogue::Bias: return "the product plus a bias for each column: matmul_bias_MxNxK_f32t_f32t_f32t";
  case Epilogue::BiasRelu: return "the same, negative results made zero: matmul_bias_relu_MxNxK_f32t_f32t_f32t";
  case Epilogue::BiasGelu: return "the same with the exact gelu: matmul_bias_gelu_MxNxK_f32t_f32t_f32t";
  case Epilogue::BiasGeluTanh: return "the same with gelu by tanh: matmul_bias_gelu_tanh_MxNxK_f32t_f32t_f32t";
  }
  return prototype.batched ? "B products of matrices, MxK times KxN: batch_matmul_BxMxNxK_f32t_f32t_f32t"
                           : "the product of two matrices, MxK times KxN: matmul_MxNxK_f32t_f32t_f32t";
}

static std::span<const Shape> defaultShapes(const MatmulSpec &prototype) {
  if (prototype.split != SplitK::None)
    return kSplitShapes;
  if (prototype.hasBias())
    return kFusedShapes;
  return prototype.batched ? std::span<const Shape>(kBatchMatmulShapes) : kMatmulShapes;
}

static std::vector<uint64_t> valuesOf(const measure::ProblemSelection &selection, std::string_view dimension) {
  auto found = selection.dimensions.find(dimension);
  return found == selection.dimensions.end() ? std::vector<uint64_t>() : found->second;
}

static Result<std::vector<Shape>> selectedShapes(const measure::ProblemSelection &selection,
                                                 const MatmulSpec &prototype) {
  std::span<const Shape> defaults = defaultShapes(prototype);
  std::vector<uint64_t> batches = prototype.batched ? valuesOf(selection, "b") : std::vector<uint64_t>();
  std::vector<uint64_t> ms = valuesOf(selection, "m"), ns = valuesOf(selection, "n"), ks = valuesOf(selection, "k");
  size_t given = (ms.empty() ? 0 : 1) + (ns.empty() ? 0 : 1) + (ks.empty() ? 0 : 1);
  // n beside a convolution's sizes is its images, and no matrix product is asked for.
  if (given == 1 && !ns.empty() && !valuesOf(selection, "h").empty())
    return std::vector<Shape>();
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

// How the reduction is split: both ways into each number of slices. Numbers that nobody asked for are left out where
// they are too large.
static std::vector<MatmulSpec> selectedSplits(const measure::ProblemSelection &selection, const MatmulSpec &spec) {
  if (spec.split == SplitK::None)
    return {spec};
  std::vector<uint64_t> counts = valuesOf(selection, "slices");
  if (counts.empty())
    std::ranges::copy_if(kSliceCounts, std::back_inserter(counts), [&](uint64_t count) { return count <= spec.k; });
  std::vector<MatmulSpec> splits;
  for (SplitK mode : {SplitK::Serial, SplitK::Parallel})
    for (uint64_t count : counts) {
      splits.push_back(spec);
      splits.back().split = mode;
      splits.back().slices = count;
    }
  return splits;
}

// Whether the types are those of some family here: "f16t_f16t_f16t_partf16" is said to all of them.
static bool isForOthers(std::string_view types) {
  if (parseQuantizedTypes(types).ok())
    return true;
  return std::ranges::any_of(kFamilies, [&](const char *family) { return parseMatmulTypes(types, family).ok(); });
}

static Result<std::vector<MatmulSpec>> selectedTypes(const measure::ProblemSelection &selection,
                                                     std::string_view family) {
  std::vector<std::string> names = selection.types;
  if (names.empty())
    names.assign(kTypes.begin(), kTypes.end());
  std::vector<MatmulSpec> types;
  for (const std::string &name : names) {
    Result<MatmulSpec> spec = parseMatmulTypes(name, family);
    // An element type that this family has no products of is meant for other families.
    if (!spec.ok() &&
        ((spec.status().code() == StatusCode::Unimplemented && measure::verify::parseMeasuredType(name)) ||
         isForOthers(name)))
      continue;
    KILN_RETURN_IF_ERROR(spec.status());
    types.push_back(*spec);
  }
  return types;
}

std::span<const measure::Dimension> MatmulFamily::dimensions() const {
  static constexpr measure::Dimension kSizes[] = {
      {"m",
       "A size, a list 64,128, or a range start:end:increment, whose end counts where a step meets it. m, n and k are "
       "given together."},
      {"n", "Likewise; of a convolution, its images."},
      {"k", "Likewise."},
      {"b", "Likewise, of batches."},
  };
  static constexpr measure::Dimension kSplit[] = {
      kSizes[0], kSizes[1], kSizes[2], {"slices", "Likewise, of the slices of split-k."}};
  if (prototype.split != SplitK::None)
    return kSplit;
  return std::span(kSizes).first(prototype.batched ? 4 : 3);
}

Result<measure::Problems> MatmulFamily::problems(const measure::ProblemSelection &selection) const {
  KILN_ASSIGN_OR_RETURN(std::vector<Shape> shapes, selectedShapes(selection, prototype));
  KILN_ASSIGN_OR_RETURN(std::vector<MatmulSpec> types, selectedTypes(selection, name()));
  measure::Problems problems;
  for (const Shape &shape : shapes)
    for (MatmulSpec spec : types) {
      spec.batch = shape.batch;
      spec.m = shape.m, spec.n = shape.n, spec.k = shape.k;
      for (const MatmulSpec &split : selectedSplits(selection, spec)) {
        if (Status status = split.validate(); !status.ok())
          return std::move(status).withContext(split.name());
        problems.push_back(std::make_unique<MatmulProblem>(split));
      }
    }
  return problems;
}

// Split-k is a way to compute a product, and no other operation.
measure::Problems MatmulFamily::problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const {
  measure::Problems problems;
  const size_t rank = prototype.batched ? 3 : 2;
  if (inputs.size() < 2 || outputs.size() != 1 || prototype.split != SplitK::None || inputs[0].shape.size() != rank ||
      outputs[0].shape.size() != rank)
    return problems;
  for (bool lhsColumnMajor : {false, true})
    for (bool rhsColumnMajor : {false, true})
      for (ElementType accumulator : {ElementType::F32, ElementType::F16, ElementType::I32}) {
        MatmulSpec spec = prototype;
        spec.batch = prototype.batched ? outputs[0].shape[0] : 1;
        spec.m = outputs[0].shape[rank - 2], spec.n = outputs[0].shape[rank - 1];
        spec.k = inputs[0].shape[lhsColumnMajor ? rank - 2 : rank - 1];
        spec.lhs = {inputs[0].type, lhsColumnMajor}, spec.rhs = {inputs[1].type, rhsColumnMajor};
        spec.result = {outputs[0].type, false};
        spec.accumulator = accumulator;
        addIfValid(problems, spec);
      }
  return problems;
}

std::vector<std::string> MatmulFamily::configurations(const Problem &problem, std::string_view target) const {
  if (std::optional<CudaShape> gpu = CudaShape::of(target)) {
    const auto *product = dynamic_cast<const MatmulProblem *>(&problem);
    return product ? cudaConfigurations(product->spec(), *gpu, kConfigurationCount) : std::vector<std::string>();
  }
  const MatmulSpec *spec = specFor(problem, target);
  return spec ? cpuConfigurations(*spec, CpuShape::host(), kConfigurationCount) : std::vector<std::string>();
}

std::vector<std::string> MatmulFamily::configurationSpace(const Problem &problem, std::string_view target) const {
  if (std::optional<CudaShape> gpu = CudaShape::of(target)) {
    const auto *product = dynamic_cast<const MatmulProblem *>(&problem);
    return product ? measure::namesOf(cudaConfigurationSpace(product->spec(), *gpu)) : std::vector<std::string>();
  }
  const MatmulSpec *spec = specFor(problem, target);
  return spec ? measure::namesOf(cpuConfigurationSpace(*spec, CpuShape::host())) : std::vector<std::string>();
}

void registerMatmulFamily(measure::FamilyRegistry &registry) {
  for (const char *name : kFamilies)
    registry.add(std::make_unique<MatmulFamily>(name));
}

} // namespace kiln::families
