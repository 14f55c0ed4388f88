// Transpositions, which are reorders: the result is dense, and the input is read in the order of its dimensions. There
// is nothing to prefer in their layouts.
#include "kiln/measure/providers/onednn/operation.h"
#include "kiln/measure/providers/problem_fields.h"

namespace kiln::measure::onednn {

Result<Operation> createTransposition(const Library &library, const LoadRequest &request, Layouts layouts) {
  constexpr std::string_view kFields[] = {"permutation", "shape", "type"};
  const ProblemText &problem = request.problem;
  if (layouts == Layouts::Preferred)
    return unimplemented("a transposition has no weights to lay out; provider 'onednn' does it");
  KILN_RETURN_IF_ERROR(checkFields(problem, kFields));
  KILN_ASSIGN_OR_RETURN(std::string_view permutation, fieldText(problem, "permutation"));
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, fieldShape(problem, "shape"));
  KILN_ASSIGN_OR_RETURN(io::ElementType type, fieldType(problem, "type"));
  std::vector<uint64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  std::vector<uint64_t> extents, steps; // of the result's dimensions
  for (char digit : permutation) {
    const auto d = static_cast<size_t>(digit - '0');
    if (d >= shape.size() || permutation.find(digit) != permutation.rfind(digit))
      break;
    extents.push_back(shape[d]);
    steps.push_back(strides[d]);
  }
  if (extents.size() != shape.size() || permutation.size() != shape.size())
    return invalidArgument("'{}' is no permutation of the {} dimensions of {}", permutation, shape.size(),
                           problem.name);
  const ExpectedTensor input = {"input", type, shape}, output = {"result", type, extents};
  KILN_RETURN_IF_ERROR(checkTensors(request, {&input, 1}, {&output, 1}));

  KILN_ASSIGN_OR_RETURN(Description source, library.describe(type, extents, steps));
  KILN_ASSIGN_OR_RETURN(Description result, library.describe(type, extents));
  Operation created;
  KILN_ASSIGN_OR_RETURN(created.primitive, library.createReorder(source, result));
  created.arguments = {{kFrom, 0, source, source}, {kTo, 0, result, result}};
  return created;
}

} // namespace kiln::measure::onednn
