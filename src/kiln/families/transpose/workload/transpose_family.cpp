#include "kiln/families/transpose/workload/transpose_family.h"

#include <algorithm>
#include <cstring>

#include "kiln/base/tile_config.h"
#include "kiln/families/transpose/workload/transpose_mlir.h"
#include "kiln/families/transpose/workload/transpose_verification.h"
#include "kiln/measure/cpu_shape.h"
#include "kiln/measure/names.h"

namespace kiln::families {

using hal::ElementType;
using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

measure::Fields TransposeProblem::fields() const {
  return {{"permutation", own.permutationText()},
          {"shape", measure::shapeText(own.shape)},
          {"type", std::string(hal::elementTypeName(own.type))}};
}

std::string TransposeProblem::mlir(std::string_view function, std::string_view configuration) const {
  return transposeMlir(own, function, configuration);
}

std::vector<std::string> TransposeProblem::passes() const {
  std::vector<std::string> names;
  for (TransposePass pass : transposePasses(own))
    names.emplace_back(transposePassName(pass));
  return names;
}

Status TransposeProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  if (inputs.size() != 1)
    return invalidArgument("{} has one input, not {}", name(), inputs.size());
  fillTranspose(own, transposePasses(own)[pass], seed, inputs[0]);
  return okStatus();
}

void TransposeProblem::prefillOutputs(size_t pass, measure::MutableTensors outputs) const {
  for (const measure::MutableTensor &output : outputs)
    prefillTranspose(transposePasses(own)[pass], output);
}

measure::verify::Verdict TransposeProblem::check(size_t pass, uint64_t, measure::Tensors inputs,
                                                 measure::Tensors outputs) const {
  return checkTranspose(own, transposePasses(own)[pass], inputs[0], outputs[0]);
}

Result<measure::verify::DeviceCase> TransposeProblem::deviceCase(size_t pass, uint64_t seed) const {
  if (pass >= transposePasses(own).size())
    return invalidArgument("pass {} was asked for; there are {}", pass, transposePasses(own).size());
  measure::verify::DeviceCase subject{};
  subject.seed = seed;
  subject.check = measure::verify::DeviceCase::Check::Elements;
  subject.elements = transposedElements(own);
  subject.right = rightTranspose(own, transposePasses(own)[pass]);
  return subject;
}

std::unique_ptr<measure::verify::TimedCheck> TransposeProblem::timedCheck(measure::Tensors inputs,
                                                                          uint64_t seed) const {
  return timedTranspose(own, inputs, seed);
}

// Element by element of the input, each to its place in the result.
Status TransposeProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  if (inputs.size() != 1 || outputs.size() != 1)
    return invalidArgument("{} has one input and one output", name());
  size_t rank = own.shape.size();
  std::vector<uint64_t> step(rank, 1), at(rank, 0); // of each dimension of the input, in the result; coordinates
  uint64_t stride = 1;
  for (size_t d = rank; d-- > 0; stride *= own.shape[own.permutation[d]])
    step[own.permutation[d]] = stride;
  uint64_t size = hal::elementTypeByteSize(own.type);
  for (uint64_t element = 0; element < own.elements(); ++element) {
    uint64_t to = 0;
    for (size_t d = 0; d < rank; ++d)
      to += at[d] * step[d];
    std::memcpy(outputs[0].bytes.data() + to * size, inputs[0].bytes.data() + element * size, size);
    for (size_t d = rank; d > 0; --d) {
      if (++at[d - 1] != own.shape[d - 1])
        break;
      at[d - 1] = 0;
    }
  }
  return okStatus();
}

//===--- Family ---------------------------------------------------------------------------------------------------===//

std::span<const measure::Dimension> TransposeFamily::dimensions() const {
  static constexpr measure::Dimension kDimensions[] = {
      {"rows", "Sizes as above, of operations on elements and rows, and of transposed matrices."},
      {"columns", "Likewise; rows and columns are given together."},
      {"permutation", "Which dimension of its input each dimension of a transposition's result is: 10, 0213."},
  };
  return kDimensions;
}

static std::vector<std::vector<uint64_t>> selectedShapes(const measure::ProblemSelection &selection) {
  std::vector<std::vector<uint64_t>> shapes;
  for (const std::vector<uint64_t> &shape : selection.shapes)
    if (shape.size() >= kTransposeFewestDimensions && shape.size() <= kTransposeMostDimensions)
      shapes.push_back(shape); // Others are meant for other families.
  for (uint64_t rows : selection.values("rows"))
    for (uint64_t columns : selection.values("columns"))
      shapes.push_back({rows, columns});
  return shapes;
}

// The digits of a number, with the zero before them that numbers do not have: 213 of four dimensions is 0213.
static Permutation permutationOf(uint64_t number, size_t rank) {
  Permutation permutation;
  for (; number > 0; number /= 10)
    permutation.insert(permutation.begin(), number % 10);
  if (permutation.size() + 1 == rank)
    permutation.insert(permutation.begin(), 0);
  return permutation;
}

static std::vector<Permutation> selectedPermutations(const std::vector<uint64_t> &numbers, size_t rank) {
  if (numbers.empty())
    return rank == 2   ? std::vector<Permutation>{{1, 0}}
           : rank == 3 ? std::vector<Permutation>{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
                       : std::vector<Permutation>{{0, 2, 1, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {0, 3, 1, 2}, {3, 2, 1, 0}};
  std::vector<Permutation> all = allPermutations(rank), chosen;
  for (uint64_t number : numbers)
    if (Permutation permutation = permutationOf(number, rank); std::ranges::find(all, permutation) != all.end())
      chosen.push_back(std::move(permutation));
  return chosen;
}

// Each has to fit one of the shapes.
static Status checkPermutations(const std::vector<uint64_t> &numbers,
                                const std::vector<std::vector<uint64_t>> &shapes) {
  for (uint64_t number : numbers)
    if (std::ranges::none_of(shapes, [&](const std::vector<uint64_t> &shape) {
          return !selectedPermutations({number}, shape.size()).empty();
        }))
      return invalidArgument("--problem-permutation: {} fits no shape: a permutation has each digit from 0 to one less "
                             "than the number of dimensions once, as 10 or 0213, and moves something",
                             number);
  return okStatus();
}

Result<measure::Problems> TransposeFamily::problems(const measure::ProblemSelection &selection) const {
  measure::Problems problems;
  std::vector<std::vector<uint64_t>> shapes = selectedShapes(selection);
  // Sizes were asked for, and none are a transposition's.
  bool others = !selection.shapes.empty() || !selection.values("rows").empty() || !selection.values("columns").empty();
  if (shapes.empty() && others)
    return problems;
  if (shapes.empty())
    shapes = {{1024, 1024}, {4096, 4096}, {1000, 1001}, {32, 128, 12, 64}};
  KILN_RETURN_IF_ERROR(checkPermutations(selection.values("permutation"), shapes));
  for (const std::vector<uint64_t> &shape : shapes)
    for (ElementType type :
         selection.elementTypes({ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I8}))
      for (const Permutation &permutation : selectedPermutations(selection.values("permutation"), shape.size())) {
        TransposeSpec spec{shape, permutation, type};
        KILN_RETURN_IF_ERROR(add(problems, std::move(spec)));
      }
  return problems;
}

measure::Problems TransposeFamily::problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const {
  measure::Problems problems;
  const size_t rank = inputs.size() == 1 ? inputs[0].shape.size() : 0;
  if (rank < kTransposeFewestDimensions || rank > kTransposeMostDimensions)
    return problems;
  for (const Permutation &permutation : allPermutations(rank))
    addIfValid(problems, TransposeSpec{inputs[0].shape, permutation, inputs[0].type});
  return problems;
}

std::vector<std::string> transposeConfigurations(const TransposeSpec &spec, int64_t vectorBits) {
  auto lanes = std::max<int64_t>(1, vectorBits / (8 * static_cast<int64_t>(hal::elementTypeByteSize(spec.type))));
  auto columns = static_cast<int64_t>(spec.output().shape.back());
  auto rows = static_cast<int64_t>(spec.elements()) / columns;
  std::vector<std::string> names;
  for (auto [m, n] : {std::pair<int64_t, int64_t>{64, 64}, {32, 256}, {256, 32}, {16, 1024}, {128, 128}, {1024, 16}})
    for (int64_t vectors : {1, 2}) {
      TileConfig config;
      config.m = std::min(m, rows);
      config.n = std::min(n, columns);
      config.instructions = "vector";
      config.rows = 1;
      config.columns = vectors * lanes;
      // What is longer than a tile differs in name only.
      if (vectors > 1 && config.columns > config.n)
        continue;
      if (std::string name = config.name(); std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
    }
  return names;
}

std::vector<std::string> TransposeFamily::configurations(const Problem &problem, std::string_view target) const {
  const TransposeSpec *spec = specFor(problem, target);
  return spec ? transposeConfigurations(*spec, measure::CpuShape::host().vectorBits) : std::vector<std::string>();
}

void registerTransposeFamily(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<TransposeFamily>());
}

} // namespace kiln::families
