#include "kiln/measure/providers/reference_provider.h"

#include <algorithm>
#include <vector>

#include "kiln/measure/family.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure {

namespace {

Status checkTensors(const Problem &problem, std::string_view what, const std::vector<TensorType> &expected,
                    const std::vector<SharedTensor> &given) {
  if (expected.size() != given.size())
    return invalidArgument("{} has {} {}s; the request has {}", problem.name(), expected.size(), what, given.size());
  for (size_t i = 0; i < given.size(); ++i)
    if (expected[i] != TensorType{given[i].type, given[i].shape})
      return invalidArgument("{} {} of {} is {}; the request has {}", what, i, problem.name(),
                             hal::shapeText(expected[i].type, expected[i].shape),
                             hal::shapeText(given[i].type, given[i].shape));
  return okStatus();
}

// What the problem's family says of itself.
class ReferenceProvider final : public Provider {
public:
  void setFamilies(const FamilyRegistry &registry) override { families = &registry; }
  Status start(uint32_t threads) override { return okStatus(); }
  std::string version() const override { return KILN_VERSION; }
  std::string note() const override { return "plain loops on one thread"; }
  Status load(const LoadRequest &request, TensorMemory &memory) override;
  Status call(uint32_t set) override;

private:
  Status findProblem(const ProblemText &text);

  const FamilyRegistry *families = nullptr;
  std::unique_ptr<Problem> problem;
  TensorMemory *tensors = nullptr;
};

Status ReferenceProvider::findProblem(const ProblemText &text) {
  if (!families)
    return unimplemented("this worker has no families, and so no reference for {}", text.name);
  Result<std::unique_ptr<Problem>> found = families->parse(text.name);
  if (!found.ok())
    return unimplemented("the reference goes by names: {}", found.status().message());
  problem = *std::move(found);
  if (problem->family() != text.family)
    return unimplemented("{} names a problem of the family {}, not {}", text.name, problem->family(), text.family);
  auto fields = problem->fields();
  for (const auto &field : text.fields)
    if (std::ranges::find(fields, field) == fields.end())
      return unimplemented("field '{}' of {} is '{}', which its name does not say", field.first, text.name,
                           field.second);
  return okStatus();
}

Status ReferenceProvider::load(const LoadRequest &request, TensorMemory &memory) {
  KILN_RETURN_IF_ERROR(findProblem(request.problem));
  KILN_RETURN_IF_ERROR(checkTensors(*problem, "input", problem->inputs(), request.inputs));
  KILN_RETURN_IF_ERROR(checkTensors(*problem, "output", problem->outputs(), request.outputs));
  tensors = &memory;
  return okStatus();
}

Status ReferenceProvider::call(uint32_t set) {
  std::vector<io::TensorSpan> inputs;
  std::vector<MutableTensor> outputs;
  for (size_t i = 0; i < tensors->inputs().size(); ++i) {
    const SharedTensor &tensor = tensors->inputs()[i];
    inputs.push_back({tensor.type, tensor.shape, {tensors->input(i, set), tensor.bytes}});
  }
  for (size_t i = 0; i < tensors->outputs().size(); ++i) {
    const SharedTensor &tensor = tensors->outputs()[i];
    outputs.push_back({tensor.type, tensor.shape, {tensors->output(i, set), tensor.bytes}});
  }
  return problem->reference(inputs, outputs);
}

} // namespace

std::unique_ptr<Provider> createReferenceProvider() {
  return std::make_unique<ReferenceProvider>();
}

} // namespace kiln::measure
