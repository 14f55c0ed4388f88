#include "kiln/tools/declaration.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kiln/runtime/io/element_text.h"

namespace kiln {

namespace {

std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(' ');
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The end of what starts at `start` and is closed by an unmatched bracket or by `separator`.
size_t findEnd(std::string_view text, size_t start, char separator) {
  int depth = 0;
  for (size_t i = start; i < text.size(); ++i) {
    char c = text[i];
    if (c == '(' || c == '<' || c == '[' || c == '{')
      ++depth;
    // The '>' of an arrow closes nothing.
    else if (c == ')' || (c == '>' && (i == 0 || text[i - 1] != '-')) || c == ']' || c == '}')
      --depth;
    if (depth < 0 || (depth == 0 && c == separator))
      return i;
  }
  return text.size();
}

// The types of "%a: tensor<4xf32> {attr}, i32".
std::vector<std::string> parseTypes(std::string_view list) {
  std::vector<std::string> types;
  list = trim(list);
  for (size_t start = 0; start < list.size();) {
    size_t end = findEnd(list, start, ',');
    std::string_view item = trim(list.substr(start, end - start));
    if (item.starts_with('%'))
      item = trim(item.substr(std::min(item.find(':'), item.size() - 1) + 1));
    types.emplace_back(trim(item.substr(0, findEnd(item, 0, ' '))));
    start = end + 1;
  }
  return types;
}

} // namespace

Declaration parseDeclaration(std::string_view text) {
  Declaration declaration;
  size_t open = text.find('(', std::min(text.find('@'), text.size()));
  if (open == text.npos)
    return declaration;
  size_t close = findEnd(text, open + 1, '\0');
  declaration.arguments = parseTypes(text.substr(open + 1, close - open - 1));
  std::string_view rest = close < text.size() ? trim(text.substr(close + 1)) : std::string_view();
  if (!rest.starts_with("->"))
    return declaration;
  rest = trim(rest.substr(2));
  if (rest.starts_with('('))
    rest = rest.substr(1, findEnd(rest, 1, '\0') - 1);
  declaration.results = parseTypes(rest);
  return declaration;
}

Declaration declarationOf(const vm::Function &function) {
  Declaration declaration = parseDeclaration(function.attribute("kiln.abi.declaration"));
  if (declaration.arguments.size() != function.argumentCount())
    declaration.arguments.clear();
  if (declaration.results.size() != function.resultCount())
    declaration.results.clear();
  return declaration;
}

std::optional<hal::ElementType> declaredElementType(std::string_view type) {
  if (type.starts_with("tensor<") && type.ends_with('>')) {
    type = type.substr(7, type.size() - 8);
    // An extent ends in 'x', and no element type starts with a digit or '?'.
    while (!type.empty() && (type.front() == '?' || (type.front() >= '0' && type.front() <= '9'))) {
      size_t end = type.find('x');
      if (end == type.npos)
        return std::nullopt;
      type.remove_prefix(end + 1);
    }
  }
  if (type == "index")
    return hal::ElementType::I64;
  return hal::parseElementType(type);
}

hal::ElementType scalarElementType(vm::ValueKind kind, std::optional<hal::ElementType> declared) {
  bool isInteger = kind == vm::ValueKind::I32 || kind == vm::ValueKind::I64;
  uint64_t bytes = kind == vm::ValueKind::I32 || kind == vm::ValueKind::F32 ? 4 : 8;
  if (declared && io::isFloat(*declared) != isInteger && hal::elementTypeByteSize(*declared) <= bytes &&
      (isInteger || kind == vm::ValueKind::F32))
    return *declared;
  switch (kind) {
  case vm::ValueKind::I32: return hal::ElementType::I32;
  case vm::ValueKind::I64: return hal::ElementType::I64;
  case vm::ValueKind::F32: return hal::ElementType::F32;
  default: return hal::ElementType::F64;
  }
}

static bool isNarrowFloat(hal::ElementType type) {
  return io::isFloat(type) && hal::elementTypeByteSize(type) < 4;
}

uint64_t registerOfElement(hal::ElementType type, const uint8_t *element) {
  if (isNarrowFloat(type))
    return std::bit_cast<uint32_t>(float(io::elementAsDouble(type, element)));
  uint64_t bits = 0;
  std::memcpy(&bits, element, hal::elementTypeByteSize(type));
  return bits;
}

void elementOfRegister(hal::ElementType type, uint64_t bits, uint8_t *element) {
  if (isNarrowFloat(type))
    io::storeFloat(type, std::bit_cast<float>(static_cast<uint32_t>(bits)), element);
  else
    std::memcpy(element, &bits, hal::elementTypeByteSize(type));
}

std::string describeFunction(const vm::Function &function) {
  std::string_view declaration = function.attribute("kiln.abi.declaration");
  if (!declaration.empty())
    return std::string(declaration);
  return fmt::format("@{} with the signature {}", function.name(), function.signature());
}

} // namespace kiln
