#include "kiln/schema/parameters/byte_reader.h"
#include "kiln/schema/parameters/parameter_file.h"

#include <algorithm>
#include <array>

namespace kiln {

namespace {

// Elements are stored in blocks; of the plain types a block is an element.
struct ElementFormat {
  uint32_t number;
  std::string_view text;
  uint32_t elements, bytes;
};
constexpr std::array kElements = {
    ElementFormat{0, "f32", 1, 4},         ElementFormat{1, "f16", 1, 2},         ElementFormat{2, "q4_0", 32, 18},
    ElementFormat{3, "q4_1", 32, 20},      ElementFormat{6, "q5_0", 32, 22},      ElementFormat{7, "q5_1", 32, 24},
    ElementFormat{8, "q8_0", 32, 34},      ElementFormat{9, "q8_1", 32, 36},      ElementFormat{10, "q2_K", 256, 84},
    ElementFormat{11, "q3_K", 256, 110},   ElementFormat{12, "q4_K", 256, 144},   ElementFormat{13, "q5_K", 256, 176},
    ElementFormat{14, "q6_K", 256, 210},   ElementFormat{15, "q8_K", 256, 292},   ElementFormat{16, "iq2_xxs", 256, 66},
    ElementFormat{17, "iq2_xs", 256, 74},  ElementFormat{18, "iq3_xxs", 256, 98}, ElementFormat{19, "iq1_s", 256, 50},
    ElementFormat{20, "iq4_nl", 32, 18},   ElementFormat{21, "iq3_s", 256, 110},  ElementFormat{22, "iq2_s", 256, 82},
    ElementFormat{23, "iq4_xs", 256, 136}, ElementFormat{24, "i8", 1, 1},         ElementFormat{25, "i16", 1, 2},
    ElementFormat{26, "i32", 1, 4},        ElementFormat{27, "i64", 1, 8},        ElementFormat{28, "f64", 1, 8},
    ElementFormat{29, "iq1_m", 256, 56},   ElementFormat{30, "bf16", 1, 2},       ElementFormat{34, "tq1_0", 256, 54},
    ElementFormat{35, "tq2_0", 256, 66},   ElementFormat{39, "mxfp4", 32, 17},
};
constexpr uint32_t kMostDimensions = 8;

enum ValueType : uint32_t { kUInt32 = 4, kString = 8, kArray = 9 };
// Bytes of a value of each type; strings and arrays tell theirs.
constexpr std::array<uint64_t, 13> kValueBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

class GgufReader {
public:
  explicit GgufReader(std::span<const std::byte> file) : file(file), reader(file, kGgufMagic.size()) {}

  Result<std::vector<Parameter>> read() {
    KILN_ASSIGN_OR_RETURN(auto version, reader.number<uint32_t>("its version"));
    if (version != 2 && version != 3)
      return unimplemented("the file is of version {}; versions 2 and 3 are known", version);
    KILN_ASSIGN_OR_RETURN(auto tensors, reader.number<uint64_t>("the number of tensors"));
    KILN_ASSIGN_OR_RETURN(auto values, reader.number<uint64_t>("the number of values"));
    for (uint64_t i = 0; i < values; ++i)
      KILN_RETURN_IF_ERROR(readValue());
    std::vector<Parameter> parameters;
    for (uint64_t i = 0; i < tensors; ++i) {
      KILN_ASSIGN_OR_RETURN(Parameter parameter, readTensor());
      parameters.push_back(std::move(parameter));
    }
    // Data starts at the next multiple; tensors tell their places from there on.
    const uint64_t padding = (alignment - reader.position() % alignment) % alignment;
    if (!parameters.empty())
      KILN_RETURN_IF_ERROR(reader.take(padding, "the padding before the data").status());
    for (Parameter &parameter : parameters) {
      KILN_RETURN_IF_ERROR(rangeOf(file.subspan(reader.position()), parameter.offset, parameter.length,
                                   fmt::format("the data of '{}'", parameter.key))
                               .status());
      parameter.offset += reader.position();
    }
    return parameters;
  }

private:
  Result<std::string> readString(std::string_view what) {
    KILN_ASSIGN_OR_RETURN(auto length, reader.number<uint64_t>(what));
    KILN_ASSIGN_OR_RETURN(auto bytes, reader.take(length, what));
    return textOf(bytes);
  }

  // Of all values only the alignment matters here.
  Status readValue() {
    KILN_ASSIGN_OR_RETURN(std::string key, readString("the key of a value"));
    KILN_ASSIGN_OR_RETURN(auto type, reader.number<uint32_t>("the type of a value"));
    if (key == "general.alignment" && type == kUInt32) {
      KILN_ASSIGN_OR_RETURN(alignment, reader.number<uint32_t>(key));
      if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return dataLoss("{} is {}, which is no power of two", key, alignment);
      return okStatus();
    }
    return skip(type, 1, key, 0);
  }

  Status skip(uint32_t type, uint64_t count, const std::string &key, int depth) {
    if (type >= kValueBytes.size() || depth > 4)
      return dataLoss("the value of '{}' is of type {}, which is not known", key, type);
    // Each takes some bytes, so that no count can take longer than the file is long.
    if (type != kString && type != kArray) {
      if (count > reader.remaining() / kValueBytes[type])
        return dataLoss("'{}' is said to have {} values, for which there is no room", key, count);
      return reader.take(count * kValueBytes[type], key).status();
    }
    for (uint64_t i = 0; i < count; ++i) {
      if (type == kString) {
        KILN_RETURN_IF_ERROR(readString(key).status());
        continue;
      }
      KILN_ASSIGN_OR_RETURN(auto elementType, reader.number<uint32_t>(key));
      KILN_ASSIGN_OR_RETURN(auto length, reader.number<uint64_t>(key));
      KILN_RETURN_IF_ERROR(skip(elementType, length, key, depth + 1));
    }
    return okStatus();
  }

  Result<Parameter> readTensor() {
    Parameter parameter;
    KILN_ASSIGN_OR_RETURN(parameter.key, readString("the name of a tensor"));
    KILN_ASSIGN_OR_RETURN(auto rank, reader.number<uint32_t>(parameter.key));
    if (rank > kMostDimensions)
      return dataLoss("'{}' is said to have {} dimensions", parameter.key, rank);
    std::vector<uint64_t> shape(rank);
    uint64_t elements = 1;
    for (uint64_t &extent : shape) {
      KILN_ASSIGN_OR_RETURN(extent, reader.number<uint64_t>(parameter.key));
      if (__builtin_mul_overflow(elements, extent, &elements))
        return dataLoss("'{}' is said to have more elements than can be counted", parameter.key);
    }
    KILN_ASSIGN_OR_RETURN(auto type, reader.number<uint32_t>(parameter.key));
    KILN_ASSIGN_OR_RETURN(parameter.offset, reader.number<uint64_t>(parameter.key));
    const auto *format = std::ranges::find(kElements, type, &ElementFormat::number);
    if (format == kElements.end())
      return unimplemented("'{}' is of type {}, which is not known", parameter.key, type);
    // The first extent is of the dimension whose elements lie side by side.
    if ((rank ? shape.front() : 1) % format->elements != 0 ||
        __builtin_mul_overflow(elements / format->elements, format->bytes, &parameter.length))
      return dataLoss("'{}' has rows of {} elements of type {}, which come in blocks of {}", parameter.key,
                      rank ? shape.front() : 1, format->text, format->elements);
    std::ranges::reverse(shape);
    for (uint64_t extent : shape)
      parameter.type += fmt::format("{}x", extent);
    parameter.type += format->text;
    return parameter;
  }

  std::span<const std::byte> file;
  ByteReader reader;
  uint32_t alignment = 32;
};

} // namespace

Result<std::vector<Parameter>> readGguf(std::span<const std::byte> file) {
  return GgufReader(file).read();
}

} // namespace kiln
