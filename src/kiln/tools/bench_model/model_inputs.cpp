#include "kiln/tools/bench_model/model_inputs.h"

#include <cstring>

#include "fmt/format.h"
#include "kiln/base/narrow_float.h"
#include "kiln/base/random.h"
#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/input.h"
#include "kiln/runtime/io/npy.h"
#include "kiln/tools/declaration.h"

namespace kiln {

namespace {

using hal::ElementType;

// "tensor<1x3xf32>" as --input writes it: 1x3xf32. Empty for what is no tensor.
std::string specOf(std::string_view declared) {
  constexpr std::string_view kBegin = "tensor<";
  if (!declared.starts_with(kBegin) || !declared.ends_with('>'))
    return {};
  return std::string(declared.substr(kBegin.size(), declared.size() - kBegin.size() - 1));
}

Result<io::HostTensor> randomTensor(const std::string &spec, Random &random, uint64_t largest) {
  ElementType type;
  std::vector<uint64_t> shape;
  KILN_RETURN_IF_ERROR(io::parseTensorType(spec, type, shape));
  KILN_ASSIGN_OR_RETURN(io::HostTensor tensor, io::HostTensor::zeros(type, shape));
  const size_t bytes = hal::elementTypeByteSize(type);
  uint8_t *element = tensor.bytes().data();
  for (uint64_t i = 0; i < tensor.elementCount(); ++i, element += bytes) {
    if (io::isFloat(type)) {
      KILN_RETURN_IF_ERROR(io::parseElement(type, fmt::format("{:.9g}", random.normal()), element));
      continue;
    }
    // Integers of all widths have their lowest byte first.
    const uint64_t value = random.below(size_t(type == ElementType::I1 ? 1 : largest) + 1);
    std::memcpy(element, &value, std::min(bytes, sizeof value));
  }
  return tensor;
}

Result<io::HostTensor> readTensor(io::InputReader &reader, const std::string &spec) {
  std::vector<io::Input> read;
  KILN_RETURN_IF_ERROR(reader.read(spec, read));
  if (read.size() != 1 || !std::holds_alternative<io::HostTensor>(read.front()))
    return invalidArgument("--input={}: a model is called with tensors; write i64=3 for one of rank 0", spec);
  return std::get<io::HostTensor>(std::move(read.front()));
}

} // namespace

Result<std::vector<std::string>> writeInputs(const vm::Function &function, const std::vector<std::string> &specs,
                                             uint64_t seed, uint64_t largest, const std::string &folder) {
  const Declaration declaration = declarationOf(function);
  const size_t count = function.argumentCount();
  if (!specs.empty() && specs.size() != count)
    return invalidArgument("the model takes {} inputs, and --input is given {} times: {}", count, specs.size(),
                           describeFunction(function));
  Random random(seed);
  io::InputReader reader;
  std::vector<std::string> paths;
  for (size_t i = 0; i < count; ++i) {
    std::string spec = !specs.empty()                     ? specs[i]
                       : i < declaration.arguments.size() ? specOf(declaration.arguments[i])
                                                          : "";
    if (spec.empty() || spec.find('?') != std::string::npos)
      return invalidArgument("the model does not say how large input {} is: {}\nsay it with --input for each, as in "
                             "--input=1x3x224x224xf32",
                             i, describeFunction(function));
    const bool isGiven = spec.find('=') != std::string::npos || spec.starts_with('@') || spec.starts_with('+');
    Result<io::HostTensor> tensor = isGiven ? readTensor(reader, spec) : randomTensor(spec, random, largest);
    if (!tensor.ok())
      return std::move(tensor).status();
    paths.push_back(fmt::format("{}/input.{}.npy", folder, i));
    KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(paths.back()));
    KILN_RETURN_IF_ERROR(io::writeNpy(file, tensor->span()));
    KILN_RETURN_IF_ERROR(file.commit());
  }
  return paths;
}

} // namespace kiln
