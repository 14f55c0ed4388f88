#include "kiln/base/json_depth.h"
#include "kiln/schema/parameters/byte_reader.h"
#include "kiln/schema/parameters/parameter_file.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace kiln {

namespace {

using Json = nlohmann::ordered_json;

struct ElementFormat {
  std::string_view name, text;
  unsigned bits;
};
constexpr std::array kElements = {
    ElementFormat{"F32", "f32", 32},       ElementFormat{"F16", "f16", 16},
    ElementFormat{"BF16", "bf16", 16},     ElementFormat{"F64", "f64", 64},
    ElementFormat{"I8", "i8", 8},          ElementFormat{"I16", "i16", 16},
    ElementFormat{"I32", "i32", 32},       ElementFormat{"I64", "i64", 64},
    ElementFormat{"U8", "ui8", 8},         ElementFormat{"U16", "ui16", 16},
    ElementFormat{"U32", "ui32", 32},      ElementFormat{"U64", "ui64", 64},
    ElementFormat{"BOOL", "i1", 8},        ElementFormat{"F8_E4M3", "f8E4M3FN", 8},
    ElementFormat{"F8_E5M2", "f8E5M2", 8}, ElementFormat{"F8_E8M0", "f8E8M0FNU", 8},
    ElementFormat{"F4", "f4E2M1FN", 4},    ElementFormat{"C64", "complex<f32>", 64},
};

bool isNumber(const Json &json) {
  return json.is_number_unsigned();
}

// "shape" and "dtype" as a type's text and its bytes.
Status readType(const Json &tensor, Parameter &parameter, uint64_t &bytes) {
  auto dtype = tensor.find("dtype"), shape = tensor.find("shape");
  if (dtype == tensor.end() || !dtype->is_string() || shape == tensor.end() || !shape->is_array() ||
      !std::ranges::all_of(*shape, isNumber))
    return dataLoss("'{}' has no \"dtype\" and \"shape\"", parameter.key);
  const auto *format = std::ranges::find(kElements, dtype->get<std::string>(), &ElementFormat::name);
  if (format == kElements.end())
    return unimplemented("'{}' is of type {}, which is not known", parameter.key, dtype->get<std::string>());
  uint64_t bits = format->bits;
  for (const Json &extent : *shape) {
    parameter.type += fmt::format("{}x", extent.get<uint64_t>());
    if (__builtin_mul_overflow(bits, extent.get<uint64_t>(), &bits))
      return dataLoss("'{}' is said to have more elements than can be counted", parameter.key);
  }
  parameter.type += format->text;
  bytes = bits / 8 + (bits % 8 != 0);
  return okStatus();
}

} // namespace

Result<std::vector<Parameter>> readSafetensors(std::span<const std::byte> file) {
  ByteReader reader(file);
  KILN_ASSIGN_OR_RETURN(auto headerBytes, reader.number<uint64_t>("the length of the header"));
  KILN_ASSIGN_OR_RETURN(std::span<const std::byte> header, reader.take(headerBytes, "the header"));
  std::span<const std::byte> data = file.subspan(reader.position());
  const std::string_view text(reinterpret_cast<const char *>(header.data()), header.size());
  if (jsonDepth(text) > kMostJsonDepth)
    return dataLoss("the header is no JSON of tensors");
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return dataLoss("the header is no JSON object");
  std::vector<Parameter> parameters;
  for (const auto &[key, tensor] : json.items()) {
    if (key == "__metadata__")
      continue;
    Parameter parameter;
    parameter.key = key;
    uint64_t bytes = 0;
    if (!tensor.is_object())
      return dataLoss("what stands for '{}' is no JSON object", key);
    KILN_RETURN_IF_ERROR(readType(tensor, parameter, bytes));
    auto range = tensor.find("data_offsets");
    if (range == tensor.end() || !range->is_array() || range->size() != 2 || !std::ranges::all_of(*range, isNumber) ||
        (*range)[0].get<uint64_t>() > (*range)[1].get<uint64_t>())
      return dataLoss("'{}' has no \"data_offsets\" of two numbers, the second not below the first", key);
    const auto first = (*range)[0].get<uint64_t>(), end = (*range)[1].get<uint64_t>();
    if (end - first != bytes)
      return dataLoss("'{}' is a {}, which has {} bytes, and lies in {}", key, parameter.type, bytes, end - first);
    KILN_RETURN_IF_ERROR(rangeOf(data, first, bytes, fmt::format("the data of '{}'", key)).status());
    parameter.offset = reader.position() + first;
    parameter.length = bytes;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

} // namespace kiln
