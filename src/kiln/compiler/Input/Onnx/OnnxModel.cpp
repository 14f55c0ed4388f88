#include "kiln/compiler/Input/Onnx/OnnxModel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>

namespace kiln::onnx {
namespace {
// What is wrong with a file: caught where its reading begins.
struct Malformed {
  std::string what;
};
} // namespace
} // namespace kiln::onnx

// A field of another kind than the format has there. The library's own assertions are gone in optimized builds.
#define protozero_assert(condition)                                                                                    \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      throw kiln::onnx::Malformed{"a field is of another kind than it should be"};                                     \
  } while (false)
#include <protozero/pbf_message.hpp>

namespace kiln::onnx {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little endian");

std::string_view dataTypeName(DataType type) {
  switch (type) {
  case DataType::Undefined: return "undefined";
  case DataType::F32: return "float32";
  case DataType::U8: return "uint8";
  case DataType::I8: return "int8";
  case DataType::U16: return "uint16";
  case DataType::I16: return "int16";
  case DataType::I32: return "int32";
  case DataType::I64: return "int64";
  case DataType::String: return "string";
  case DataType::Bool: return "bool";
  case DataType::F16: return "float16";
  case DataType::F64: return "float64";
  case DataType::U32: return "uint32";
  case DataType::U64: return "uint64";
  case DataType::Complex64: return "complex64";
  case DataType::Complex128: return "complex128";
  case DataType::BF16: return "bfloat16";
  case DataType::F8E4M3FN: return "float8e4m3fn";
  case DataType::F8E4M3FNUZ: return "float8e4m3fnuz";
  case DataType::F8E5M2: return "float8e5m2";
  case DataType::F8E5M2FNUZ: return "float8e5m2fnuz";
  case DataType::U4: return "uint4";
  case DataType::I4: return "int4";
  case DataType::F4E2M1: return "float4e2m1";
  case DataType::F8E8M0: return "float8e8m0";
  case DataType::U2: return "uint2";
  case DataType::I2: return "int2";
  }
  return "unknown";
}

int bitsOf(DataType type) {
  switch (type) {
  case DataType::U2:
  case DataType::I2: return 2;
  case DataType::U4:
  case DataType::I4:
  case DataType::F4E2M1: return 4;
  case DataType::U8:
  case DataType::I8:
  case DataType::Bool:
  case DataType::F8E4M3FN:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2:
  case DataType::F8E5M2FNUZ:
  case DataType::F8E8M0: return 8;
  case DataType::U16:
  case DataType::I16:
  case DataType::F16:
  case DataType::BF16: return 16;
  case DataType::F32:
  case DataType::I32:
  case DataType::U32: return 32;
  case DataType::F64:
  case DataType::I64:
  case DataType::U64:
  case DataType::Complex64: return 64;
  case DataType::Complex128: return 128;
  default: return 0;
  }
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : dims)
    count *= extent;
  return count;
}

bool Model::isWhole() const {
  return (!file || file->isWhole()) &&
         std::ranges::all_of(external, [](const std::shared_ptr<const MappedFile> &each) { return each->isWhole(); });
}

const Attribute *Node::attribute(std::string_view wanted) const {
  auto found = std::ranges::find(attributes, wanted, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

namespace {

using Message = protozero::pbf_reader;

template <typename... Args> [[noreturn]] void malformed(fmt::format_string<Args...> format, Args &&...args) {
  throw Malformed{fmt::format(format, std::forward<Args>(args)...)};
}

std::string_view text(Message &message) {
  const protozero::data_view view = message.get_view();
  return {view.data(), view.size()};
}
std::span<const std::byte> bytesOf(std::string_view view) {
  return std::as_bytes(std::span(view.data(), view.size()));
}

// A repeated number, as one field or packed into one.
void appendInts(Message &message, std::vector<int64_t> &numbers) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited)
    for (int64_t number : message.get_packed_int64())
      numbers.push_back(number);
  else
    numbers.push_back(message.get_int64());
}
void appendFloats(Message &message, std::vector<float> &numbers) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited)
    for (float number : message.get_packed_float())
      numbers.push_back(number);
  else
    numbers.push_back(message.get_float());
}

class Reader {
public:
  explicit Reader(Model &model) : model(model) {}

  void readModel(Message message) {
    while (message.next()) {
      switch (message.tag()) {
      case 1: model.irVersion = message.get_int64(); break;
      case 2: model.producer = text(message); break;
      case 3: model.producerVersion = text(message); break;
      case 7: readGraph(message.get_message(), model.graph, 0); break;
      case 8: readOpset(message.get_message(), model.opsets); break;
      case 25: readFunction(message.get_message(), model.functions.emplace_back()); break;
      default: message.skip();
      }
    }
  }

private:
  static constexpr int kMostDepth = 32; // of graphs within graphs, and of types

  static void readOpset(Message message, Opsets &opsets) {
    std::string_view domain;
    int64_t version = 0;
    while (message.next()) {
      switch (message.tag()) {
      case 1: domain = text(message); break;
      case 2: version = message.get_int64(); break;
      default: message.skip();
      }
    }
    opsets[domain == "ai.onnx" ? "" : domain] = version;
  }

  void readFunction(Message message, Function &function) {
    while (message.next()) {
      switch (message.tag()) {
      case 1: function.name = text(message); break;
      case 4: function.inputs.push_back(text(message)); break;
      case 5: function.outputs.push_back(text(message)); break;
      case 6: function.attributes.push_back(text(message)); break;
      case 7: readNode(message.get_message(), function.nodes.emplace_back(), 1); break;
      case 9: readOpset(message.get_message(), function.opsets); break;
      case 10: function.domain = text(message); break;
      case 11: readAttribute(message.get_message(), function.defaults.emplace_back(), 1); break;
      case 13: function.overload = text(message); break;
      default: message.skip();
      }
    }
    if (function.name.empty())
      malformed("a function has no name");
  }

  void readGraph(Message message, Graph &graph, int depth) {
    if (depth > kMostDepth)
      malformed("graphs lie in more than {} others", kMostDepth);
    while (message.next()) {
      switch (message.tag()) {
      case 1: readNode(message.get_message(), graph.nodes.emplace_back(), depth); break;
      case 2: graph.name = text(message); break;
      case 5: readTensor(message.get_message(), graph.initializers.emplace_back()); break;
      case 11: readValueInfo(message.get_message(), graph.inputs.emplace_back()); break;
      case 12: readValueInfo(message.get_message(), graph.outputs.emplace_back()); break;
      case 13: readValueInfo(message.get_message(), graph.values.emplace_back()); break;
      case 15: {
        SparseTensor sparse;
        readSparse(message.get_message(), sparse);
        const std::string_view name = sparse.values.name;
        graph.sparseInitializers.emplace_back(name, std::move(sparse));
        break;
      }
      default: message.skip();
      }
    }
  }

  void readNode(Message message, Node &node, int depth) {
    while (message.next()) {
      switch (message.tag()) {
      case 1: node.inputs.push_back(text(message)); break;
      case 2: node.outputs.push_back(text(message)); break;
      case 3: node.name = text(message); break;
      case 4: node.op = text(message); break;
      case 5: readAttribute(message.get_message(), node.attributes.emplace_back(), depth); break;
      case 7: node.domain = text(message); break;
      case 8: node.overload = text(message); break;
      default: message.skip();
      }
    }
    if (node.domain == "ai.onnx")
      node.domain = "";
    if (node.op.empty())
      malformed("node '{}' has no operator", node.name);
  }

  void readAttribute(Message message, Attribute &attribute, int depth) {
    while (message.next()) {
      switch (message.tag()) {
      case 1: attribute.name = text(message); break;
      case 2: attribute.floats = {message.get_float()}; break;
      case 3: attribute.ints = {message.get_int64()}; break;
      case 4: attribute.strings = {text(message)}; break;
      case 5: readTensor(message.get_message(), attribute.tensors.emplace_back()); break;
      case 6: readSubgraph(message.get_message(), attribute, depth); break;
      case 7: appendFloats(message, attribute.floats); break;
      case 8: appendInts(message, attribute.ints); break;
      case 9: attribute.strings.push_back(text(message)); break;
      case 10: readTensor(message.get_message(), attribute.tensors.emplace_back()); break;
      case 11: readSubgraph(message.get_message(), attribute, depth); break;
      case 14:
      case 15: readType(message.get_message(), attribute.types.emplace_back(), 0); break;
      case 20: attribute.kind = static_cast<Attribute::Kind>(message.get_int32()); break;
      case 21: attribute.reference = text(message); break;
      case 22:
      case 23: readSparse(message.get_message(), attribute.sparseTensors.emplace_back()); break;
      default: message.skip();
      }
    }
    if (attribute.name.empty())
      malformed("an attribute has no name");
    if (!attribute.reference.empty())
      return;
    // A number that is zero, or a text that is empty, may have been left out.
    switch (attribute.kind) {
    case Attribute::Kind::Float: attribute.floats.resize(1); break;
    case Attribute::Kind::Int: attribute.ints.resize(1); break;
    case Attribute::Kind::String: attribute.strings.resize(1); break;
    case Attribute::Kind::Tensor: needOne(attribute, attribute.tensors.size()); break;
    case Attribute::Kind::Graph: needOne(attribute, attribute.graphs.size()); break;
    default: break;
    }
  }

  static void needOne(const Attribute &attribute, size_t count) {
    if (count != 1)
      malformed("attribute '{}' has {} values, and one is expected", attribute.name, count);
  }

  void readSubgraph(Message message, Attribute &attribute, int depth) {
    auto graph = std::make_shared<Graph>();
    readGraph(message, *graph, depth + 1);
    attribute.graphs.push_back(std::move(graph));
  }

  void readValueInfo(Message message, ValueInfo &info) {
    while (message.next()) {
      switch (message.tag()) {
      case 1: info.name = text(message); break;
      case 2: readType(message.get_message(), info.type, 0); break;
      default: message.skip();
      }
    }
  }

  static void readType(Message message, ValueType &type, int depth) {
    if (depth > kMostDepth)
      malformed("types lie in more than {} others", kMostDepth);
    while (message.next()) {
      switch (message.tag()) {
      case 1:
        type.kind = ValueType::Kind::Tensor;
        readTensorType(message.get_message(), type);
        break;
      case 8:
        type.kind = ValueType::Kind::SparseTensor;
        readTensorType(message.get_message(), type);
        break;
      case 4:
      case 9: {
        type.kind = message.tag() == 4 ? ValueType::Kind::Sequence : ValueType::Kind::Optional;
        auto contained = std::make_shared<ValueType>();
        Message inner = message.get_message();
        while (inner.next())
          if (inner.tag() == 1)
            readType(inner.get_message(), *contained, depth + 1);
          else
            inner.skip();
        type.contained = std::move(contained);
        break;
      }
      case 5:
        type.kind = ValueType::Kind::Map;
        message.skip();
        break;
      default: message.skip();
      }
    }
  }

  static void readTensorType(Message message, ValueType &type) {
    while (message.next()) {
      switch (message.tag()) {
      case 1: type.element = static_cast<DataType>(message.get_int32()); break;
      case 2: {
        type.shape.emplace();
        Message shape = message.get_message();
        while (shape.next()) {
          if (shape.tag() != 1) {
            shape.skip();
            continue;
          }
          Dimension &dimension = type.shape->emplace_back();
          Message inner = shape.get_message();
          while (inner.next()) {
            switch (inner.tag()) {
            case 1: dimension.extent = inner.get_int64(); break;
            case 2: dimension.symbol = text(inner); break;
            default: inner.skip();
            }
          }
          if (dimension.extent && *dimension.extent < 0) // as some exporters write what they do not know
            dimension.extent.reset();
        }
        break;
      }
      default: message.skip();
      }
    }
  }

  void readSparse(Message message, SparseTensor &sparse) {
    while (message.next()) {
      switch (message.tag()) {
      case 1: readTensor(message.get_message(), sparse.values); break;
      case 2: readTensor(message.get_message(), sparse.indices); break;
      case 3: appendInts(message, sparse.dims); break;
      default: message.skip();
      }
    }
  }

  //===--- Tensors ------------------------------------------------------------------------------------------------===//

  // Numbers as the file has them in lists of the type that has room for them.
  struct Lists {
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<int64_t> ints;
    std::vector<uint64_t> unsignedInts;
  };
  struct External {
    std::string_view location;
    int64_t offset = 0, length = -1;
  };

  void readTensor(Message message, Tensor &tensor) {
    Lists lists;
    External external;
    bool isExternal = false, isRaw = false;
    while (message.next()) {
      switch (message.tag()) {
      case 1: appendInts(message, tensor.dims); break;
      case 2: tensor.type = static_cast<DataType>(message.get_int32()); break;
      case 4: appendFloats(message, lists.floats); break;
      case 5: // int32, which sign extension makes an int64 on the wire
      case 7: appendInts(message, lists.ints); break;
      case 6: tensor.strings.push_back(text(message)); break;
      case 8: tensor.name = text(message); break;
      case 9:
        tensor.bytes = bytesOf(text(message));
        isRaw = true;
        break;
      case 10:
        if (message.wire_type() == protozero::pbf_wire_type::length_delimited)
          for (double number : message.get_packed_double())
            lists.doubles.push_back(number);
        else
          lists.doubles.push_back(message.get_double());
        break;
      case 11:
        if (message.wire_type() == protozero::pbf_wire_type::length_delimited)
          for (uint64_t number : message.get_packed_uint64())
            lists.unsignedInts.push_back(number);
        else
          lists.unsignedInts.push_back(message.get_uint64());
        break;
      case 13: readExternal(message.get_message(), external); break;
      case 14: isExternal = message.get_int32() == 1; break;
      default: message.skip();
      }
    }
    int64_t count = 1;
    for (int64_t extent : tensor.dims)
      if (extent < 0 || __builtin_mul_overflow(count, extent, &count))
        malformed("tensor '{}' has an extent of {}", tensor.name, extent);
    if (tensor.type == DataType::String) {
      if (static_cast<int64_t>(tensor.strings.size()) != count)
        malformed("tensor '{}' has {} strings, and {} are expected", tensor.name, tensor.strings.size(), count);
      return;
    }
    if (bitsOf(tensor.type) == 0)
      malformed("tensor '{}' has the element type {}, which is none", tensor.name, static_cast<int32_t>(tensor.type));
    if (isExternal)
      tensor.bytes = externalBytes(tensor, external);
    else if (!isRaw)
      tensor.bytes = unpack(tensor, lists, count);
    int64_t bits = 0;
    if (__builtin_mul_overflow(count, bitsOf(tensor.type), &bits) ||
        static_cast<int64_t>(tensor.bytes.size()) != (bits + 7) / 8)
      malformed("tensor '{}' has {} bytes, and {} elements of {} are expected", tensor.name, tensor.bytes.size(), count,
                dataTypeName(tensor.type));
  }

  static void readExternal(Message message, External &external) {
    std::string_view key, value;
    while (message.next()) {
      switch (message.tag()) {
      case 1: key = text(message); break;
      case 2: value = text(message); break;
      default: message.skip();
      }
    }
    auto number = [&] {
      int64_t result = 0;
      for (char digit : value)
        if (digit < '0' || digit > '9' || __builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, digit - '0', &result))
          malformed("external data has the {} '{}'", key, value);
      return result;
    };
    if (key == "location")
      external.location = value;
    else if (key == "offset")
      external.offset = number();
    else if (key == "length")
      external.length = number();
  }

  std::span<const std::byte> externalBytes(const Tensor &tensor, const External &external) {
    namespace fs = std::filesystem;
    const fs::path location(external.location);
    // What a model names is not to be any file of the machine.
    if (external.location.empty() || location.is_absolute() ||
        std::ranges::find(location, fs::path("..")) != location.end())
      malformed("tensor '{}' lies in the file '{}', which is not one beside the model", tensor.name, external.location);
    const std::string path = (fs::path(model.path).parent_path() / location).string();
    auto known = files.find(path);
    if (known == files.end()) {
      Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
      if (!file.ok())
        malformed("tensor '{}': {}", tensor.name, file.status().message());
      known = files.emplace(path, (*file)->bytes()).first;
      model.external.push_back(*file);
    }
    const std::span<const std::byte> all = known->second;
    int64_t length = external.length;
    if (length < 0)
      length = (tensor.elements() * bitsOf(tensor.type) + 7) / 8;
    if (external.offset > static_cast<int64_t>(all.size()) ||
        length > static_cast<int64_t>(all.size()) - external.offset)
      malformed("tensor '{}' lies behind the end of '{}', which has {} bytes: {} from {} on", tensor.name, path,
                all.size(), length, external.offset);
    return all.subspan(external.offset, length);
  }

  template <typename Stored, typename Number>
  void store(std::vector<std::byte> &bytes, const std::vector<Number> &numbers) {
    bytes.resize(numbers.size() * sizeof(Stored));
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto stored = static_cast<Stored>(numbers[i]);
      std::memcpy(bytes.data() + i * sizeof(Stored), &stored, sizeof(Stored));
    }
  }

  // Elements of less than a byte lie in these lists as bytes that are packed already.
  std::span<const std::byte> unpack(const Tensor &tensor, const Lists &lists, int64_t count) {
    std::vector<std::byte> &bytes = model.unpacked.emplace_back();
    switch (tensor.type) {
    case DataType::F32:
    case DataType::Complex64: store<float>(bytes, lists.floats); break;
    case DataType::F64:
    case DataType::Complex128: store<double>(bytes, lists.doubles); break;
    case DataType::I64: store<int64_t>(bytes, lists.ints); break;
    case DataType::U64: store<uint64_t>(bytes, lists.unsignedInts); break;
    case DataType::U32: store<uint32_t>(bytes, lists.unsignedInts); break;
    case DataType::I32: store<int32_t>(bytes, lists.ints); break;
    default:
      if (bitsOf(tensor.type) == 16)
        store<uint16_t>(bytes, lists.ints);
      else
        store<uint8_t>(bytes, lists.ints);
    }
    if (bytes.empty() && count > 0)
      malformed("tensor '{}' has no elements, and {} are expected", tensor.name, count);
    return bytes;
  }

  Model &model;
  std::map<std::string, std::span<const std::byte>> files;
};

} // namespace

static constexpr std::string_view kLfsPointer = "version https://git-lfs";

Result<std::unique_ptr<Model>> parseModel(std::span<const std::byte> bytes, std::string path) {
  auto model = std::make_unique<Model>();
  model->path = std::move(path);
  if (std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size()).starts_with(kLfsPointer))
    return invalidArgument("'{}' is what Git LFS has in place of a model; `git lfs pull` fetches it", model->path);
  try {
    Reader(*model).readModel(Message(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
    // A text that protobuf takes for fields of its own says nothing of a graph.
    if (model->irVersion <= 0 || (model->graph.nodes.empty() && model->graph.outputs.empty()))
      malformed("it has no graph");
  } catch (const protozero::end_of_buffer_exception &) {
    return invalidArgument("'{}' is no ONNX model, or is cut off: it ends within a field", model->path);
  } catch (const protozero::exception &error) {
    return invalidArgument("'{}' is no ONNX model, or is damaged: {}", model->path, error.what());
  } catch (const Malformed &error) {
    return invalidArgument("'{}' is no ONNX model that can be read: {}", model->path, error.what);
  }
  return model;
}

Result<std::unique_ptr<Model>> readModel(const std::string &path) {
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, parseModel(file->bytes(), path));
  model->file = std::move(file);
  return model;
}

} // namespace kiln::onnx
