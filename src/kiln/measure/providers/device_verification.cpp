#include "kiln/measure/providers/device_verification.h"

#include <algorithm>

#include "kiln/base/clock.h"

namespace kiln::measure {

// The problem that the lab means, with all that its fields say.
static Result<std::unique_ptr<Problem>> problemOf(const FamilyRegistry &families, const ProblemText &text) {
  Result<std::unique_ptr<Problem>> parsed = families.parse(text.name);
  if (!parsed.ok())
    return unimplemented("no family makes the problem {} from its name: {}", text.name, parsed.status().message());
  std::unique_ptr<Problem> problem = *std::move(parsed);
  if (problem->fields() != text.fields)
    problem = problem->inTF32();
  if (!problem || problem->family() != text.family || problem->fields() != text.fields)
    return unimplemented("the problem {} has fields that its name does not tell", text.name);
  return problem;
}

static bool areThose(TensorTypes types, const std::vector<SharedTensor> &tensors) {
  return std::ranges::equal(types, tensors, [](const TensorType &type, const SharedTensor &tensor) {
    return type.type == tensor.type && type.shape == tensor.shape;
  });
}

Result<std::unique_ptr<DeviceVerification>> DeviceVerification::create(Provider &provider,
                                                                       const FamilyRegistry &families,
                                                                       const ProblemText &text,
                                                                       const TensorMemory &tensors) {
  hal::Device *device = provider.deviceOfChecks();
  if (!device)
    return unimplemented("this provider has no device that checks results");
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Problem> problem, problemOf(families, text));
  if (!areThose(problem->inputs(), tensors.inputs()) || !areThose(problem->outputs(), tensors.outputs()))
    return invalidArgument("the tensors are not those of the problem {}", text.name);
  problem->promiseSumsOfTensorCores(); // as the lab does for every GPU, and what checks here is one
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<verify::DeviceCheck> check, verify::DeviceCheck::create(*device));
  return std::unique_ptr<DeviceVerification>(new DeviceVerification(provider, std::move(problem), std::move(check)));
}

// In host memory.
static Result<std::vector<io::HostTensor>> zerosOf(TensorTypes types) {
  std::vector<io::HostTensor> tensors;
  for (const TensorType &type : types) {
    KILN_ASSIGN_OR_RETURN(io::HostTensor tensor, io::HostTensor::zeros(type.type, type.shape));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

static std::vector<MutableTensor> mutablesOf(std::vector<io::HostTensor> &tensors) {
  std::vector<MutableTensor> all;
  for (io::HostTensor &tensor : tensors)
    all.push_back({tensor.type(), tensor.shape(), tensor.bytes()});
  return all;
}

// Of each element of the output: what a program does to its inputs changes nothing, as they are made again.
Result<Answer::DeviceVerdict> DeviceVerification::verifyElements(const verify::DeviceCase &subject,
                                                                 const VerifyRequest &request) {
  constexpr uint32_t kSet = 0;
  const bool isMadeByDevice = subject.isMadeByDevice();
  Answer::DeviceVerdict verdict;
  uint64_t began = monotonicNanoseconds();
  std::vector<Ref<hal::Buffer>> buffers;
  std::vector<hal::Buffer *> pointers;
  for (size_t i = 0; i < problem->inputs().size(); ++i) {
    KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, provider.inputOnDevice(i, kSet));
    pointers.push_back(buffer.get());
    buffers.push_back(std::move(buffer));
  }
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> out, provider.outputOnDevice(0, kSet));
  std::vector<io::HostTensor> inputs;
  if (isMadeByDevice) {
    KILN_RETURN_IF_ERROR(check->prefill(subject, *out));
  } else {
    KILN_ASSIGN_OR_RETURN(inputs, zerosOf(problem->inputs()));
    KILN_RETURN_IF_ERROR(problem->fillInputs(request.pass, request.seed, mutablesOf(inputs)));
    KILN_ASSIGN_OR_RETURN(std::vector<io::HostTensor> outputs, zerosOf(problem->outputs()));
    problem->prefillOutputs(request.pass, mutablesOf(outputs));
    KILN_RETURN_IF_ERROR(out->write(0, std::as_bytes(std::span(outputs[0].bytes()))));
  }
  auto makeInputs = [&]() -> Status {
    if (isMadeByDevice)
      return check->fillRows(subject, pointers);
    for (size_t i = 0; i < inputs.size(); ++i)
      KILN_RETURN_IF_ERROR(pointers[i]->write(0, std::as_bytes(std::span(inputs[i].bytes()))));
    return okStatus();
  };
  KILN_RETURN_IF_ERROR(makeInputs());
  verdict.makeNanoseconds = monotonicNanoseconds() - began;
  KILN_RETURN_IF_ERROR(provider.runOnDevice(kSet));
  began = monotonicNanoseconds();
  KILN_RETURN_IF_ERROR(makeInputs());
  auto count = [&] { return check->countWrongElements(subject, pointers, *out); };
  KILN_ASSIGN_OR_RETURN(verdict.wrongRows, count());
  if (verdict.wrongRows == 0 && subject.right.total > 0)
    KILN_RETURN_IF_ERROR(
        check->checkPlantedElement(problem->outputs()[0].type, subject.right.total, request.planted, *out, count));
  verdict.checkNanoseconds = monotonicNanoseconds() - began;
  return verdict;
}

// What is right is known before the program runs: what it does to its inputs changes nothing.
Result<Answer::DeviceVerdict> DeviceVerification::verify(const VerifyRequest &request) {
  constexpr uint32_t kSet = 0;
  Answer::DeviceVerdict verdict;
  KILN_ASSIGN_OR_RETURN(const verify::DeviceCase subject, problem->deviceCase(request.pass, request.seed));
  if (!subject.hasContraction())
    return verifyElements(subject, request);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> lhs, provider.inputOnDevice(0, kSet));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> rhs, provider.inputOnDevice(1, kSet));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> out, provider.outputOnDevice(0, kSet));
  uint64_t began = monotonicNanoseconds();
  KILN_RETURN_IF_ERROR(check->fill(subject, *lhs, *rhs));
  KILN_RETURN_IF_ERROR(check->prefill(subject, *out));
  if (!subject.bias.empty()) {
    KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> bias, provider.inputOnDevice(2, kSet));
    KILN_RETURN_IF_ERROR(bias->write(0, std::as_bytes(std::span(subject.bias))));
  }
  verdict.makeNanoseconds = monotonicNanoseconds() - began;
  using Check = verify::DeviceCase::Check;
  began = monotonicNanoseconds();
  verify::RowSums rows;
  std::vector<verify::SampledSum> sums;
  if (subject.check == Check::Exact) {
    KILN_ASSIGN_OR_RETURN(rows, check->expect(subject, *lhs, *rhs));
  } else if (subject.check == Check::Real) {
    KILN_ASSIGN_OR_RETURN(sums, check->expectSums(subject, *lhs, *rhs));
  }
  verdict.checkNanoseconds = monotonicNanoseconds() - began;
  KILN_RETURN_IF_ERROR(provider.runOnDevice(kSet));
  began = monotonicNanoseconds();
  if (subject.check == Check::Real) {
    KILN_ASSIGN_OR_RETURN(const verify::Verdict judged, check->judgeSums(subject, sums, *out));
    verdict.wrongRows = judged.wrong;
  } else {
    KILN_ASSIGN_OR_RETURN(const std::vector<verify::WrongLines> wrong,
                          subject.check == Check::Exact ? check->findWrongRows(subject, rows, *out)
                                                        : check->findWrongActivations(subject, *out));
    for (const verify::WrongLines &lines : wrong)
      verdict.wrongRows += lines.rows.size();
  }
  if (verdict.wrongRows == 0 && subject.contraction.outputCount() > 0)
    switch (subject.check) {
    case Check::Exact: KILN_RETURN_IF_ERROR(check->checkPlanted(subject, rows, request.planted, *out)); break;
    case Check::Real: KILN_RETURN_IF_ERROR(check->checkPlantedSum(subject, sums, request.planted, *out)); break;
    case Check::Activation: KILN_RETURN_IF_ERROR(check->checkPlantedActivation(subject, request.planted, *out)); break;
    case Check::Elements:
    case Check::Attention:
    case Check::Rows: break; // see verifyElements
    }
  verdict.checkNanoseconds += monotonicNanoseconds() - began;
  return verdict;
}

} // namespace kiln::measure
