#include "kiln/tools/call_arguments.h"

#include <cstring>
#include <optional>

#include "kiln/runtime/io/device_tensor.h"
#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/input.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/declaration.h"

namespace kiln {

namespace {

using hal::ElementType;

// 4xui8 where i8 is wanted, and the like.
bool differOnlyInSign(ElementType a, ElementType b) {
  auto isInteger = [](ElementType type) { return !io::isFloat(type) && type != ElementType::I1; };
  return isInteger(a) && isInteger(b) && hal::elementTypeBits(a) == hal::elementTypeBits(b);
}

Result<vm::Value> scalarArgument(const io::Input &input, vm::ValueKind kind, std::optional<ElementType> declared) {
  ElementType type = scalarElementType(kind, declared);
  uint8_t element[8] = {};
  if (const io::Scalar *scalar = std::get_if<io::Scalar>(&input)) {
    KILN_RETURN_IF_ERROR(io::parseElement(type, scalar->text, element));
  } else {
    // i32=7 is a tensor of rank 0 by the syntax, and fine where a scalar is wanted.
    const io::HostTensor &tensor = std::get<io::HostTensor>(input);
    if (!tensor.shape().empty())
      return invalidArgument("a scalar is taken here, and {} is a tensor", tensor.typeText());
    if (tensor.type() != type && !differOnlyInSign(tensor.type(), type))
      return invalidArgument("a scalar {} is taken here, not {}", hal::elementTypeName(type), tensor.typeText());
    std::memcpy(element, tensor.bytes().data(), tensor.bytes().size());
  }
  return vm::Value::scalar(kind, registerOfElement(type, element));
}

Result<vm::Value> tensorArgument(io::Input input, std::optional<ElementType> declared, hal::Device &device) {
  if (const io::Scalar *scalar = std::get_if<io::Scalar>(&input))
    return invalidArgument("a tensor is taken here; write {}={} for a tensor of rank 0",
                           declared ? hal::elementTypeName(*declared) : "f32", scalar->text);
  io::HostTensor &tensor = std::get<io::HostTensor>(input);
  if (declared && tensor.type() != *declared && differOnlyInSign(tensor.type(), *declared))
    tensor.reinterpret(*declared);
  KILN_ASSIGN_OR_RETURN(Ref<hal::BufferView> view, io::toDevice(device, std::move(tensor)));
  return vm::Value(std::move(view));
}

} // namespace

// "@x.npy", "4xf32=+x.bin"
static bool namesFile(std::string_view input) {
  std::string_view value = input.substr(input.find('=') + 1);
  return input.starts_with('*') || value.starts_with('@') || value.starts_with('+');
}

Result<CallArguments> readArguments(const vm::Function &function, std::span<const std::string> inputs,
                                    hal::Device &device) {
  CallArguments arguments;
  arguments.function = describeFunction(function);
  std::vector<io::Input> read;
  io::InputReader reader;
  for (const std::string &input : inputs) {
    size_t first = read.size();
    KILN_RETURN_IF_ERROR(reader.read(input, read));
    for (size_t i = first; i < read.size() && namesFile(input); ++i)
      if (const io::HostTensor *tensor = std::get_if<io::HostTensor>(&read[i]))
        arguments.files.push_back({input, tensor->typeText()});
  }
  std::string_view kinds = function.argumentKinds();
  if (read.size() != kinds.size())
    return invalidArgument("@{} takes {}, and {} given: {}", function.name(), counted(kinds.size(), "input"),
                           read.size() == 1 ? "1 is" : fmt::format("{} are", read.size()), arguments.function);

  Declaration declaration = declarationOf(function);
  for (size_t i = 0; i < kinds.size(); ++i) {
    std::optional<ElementType> declared;
    if (!declaration.arguments.empty())
      declared = declaredElementType(declaration.arguments[i]);
    vm::ValueKind kind = static_cast<vm::ValueKind>(kinds[i]);
    Result<vm::Value> argument = kind == vm::ValueKind::Ref ? tensorArgument(std::move(read[i]), declared, device)
                                                            : scalarArgument(read[i], kind, declared);
    if (!argument.ok())
      return Status(argument.status().code(), fmt::format("input {}: {}\nThe function is {}", i,
                                                          argument.status().message(), arguments.function));
    arguments.values.push_back(*std::move(argument));
  }
  return arguments;
}

Status explainCall(Status status, const CallArguments &arguments) {
  if (status.code() != StatusCode::InvalidArgument)
    return status;
  std::string text(status.message());
  for (const CallArguments::FileInput &file : arguments.files)
    if (status.message().find(fmt::format("got {} (", file.type)) != std::string_view::npos)
      text += fmt::format("\n--input={} holds {}", file.flag, file.type);
  return invalidArgument("{}\nThe function is {}", text, arguments.function);
}

} // namespace kiln
