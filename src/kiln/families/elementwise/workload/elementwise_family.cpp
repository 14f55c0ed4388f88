#include "kiln/families/elementwise/workload/elementwise_family.h"

#include "kiln/families/elementwise/workload/elementwise_configurations.h"
#include "kiln/families/elementwise/workload/elementwise_mlir.h"
#include "kiln/families/elementwise/workload/elementwise_verification.h"
#include "kiln/measure/cpu_shape.h"

namespace kiln::families {

measure::TimingNumbers ElementwiseProblem::timingNumbers(size_t) const {
  // Where what the operation does shows. Beside the largest of all exponentials the others would hardly count: the
  // check sums up blocks, of which each is about another number.
  if (elementwise.op->name == "exp")
    return {.smallestScale = 1, .largestScale = 2, .largestOffset = 4, .rows = {.columns = kTimedBlock}};
  return {.low = elementwise.op->low, .high = elementwise.op->high};
}

using hal::ElementType;
using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

std::vector<std::pair<std::string, std::string>> ElementwiseProblem::fields() const {
  return {{"op", std::string(elementwise.op->name)},
          {"shape", elementwise.shapeText()},
          {"type", std::string(hal::elementTypeName(elementwise.type))}};
}

double ElementwiseProblem::flops() const {
  return static_cast<double>(elementwise.elements()) * elementwise.op->flops;
}

std::string ElementwiseProblem::mlir(std::string_view function, std::string_view configuration) const {
  return elementwiseMlir(elementwise, function, configuration);
}

Status ElementwiseProblem::fillInputs(size_t pass, uint64_t seed,
                                      std::span<const measure::MutableTensor> inputs) const {
  return fillElementwise(elementwise, pass, seed, inputs);
}

void ElementwiseProblem::prefillOutputs(size_t pass, std::span<const measure::MutableTensor> outputs) const {
  prefillElementwise(pass, outputs);
}

measure::verify::Verdict ElementwiseProblem::check(size_t pass, uint64_t, std::span<const io::TensorSpan> inputs,
                                                   std::span<const io::TensorSpan> outputs) const {
  return checkElementwise(elementwise, pass, inputs, outputs);
}

std::unique_ptr<measure::verify::TimedCheck> ElementwiseProblem::timedCheck(std::span<const io::TensorSpan> inputs,
                                                                            uint64_t seed) const {
  return families::timedElementwise(elementwise, inputs, seed);
}

Status ElementwiseProblem::reference(std::span<const io::TensorSpan> inputs,
                                     std::span<const measure::MutableTensor> outputs) const {
  return elementwiseReference(elementwise, inputs, outputs);
}

//===--- Family ---------------------------------------------------------------------------------------------------===//

static std::vector<std::vector<uint64_t>> selectedShapes(const measure::ProblemSelection &selection) {
  std::vector<std::vector<uint64_t>> shapes = selection.shapes;
  const std::vector<uint64_t> &rows = selection.values("rows"), &columns = selection.values("columns");
  for (uint64_t column : columns) {
    if (rows.empty())
      shapes.push_back({column});
    for (uint64_t row : rows)
      shapes.push_back({row, column});
  }
  if (shapes.empty())
    return {{1024, 1024}, {4096, 4096}, {1000, 1001}};
  return shapes;
}

std::span<const measure::Dimension> ElementwiseFamily::dimensions() const {
  static constexpr measure::Dimension kDimensions[] = {
      {"rows", "Sizes as above, of elementwise operations, reductions, softmax, norms and transposed matrices."},
      {"columns", "Likewise. Elementwise, columns alone are tensors of one dimension."},
  };
  return kDimensions;
}

Result<std::vector<std::unique_ptr<Problem>>>
ElementwiseFamily::problems(const measure::ProblemSelection &selection) const {
  std::vector<std::unique_ptr<Problem>> problems;
  if (!selection.values("rows").empty() && selection.values("columns").empty())
    return invalidArgument("--problem-rows without --problem-columns: give both, or columns alone for tensors of one "
                           "dimension");
  for (const std::vector<uint64_t> &shape : selectedShapes(selection))
    for (ElementType type :
         selection.elementTypes({ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I32}))
      for (const ElementwiseOp &op : elementwiseOps()) {
        ElementwiseSpec spec{&op, shape, type};
        Status status = spec.validate();
        if (status.code() == StatusCode::Unimplemented)
          continue; // A type that is meant for other operations.
        if (!status.ok())
          return std::move(status).withContext(spec.name());
        problems.push_back(std::make_unique<ElementwiseProblem>(std::move(spec)));
      }
  return problems;
}

Result<std::unique_ptr<Problem>> ElementwiseFamily::parse(std::string_view name) const {
  KILN_ASSIGN_OR_RETURN(ElementwiseSpec spec, ElementwiseSpec::parse(name));
  return std::unique_ptr<Problem>(std::make_unique<ElementwiseProblem>(std::move(spec)));
}

std::vector<std::unique_ptr<Problem>>
ElementwiseFamily::problemsLike(std::span<const measure::TensorType> inputs,
                                std::span<const measure::TensorType> outputs) const {
  std::vector<std::unique_ptr<Problem>> problems;
  if (outputs.size() != 1)
    return problems;
  for (const ElementwiseOp &op : elementwiseOps())
    if (ElementwiseSpec spec{&op, outputs[0].shape, outputs[0].type}; spec.validate().ok())
      problems.push_back(std::make_unique<ElementwiseProblem>(std::move(spec)));
  return problems;
}

std::vector<std::string> ElementwiseFamily::configurations(const Problem &problem, std::string_view target) const {
  const auto *elementwise = dynamic_cast<const ElementwiseProblem *>(&problem);
  if (!elementwise || target != "llvm-cpu")
    return {};
  return elementwiseConfigurations(elementwise->spec(), measure::CpuShape::host().vectorBits);
}

void registerElementwiseFamily(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<ElementwiseFamily>());
}

} // namespace kiln::families
