#include "kiln/runtime/io/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::io {

namespace {

constexpr char kMagic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
// Headers are a line; what claims to be longer than this is damaged.
constexpr uint32_t kMaxHeaderLength = 1 << 20;

// The element type of a 'descr', or what to tell the user.
Result<ElementType> parseDescriptor(std::string_view text, std::optional<ElementType> wanted) {
  auto unsupported = [&](std::string_view why) {
    return unimplemented(
        ".npy arrays of dtype '{}' are not supported{}; b1, i1 to i8, u1 to u8, f2, f4, f8 and V2 (bf16) "
        "are",
        text, why);
  };
  if (text.size() < 3)
    return unsupported("");
  std::string_view code = text.substr(1);
  bool oneByte = code.size() == 2 && code[1] == '1';
  switch (text.front()) {
  case '<':
  case '=': break;
  case '|':
    if (!oneByte && code.front() != 'V')
      return unsupported("");
    break;
  case '>':
    if (!oneByte)
      return unsupported(" because they are big-endian (convert with `a.astype(a.dtype.newbyteorder('<'))`)");
    break;
  default: return unsupported("");
  }
  struct Entry {
    std::string_view code;
    ElementType type;
  };
  static constexpr Entry entries[] = {
      {"b1", ElementType::I1},   {"i1", ElementType::I8},     {"i2", ElementType::I16},  {"i4", ElementType::I32},
      {"i8", ElementType::I64},  {"u1", ElementType::UI8},    {"u2", ElementType::UI16}, {"u4", ElementType::UI32},
      {"u8", ElementType::UI64}, {"f2", ElementType::F16},    {"f4", ElementType::F32},  {"f8", ElementType::F64},
      {"V2", ElementType::BF16}, {"f1", ElementType::F8E5M2},
  };
  for (const Entry &entry : entries)
    if (entry.code == code)
      return entry.type;
  if (code == "V1") {
    if (wanted && isFloat(*wanted) && hal::elementTypeBits(*wanted) == 8)
      return *wanted;
    return invalidArgument(".npy arrays of dtype '{}' may hold any 8-bit float; say which, as in 4xf8E4M3FN=@x.npy",
                           text);
  }
  return unsupported("");
}

std::string_view descriptorOf(ElementType type) {
  switch (type) {
  case ElementType::I1: return "|b1";
  case ElementType::I8:
  case ElementType::SI8: return "|i1";
  case ElementType::I16:
  case ElementType::SI16: return "<i2";
  case ElementType::I32:
  case ElementType::SI32: return "<i4";
  case ElementType::I64:
  case ElementType::SI64: return "<i8";
  case ElementType::UI8: return "|u1";
  case ElementType::UI16: return "<u2";
  case ElementType::UI32: return "<u4";
  case ElementType::UI64: return "<u8";
  case ElementType::F16: return "<f2";
  case ElementType::BF16: return "<V2";
  case ElementType::F32: return "<f4";
  case ElementType::F64: return "<f8";
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F8E4M3:
  case ElementType::F8E3M4:
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E5M2FNUZ:
  case ElementType::F8E4M3B11FNUZ:
  case ElementType::F8E8M0FNU: return "|V1";
  case ElementType::I2:
  case ElementType::I4:
  case ElementType::F4E2M1FN: break; // writeNpy refuses them
  }
  return "";
}

// Reads the Python literals that a header may hold.
class DictionaryReader {
public:
  explicit DictionaryReader(std::string_view text) : text(text), rest(text) {}

  Result<NpyHeader> read(std::optional<ElementType> wanted) {
    std::optional<ElementType> type;
    std::optional<std::vector<uint64_t>> shape;
    std::optional<bool> fortranOrder;
    KILN_RETURN_IF_ERROR(expect('{'));
    while (!accept('}')) {
      KILN_ASSIGN_OR_RETURN(std::string_view key, readString());
      KILN_RETURN_IF_ERROR(expect(':'));
      if (key == "descr" && !type) {
        skipSpace();
        if (!rest.empty() && rest.front() == '[')
          return unimplemented(".npy arrays of structured dtypes are not supported: {}", text);
        KILN_ASSIGN_OR_RETURN(std::string_view descriptor, readString());
        KILN_ASSIGN_OR_RETURN(type, parseDescriptor(descriptor, wanted));
      } else if (key == "fortran_order" && !fortranOrder) {
        KILN_ASSIGN_OR_RETURN(fortranOrder, readBool());
      } else if (key == "shape" && !shape) {
        KILN_ASSIGN_OR_RETURN(shape, readShape());
      } else {
        return malformed();
      }
      if (!accept(',')) {
        KILN_RETURN_IF_ERROR(expect('}'));
        break;
      }
    }
    skipSpace();
    if (!rest.empty() || !type || !shape || !fortranOrder)
      return malformed();
    return NpyHeader{*type, *std::move(shape), *fortranOrder};
  }

private:
  Status malformed() const { return dataLoss("the .npy header is malformed: {}", text.substr(0, 200)); }

  void skipSpace() { rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size())); }

  bool accept(char c) {
    skipSpace();
    if (rest.empty() || rest.front() != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }

  Status expect(char c) { return accept(c) ? okStatus() : malformed(); }

  Result<std::string_view> readString() {
    skipSpace();
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return malformed();
    size_t end = rest.find(rest.front(), 1);
    if (end == std::string_view::npos)
      return malformed();
    std::string_view value = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return value;
  }

  Result<bool> readBool() {
    skipSpace();
    bool value = rest.substr(0, 4) == "True";
    if (!value && rest.substr(0, 5) != "False")
      return malformed();
    rest.remove_prefix(value ? 4 : 5);
    return value;
  }

  // A tuple: "()", "(3,)", "(3, 4)". Python 2 wrote "3L".
  Result<std::vector<uint64_t>> readShape() {
    std::vector<uint64_t> shape;
    KILN_RETURN_IF_ERROR(expect('('));
    while (!accept(')')) {
      skipSpace();
      uint64_t extent = 0;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
      if (error != std::errc())
        return malformed();
      rest.remove_prefix(end - rest.data());
      if (!rest.empty() && rest.front() == 'L')
        rest.remove_prefix(1);
      shape.push_back(extent);
      if (!accept(',')) {
        KILN_RETURN_IF_ERROR(expect(')'));
        break;
      }
    }
    return shape;
  }

  std::string_view text, rest;
};

// Puts the elements of a column-major array where row-major order wants them.
template <typename Element>
void transpose(const uint8_t *source, uint8_t *target, std::span<const uint64_t> shape, uint64_t count) {
  std::vector<uint64_t> index(shape.size()), stride(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > 0;)
    stride[i] = stride[i + 1] * shape[i + 1];
  uint64_t at = 0; // element of `target` for `index`
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(target + at * sizeof(Element), source + i * sizeof(Element), sizeof(Element));
    for (size_t d = 0; d < shape.size(); ++d) {
      at += stride[d];
      if (++index[d] < shape[d])
        break;
      at -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

Result<HostTensor> toRowMajor(const HostTensor &source) {
  KILN_ASSIGN_OR_RETURN(HostTensor target,
                        HostTensor::zeros(source.type(), {source.shape().begin(), source.shape().end()}));
  auto run = [&]<typename Element>(Element) {
    transpose<Element>(source.bytes().data(), target.bytes().data(), source.shape(), source.elementCount());
  };
  switch (hal::elementTypeByteSize(source.type())) {
  case 1: run(uint8_t()); break;
  case 2: run(uint16_t()); break;
  case 4: run(uint32_t()); break;
  default: run(uint64_t()); break;
  }
  return target;
}

} // namespace

Result<NpyHeader> parseNpyHeader(std::string_view dictionary, std::optional<ElementType> wanted) {
  return DictionaryReader(dictionary).read(wanted);
}

std::string formatNpyHeader(ElementType type, std::span<const uint64_t> shape) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", descriptorOf(type));
  for (size_t i = 0; i < shape.size(); ++i)
    dictionary += fmt::format("{}{}", i ? ", " : "", shape[i]);
  dictionary += shape.size() == 1 ? ",), }" : "), }";
  // The data starts at a multiple of 64, after blanks and a line feed.
  bool isLong = dictionary.size() + 64 > 0xFFFF;
  size_t before = sizeof(kMagic) + 2 + (isLong ? 4 : 2);
  dictionary.append(63 - (before + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string header(kMagic, sizeof(kMagic));
  header += isLong ? '\2' : '\1';
  header += '\0';
  for (unsigned i = 0; i < (isLong ? 4u : 2u); ++i)
    header += char(dictionary.size() >> (8 * i) & 0xFF);
  return header + dictionary;
}

Result<HostTensor> readNpy(InputFile &file, std::optional<ElementType> wanted) {
  std::string context = fmt::format("'{}'", file.path());
  uint8_t start[12];
  KILN_RETURN_IF_ERROR(file.read({start, 8}));
  if (std::memcmp(start, kMagic, sizeof(kMagic)) != 0)
    return dataLoss("'{}' is no .npy file, or something stands after its last array", file.path());
  unsigned version = start[6];
  if (version < 1 || version > 3 || start[7] != 0)
    return unimplemented("'{}' is of .npy version {}.{}; 1.0, 2.0 and 3.0 are supported", file.path(), version,
                         start[7]);
  unsigned lengthBytes = version == 1 ? 2 : 4;
  KILN_RETURN_IF_ERROR(file.read({start + 8, lengthBytes}));
  uint32_t length = 0;
  for (unsigned i = 0; i < lengthBytes; ++i)
    length |= uint32_t(start[8 + i]) << (8 * i);
  if (length > kMaxHeaderLength)
    return dataLoss("'{}' claims a .npy header of {} bytes; it is damaged", file.path(), length);
  std::string dictionary(length, '\0');
  KILN_RETURN_IF_ERROR(file.read({reinterpret_cast<uint8_t *>(dictionary.data()), length}));
  Result<NpyHeader> header = parseNpyHeader(dictionary, wanted);
  if (!header.ok())
    return std::move(header).status().withContext(context);

  // Known before memory is asked for: a damaged shape must not cost any.
  Result<uint64_t> size = hal::shapeByteLength(header->type, header->shape);
  if (!size.ok())
    return std::move(size).status().withContext(context);
  if (std::optional<uint64_t> remaining = file.remaining(); remaining && *remaining < *size)
    return dataLoss("'{}' ends early: its array {} takes {} bytes, and {} are there", file.path(),
                    hal::shapeText(header->type, header->shape), *size, *remaining);
  KILN_ASSIGN_OR_RETURN(HostTensor tensor, HostTensor::zeros(header->type, header->shape));
  KILN_RETURN_IF_ERROR(file.read(tensor.bytes()));
  if (header->fortranOrder && tensor.shape().size() > 1)
    return toRowMajor(tensor);
  return tensor;
}

Status writeNpy(OutputFile &file, const TensorSpan &tensor) {
  if (hal::isPacked(tensor.type))
    return unimplemented("a .npy file has no dtype for {}; write a .bin file, which holds its packed bytes",
                         tensor.typeText());
  std::string header = formatNpyHeader(tensor.type, tensor.shape);
  KILN_RETURN_IF_ERROR(file.write(header));
  return file.write(tensor.bytes);
}

} // namespace kiln::io
