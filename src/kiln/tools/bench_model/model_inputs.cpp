#include "kiln/tools/bench_model/model_inputs.h"

#include <algorithm>
#include <charconv>
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

// The extents of a spec, and all behind them: "1xNxi64=1" is {"1", "N", "i64=1"}.
std::string withLength(const std::string &spec, std::string_view open, uint64_t length) {
  const size_t typeEnd = std::min(spec.find('='), spec.size());
  std::string result;
  for (size_t at = 0; at < typeEnd;) {
    const size_t end = std::min(spec.find('x', at), typeEnd);
    const std::string_view piece = std::string_view(spec).substr(at, end - at);
    result += piece == open ? std::to_string(length) : std::string(piece);
    if (end < typeEnd)
      result += 'x';
    at = end + 1;
  }
  return result + spec.substr(typeEnd);
}

bool readsFile(const std::string &spec) {
  return spec.starts_with('@') || spec.starts_with('+');
}

} // namespace

Result<std::vector<ModelInput>> writeInputs(const vm::Function &function, const InputOptions &options,
                                            const std::string &folder) {
  const Declaration declaration = declarationOf(function);
  const size_t count = function.argumentCount();
  if (!options.specs.empty() && options.specs.size() != count)
    return invalidArgument("the model takes {} inputs, and --input is given {} times: {}", count, options.specs.size(),
                           describeFunction(function));
  Random random(options.seed);
  io::InputReader reader;
  std::vector<ModelInput> inputs;
  bool hasLength = false;
  for (size_t i = 0; i < count; ++i) {
    std::string spec = !options.specs.empty()             ? options.specs[i]
                       : i < declaration.arguments.size() ? specOf(declaration.arguments[i])
                                                          : "";
    if (options.length && !readsFile(spec)) {
      // Where the model has several open extents, only the user knows which one is the length.
      const bool isOpen = options.specs.empty() && std::ranges::count(spec, '?') == 1;
      const std::string given = withLength(spec, isOpen ? "?" : "N", *options.length);
      hasLength |= given != spec;
      spec = given;
    }
    if (spec.empty() || spec.find('?') != std::string::npos)
      return invalidArgument("the model does not say how large input {} is: {}\nsay it with --input for each, as in "
                             "--input=1x3x224x224xf32{}",
                             i, describeFunction(function),
                             options.length ? ", or --input=1xNxi64, where N is the length" : "");
    const bool isGiven = spec.find('=') != std::string::npos || readsFile(spec);
    Result<io::HostTensor> tensor = isGiven ? readTensor(reader, spec) : randomTensor(spec, random, options.largest);
    if (!tensor.ok())
      return std::move(tensor).status();
    ModelInput input{fmt::format("{}/input.{}.npy", folder, i), spec, tensor->typeText(), tensor->type(), {}};
    input.shape.assign(tensor->shape().begin(), tensor->shape().end());
    KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(input.path));
    KILN_RETURN_IF_ERROR(io::writeNpy(file, tensor->span()));
    KILN_RETURN_IF_ERROR(file.commit());
    inputs.push_back(std::move(input));
  }
  if (options.length && !hasLength)
    return invalidArgument("--lengths: no input has a length: {}\nwrite N for it, as in --input=1xNxi64",
                           describeFunction(function));
  return inputs;
}

Result<std::vector<uint64_t>> parseLengths(const std::string &list) {
  constexpr uint64_t kMost = 1'000'000'000;
  std::vector<uint64_t> lengths;
  for (size_t at = 0; at <= list.size() && !list.empty();) {
    const size_t end = std::min(list.find(',', at), list.size());
    uint64_t length = 0;
    const auto [stop, error] = std::from_chars(list.data() + at, list.data() + end, length);
    if (error != std::errc() || stop != list.data() + end || length < 1 || length > kMost)
      return invalidArgument("--lengths={}: '{}' is no length; as in --lengths=64,128,256", list,
                             list.substr(at, end - at));
    if (std::ranges::find(lengths, length) == lengths.end())
      lengths.push_back(length);
    at = end + 1;
  }
  return lengths;
}

CallItems itemsOf(const std::vector<ModelInput> &inputs) {
  if (inputs.empty())
    return {};
  const ModelInput &first = inputs.front();
  const std::vector<uint64_t> &shape = first.shape;
  constexpr uint64_t kMostChannels = 4;
  if (!io::isFloat(first.type) && first.type != ElementType::I1 && shape.size() == 2)
    return {shape[0] * shape[1], "tokens", "the elements of the first input"};
  if (io::isFloat(first.type) && shape.size() == 4 && std::min(shape[1], shape[3]) <= kMostChannels)
    return {shape[0], "images", "the first extent of the first input"};
  return {};
}

} // namespace kiln
