#include "kiln/families/elementwise/workload/elementwise_family.h"

#include "kiln/families/elementwise/workload/elementwise_configurations.h"
#include "kiln/families/elementwise/workload/elementwise_mlir.h"
#include "kiln/families/elementwise/workload/elementwise_verification.h"
#include "kiln/measure/cpu_shape.h"

namespace kiln::families {

measure::TimingNumbers ElementwiseProblem::timingNumbers(size_t) const {
  // Where what the operation does shows. Beside the largest of all exponentials the others would hardly count: the
  // check sums up blocks, of which each is about another number.
  if (own.op->name == "exp")
    return {.smallestScale = 1, .largestScale = 2, .largestOffset = 4, .rows = {.columns = kTimedBlock}};
  return {.low = own.op->low, .high = own.op->high};
}

using hal::ElementType;
using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

measure::Fields ElementwiseProblem::fields() const {
  return {{"op", std::string(own.op->name)},
          {"shape", own.shapeText()},
          {"type", std::string(hal::elementTypeName(own.type))}};
}

double ElementwiseProblem::flops() const {
  return static_cast<double>(own.elements()) * own.op->flops;
}

std::string ElementwiseProblem::mlir(std::string_view function, std::string_view configuration) const {
  return elementwiseMlir(own, function, configuration);
}

Status ElementwiseProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  return fillElementwise(own, pass, seed, inputs);
}

void ElementwiseProblem::prefillOutputs(size_t pass, measure::MutableTensors outputs) const {
  prefillElementwise(pass, outputs);
}

measure::verify::Verdict ElementwiseProblem::check(size_t pass, uint64_t, measure::Tensors inputs,
                                                   measure::Tensors outputs) const {
  return checkElementwise(own, pass, inputs, outputs);
}

Result<measure::verify::DeviceCase> ElementwiseProblem::deviceCase(size_t pass, uint64_t seed) const {
  if (pass >= kElementwisePasses)
    return invalidArgument("pass {} was asked for; there are {}", pass, kElementwisePasses);
  measure::verify::DeviceCase subject{};
  subject.seed = seed;
  subject.check = measure::verify::DeviceCase::Check::Elements;
  KILN_ASSIGN_OR_RETURN(subject.elements, elementsOnDevice(own));
  subject.right = rightElementwise(own);
  return subject;
}

std::unique_ptr<measure::verify::TimedCheck> ElementwiseProblem::timedCheck(measure::Tensors inputs,
                                                                            uint64_t seed) const {
  return families::timedElementwise(own, inputs, seed);
}

Status ElementwiseProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  return elementwiseReference(own, inputs, outputs);
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

Result<measure::Problems> ElementwiseFamily::problems(const measure::ProblemSelection &selection) const {
  measure::Problems problems;
  if (!selection.values("rows").empty() && selection.values("columns").empty())
    return invalidArgument("--problem-rows without --problem-columns: give both, or columns alone for tensors of one "
                           "dimension");
  for (const std::vector<uint64_t> &shape : selectedShapes(selection))
    for (ElementType type :
         selection.elementTypes({ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I32}))
      for (const ElementwiseOp &op : elementwiseOps()) {
        ElementwiseSpec spec{&op, shape, type};
        KILN_RETURN_IF_ERROR(add(problems, std::move(spec)));
      }
  return problems;
}

measure::Problems ElementwiseFamily::problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const {
  measure::Problems problems;
  if (outputs.size() != 1)
    return problems;
  for (const ElementwiseOp &op : elementwiseOps())
    addIfValid(problems, ElementwiseSpec{&op, outputs[0].shape, outputs[0].type});
  return problems;
}

std::vector<std::string> ElementwiseFamily::configurations(const Problem &problem, std::string_view target) const {
  const ElementwiseSpec *spec = specFor(problem, target);
  return spec ? elementwiseConfigurations(*spec, measure::CpuShape::host().vectorBits) : std::vector<std::string>();
}

void registerElementwiseFamily(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<ElementwiseFamily>());
}

} // namespace kiln::families
