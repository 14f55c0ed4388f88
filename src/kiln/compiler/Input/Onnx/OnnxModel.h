// An ONNX model as its file has it: graphs, nodes, tensors. Nothing here knows MLIR.
//
//   KILN_ASSIGN_OR_RETURN(std::unique_ptr<onnx::Model> model, onnx::readModel("resnet50.onnx"));
//
// Names and the bytes of tensors are views of the mapped file, which the model owns: a model of 10 GB takes no memory
// for its weights. What is malformed is an error with the place in the file's structure; what is well-formed but
// unknown to Kiln is for the importer to refuse.
#ifndef KILN_COMPILER_INPUT_ONNX_ONNXMODEL_H
#define KILN_COMPILER_INPUT_ONNX_ONNXMODEL_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/mapped_file.h"
#include "kiln/base/status.h"

namespace kiln::onnx {

// With the numbers of the format.
enum class DataType : int32_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
};

// As the format calls it, in lower case: "float16".
std::string_view dataTypeName(DataType type);
// 0 of strings and of what has no number here.
int bitsOf(DataType type);

struct Tensor {
  std::string_view name;
  DataType type = DataType::Undefined;
  std::vector<int64_t> dims;
  // Dense, little endian, elements of less than a byte packed from the lowest bits on. Strings are apart.
  std::span<const std::byte> bytes;
  std::vector<std::string_view> strings;

  int64_t elements() const;
};

// A tensor that has few elements that are not zero.
struct SparseTensor {
  Tensor values, indices;
  std::vector<int64_t> dims;
};

struct Dimension {
  std::optional<int64_t> extent;
  std::string_view symbol; // empty where it has no name; dimensions of one name are equal
};

struct ValueType {
  enum class Kind { Unknown, Tensor, SparseTensor, Sequence, Optional, Map } kind = Kind::Unknown;
  DataType element = DataType::Undefined;
  std::optional<std::vector<Dimension>> shape; // of a tensor, where it is known
  std::shared_ptr<const ValueType> contained;  // of sequences and optionals
};

struct ValueInfo {
  std::string_view name;
  ValueType type;
};

struct Graph;

struct Attribute {
  // With the numbers of the format.
  enum class Kind : int32_t {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    TypeProto = 13,
    TypeProtos = 14,
  } kind = Kind::Undefined;
  std::string_view name;
  std::string_view reference; // in a function: the attribute of the call whose value this is
  std::vector<float> floats;  // one of them for a single value, likewise below
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<Tensor> tensors;
  std::vector<SparseTensor> sparseTensors;
  std::vector<std::shared_ptr<const Graph>> graphs;
  std::vector<ValueType> types;
};

struct Node {
  std::string_view name, op, domain, overload;
  std::vector<std::string_view> inputs, outputs; // empty where an optional one is left out
  std::vector<Attribute> attributes;

  const Attribute *attribute(std::string_view name) const;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<std::pair<std::string_view, SparseTensor>> sparseInitializers;
  std::vector<ValueInfo> inputs, outputs, values;
};

using Opsets = std::map<std::string_view, int64_t>; // versions by domain; "" is ONNX's own

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<std::string_view> attributes; // that a call has to give
  std::vector<Attribute> defaults;          // and those that it may
  std::vector<Node> nodes;
  Opsets opsets;
};

struct Model {
  std::string path;
  int64_t irVersion = 0;
  std::string_view producer, producerVersion;
  Opsets opsets;
  Graph graph;
  std::vector<Function> functions;

  // Whether nothing of the files was cut off while they were read: otherwise there were zeros in its place.
  bool isWhole() const;

  // What views point into.
  std::shared_ptr<const MappedFile> file;
  std::deque<std::vector<std::byte>> unpacked;             // tensors that the file has as lists of numbers
  std::vector<std::shared_ptr<const MappedFile>> external; // files of external data
};

// Files of external data are looked for beside the model and nowhere else.
Result<std::unique_ptr<Model>> readModel(const std::string &path);
// Of bytes that outlive the model; `path` is for messages and external data.
Result<std::unique_ptr<Model>> parseModel(std::span<const std::byte> bytes, std::string path);

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_ONNXMODEL_H
