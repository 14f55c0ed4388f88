#include "kiln/runtime/io/input.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/npy.h"
#include "kiln/runtime/io/packed_elements.h"

namespace kiln::io {

namespace {

constexpr std::string_view kSyntax =
    "an input is a scalar (3.14), a tensor (4xf32=[1 2 3 4]; 3x5xf32=1 repeats one value; 3x5xf32 is zeros; "
    "2x2xi32=@file.bin), or @file.npy";

// Long values are cut, so that an error stays a line.
std::string quote(std::string_view text) {
  constexpr size_t limit = 60;
  if (text.size() <= limit)
    return fmt::format("'{}'", text);
  return fmt::format("'{}...'", text.substr(0, limit));
}

bool isNpy(std::string_view path) {
  return path.size() >= 4 && path.substr(path.size() - 4) == ".npy";
}

bool isScalar(std::string_view text) {
  uint8_t element[8];
  return parseElement(ElementType::F64, text, element).ok() || parseElement(ElementType::UI64, text, element).ok() ||
         parseElement(ElementType::I64, text, element).ok() || parseElement(ElementType::I1, text, element).ok();
}

bool isSeparator(char c) {
  return c == ' ' || c == ',' || c == '[' || c == ']' || c == '\t' || c == '\n' || c == '\r';
}

// "@path" or "+path", where "+1 2" is a list of numbers.
bool namesFile(std::string_view text) {
  if (text.empty() || text.front() != '+')
    return !text.empty() && text.front() == '@';
  return !isScalar(text.substr(0, std::ranges::find_if(text, isSeparator) - text.begin()));
}

// Files may hold any byte, and native code relies on 0 or 1.
Status checkBooleans(const HostTensor &tensor, std::string_view path) {
  if (tensor.type() != ElementType::I1)
    return okStatus();
  auto bad = std::ranges::find_if(tensor.bytes(), [](uint8_t byte) { return byte > 1; });
  if (bad == tensor.bytes().end())
    return okStatus();
  return dataLoss("'{}' has the byte {} as element {} of {}; only 0 and 1 are booleans", path, *bad,
                  bad - tensor.bytes().begin(), tensor.typeText());
}

// Brackets mean nothing, but one that lacks its partner shows that something was lost.
Status checkBrackets(std::string_view values) {
  int depth = 0;
  for (char c : values) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth < 0)
      break;
  }
  if (depth == 0)
    return okStatus();
  return invalidArgument("{} has a bracket too {}", quote(values), depth > 0 ? "few: a ']' is missing" : "many: a ']'");
}

// Fills the tensor from a list of values. A single value is meant for all elements.
Status parseValues(std::string_view values, HostTensor &tensor) {
  KILN_RETURN_IF_ERROR(checkBrackets(values));
  uint64_t elementBytes = hal::elementTypeByteSize(tensor.type());
  uint64_t needed = tensor.elementCount(), found = 0;
  // Packed elements are parsed into a byte each, and packed at the end.
  const uint64_t wholeBytes = hal::isPacked(tensor.type()) ? needed : 0;
  KILN_ASSIGN_OR_RETURN(HostTensor whole, HostTensor::zeros(ElementType::UI8, {wholeBytes}));
  std::span<uint8_t> bytes = wholeBytes ? whole.bytes() : tensor.bytes();
  uint8_t spare[8]; // where a value is parsed for which the tensor has no room
  for (size_t i = 0; i < values.size();) {
    if (isSeparator(values[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < values.size() && !isSeparator(values[end]))
      ++end;
    KILN_RETURN_IF_ERROR(parseElement(tensor.type(), values.substr(i, end - i),
                                      found < needed ? bytes.data() + found * elementBytes : spare));
    ++found;
    i = end;
  }
  if (found == 1 && needed > 1) {
    for (uint64_t i = 1; i < needed; ++i)
      std::memcpy(bytes.data() + i * elementBytes, bytes.data(), elementBytes);
    found = needed;
  }
  if (found == needed) {
    if (wholeBytes)
      packElements(tensor.type(), whole.bytes(), tensor.bytes());
    return okStatus();
  }
  if (found == 1 && needed == 0)
    return okStatus();
  if (found == 0)
    return invalidArgument("no value stands after '='; leave '=' out for zeros");
  return invalidArgument("{} values are given, and {} has {} element{}; give one for each, or one for all", found,
                         tensor.typeText(), needed, needed == 1 ? "" : "s");
}

} // namespace

Status parseTensorType(std::string_view text, ElementType &type, std::vector<uint64_t> &shape) {
  shape.clear();
  std::string_view rest = text;
  // Extents end in 'x'; what starts with something else is the type.
  while (!rest.empty() &&
         (rest.front() == '?' || (rest.front() >= '0' && rest.front() <= '9') || rest.front() == '-')) {
    size_t end = rest.find('x');
    std::string_view digits = rest.substr(0, end);
    if (digits == "?")
      return invalidArgument("the shape of {} has a '?'; an input's extents are numbers", quote(text));
    uint64_t extent = 0;
    auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), extent);
    if (error == std::errc::result_out_of_range)
      return outOfRange("the extent {} in {} is too large", quote(digits), quote(text));
    if (error != std::errc() || last != digits.data() + digits.size())
      return invalidArgument("{} in {} is no extent", quote(digits), quote(text));
    if (end == std::string_view::npos)
      return invalidArgument("{} lacks an element type, as in {}xf32", quote(text), text.substr(0, 60));
    shape.push_back(extent);
    rest.remove_prefix(end + 1);
  }
  std::optional<ElementType> parsed = rest == "index" ? ElementType::I64 : hal::parseElementType(rest);
  if (parsed) {
    type = *parsed;
    return okStatus();
  }
  static constexpr std::string_view names[] = {
#define KILN_ELEMENT_TYPE(Name, text, number, bits) text,
#include "kiln/schema/element_type.def"
  };
  std::string known;
  for (std::string_view name : names)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  return invalidArgument("{} in {} is no element type; these are: {}, index", quote(rest), quote(text), known);
}

Result<InputReader::OpenFile *> InputReader::open(char how, std::string_view path) {
  auto found = files.find(path);
  if (found != files.end()) {
    if (how == '+')
      return &found->second;
    files.erase(found);
  }
  KILN_ASSIGN_OR_RETURN(InputFile file, InputFile::open(std::string(path)));
  return &files.emplace(std::string(path), OpenFile{std::move(file)}).first->second;
}

// The next array of a .npy file.
Result<HostTensor> InputReader::readArray(OpenFile &open, std::optional<ElementType> wanted) {
  if (open.arrays > 0) {
    KILN_ASSIGN_OR_RETURN(bool end, open.file.atEnd());
    if (end)
      return outOfRange("'{}' holds only {}", open.file.path(),
                        open.arrays == 1 ? "1 array" : fmt::format("{} arrays", open.arrays));
  }
  KILN_ASSIGN_OR_RETURN(HostTensor tensor, readNpy(open.file, wanted));
  KILN_RETURN_IF_ERROR(checkBooleans(tensor, open.file.path()));
  ++open.arrays;
  return tensor;
}

Status InputReader::read(std::string_view text, std::vector<Input> &inputs) {
  size_t count = inputs.size();
  Status status = readSource(text, inputs);
  if (status.ok())
    return status;
  inputs.erase(inputs.begin() + count, inputs.end());
  return std::move(status).withContext(fmt::format("input {}", quote(text)));
}

Status InputReader::readSource(std::string_view text, std::vector<Input> &inputs) {
  if (text.empty())
    return invalidArgument("it is empty; {}", kSyntax);
  char first = text.front();
  if (first == '*' || namesFile(text)) {
    std::string_view path = text.substr(1);
    if (!isNpy(path))
      return invalidArgument("a file without a type in front of it must end in .npy; write its type, as in "
                             "2x2xi32=@file.bin");
    KILN_ASSIGN_OR_RETURN(OpenFile * opened, open(first, path));
    if (first != '*') {
      KILN_ASSIGN_OR_RETURN(HostTensor tensor, readArray(*opened));
      inputs.push_back(std::move(tensor));
      return okStatus();
    }
    for (;;) {
      KILN_ASSIGN_OR_RETURN(bool end, opened->file.atEnd());
      if (end)
        return okStatus();
      KILN_ASSIGN_OR_RETURN(HostTensor tensor, readArray(*opened));
      inputs.push_back(std::move(tensor));
    }
  }

  // A type is tried first: 0xf32 is an empty tensor, not a hexadecimal number.
  size_t equals = text.find('=');
  ElementType type;
  std::vector<uint64_t> shape;
  Status typeStatus = parseTensorType(text.substr(0, equals), type, shape);
  if (!typeStatus.ok() && isScalar(text)) {
    inputs.push_back(Scalar{std::string(text)});
    return okStatus();
  }
  if (!typeStatus.ok())
    return equals == std::string_view::npos && shape.empty() && typeStatus.code() == StatusCode::InvalidArgument
               ? invalidArgument("{}; {}", typeStatus.message(), kSyntax)
               : typeStatus;
  if (equals == std::string_view::npos) {
    KILN_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::zeros(type, std::move(shape)));
    inputs.push_back(std::move(tensor));
    return okStatus();
  }

  std::string_view values = text.substr(equals + 1);
  if (namesFile(values)) {
    std::string_view path = values.substr(1);
    KILN_ASSIGN_OR_RETURN(OpenFile * opened, open(values.front(), path));
    if (isNpy(path)) {
      KILN_ASSIGN_OR_RETURN(HostTensor tensor, readArray(*opened, type));
      if (tensor.type() != type || !std::ranges::equal(tensor.shape(), shape))
        return invalidArgument("'{}' holds {}", path, tensor.typeText());
      inputs.push_back(std::move(tensor));
      return okStatus();
    }
    KILN_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::zeros(type, std::move(shape)));
    InputFile &file = opened->file;
    KILN_RETURN_IF_ERROR(file.read(tensor.bytes()));
    KILN_RETURN_IF_ERROR(checkBooleans(tensor, path));
    if (values.front() == '@') {
      KILN_ASSIGN_OR_RETURN(bool end, file.atEnd());
      std::optional<uint64_t> left = file.remaining();
      // What stands behind may be the next input's, if one asks for it; a lone file that is too long is a mistake.
      if (!end)
        return invalidArgument("'{}' has {}more bytes than {} takes; read a part of a file with +, as in {}=+{}", path,
                               left ? fmt::format("{} ", *left) : "", tensor.typeText(), tensor.typeText(), path);
    }
    inputs.push_back(std::move(tensor));
    return okStatus();
  }
  KILN_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::zeros(type, std::move(shape)));
  KILN_RETURN_IF_ERROR(parseValues(values, tensor));
  inputs.push_back(std::move(tensor));
  return okStatus();
}

} // namespace kiln::io
