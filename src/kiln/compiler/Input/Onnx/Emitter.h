// What operators of ONNX are made of: extents that may be unknown until the program runs, elementwise operations with
// broadcasting, tensors whose elements are computed from their indices, reductions, and moving.
#ifndef KILN_COMPILER_INPUT_ONNX_EMITTER_H
#define KILN_COMPILER_INPUT_ONNX_EMITTER_H

#include <optional>
#include <vector>

#include "kiln/compiler/Input/Onnx/OnnxModel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace kiln::onnx {

using Dims = llvm::SmallVector<mlir::OpFoldResult>; // attributes and values of type index

// A tensor of the program. Sequences and optional values of ONNX are known when the model is compiled: a sequence is a
// list of tensors, and an optional value is its content, or nothing.
struct Value {
  enum class Kind { Tensor, Sequence, Nothing };

  DataType type = DataType::Undefined;
  Dims dims;
  mlir::Value tensor; // may be null where `elements` has them
  // Of integer tensors of at most one dimension that have few elements: these, so that shapes that a program computes
  // are extents and not tensors.
  std::optional<Dims> elements = {};
  Kind kind = Kind::Tensor; // of others the element type is undefined, so that operators refuse them
  std::vector<Value> sequence = {};
  // Of large constants of integers below a byte: what is in the file, several of them in each byte along the last
  // dimension. The tensor is made of it.
  mlir::Value packed = {};

  static Value nothing();
  static Value sequenceOf(std::vector<Value> values);
  bool isSequence() const { return kind == Kind::Sequence; }
  // All tensors of it, in order.
  void forEachTensor(llvm::function_ref<void(Value &)> visit);

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

// Scalars of one element type in the body of an operation.
class Scalars {
public:
  Scalars(mlir::OpBuilder &b, mlir::Location loc, bool isUnsigned = false) : b(b), loc(loc), isUnsigned(isUnsigned) {}

  mlir::Value constant(double number, mlir::Type type);
  mlir::Value like(double number, mlir::Value other) { return constant(number, other.getType()); }
  mlir::Value index(int64_t number);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  // Of integers towards zero.
  mlir::Value div(mlir::Value x, mlir::Value y);
  // The remainder with the sign of x, or of y.
  mlir::Value rem(mlir::Value x, mlir::Value y, bool hasSignOfDivisor);
  mlir::Value max(mlir::Value x, mlir::Value y); // NaN where either is
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value neg(mlir::Value x);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value lessOrEqual(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value logicalNot(mlir::Value x);
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value softplus(mlir::Value x);
  mlir::Value gelu(mlir::Value x, bool isTanh);
  mlir::Value toIndex(mlir::Value integer);
  mlir::Value toFloat(mlir::Value indexOrInteger, mlir::Type type);
  // Numbers keep their value as far as the type can hold it; of a float only the part before the point.
  mlir::Value convert(mlir::Value x, bool fromUnsigned, mlir::Type type, bool toUnsigned);
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  bool isUnsigned;
};

class Emitter {
public:
  using Body = llvm::function_ref<mlir::Value(Scalars &, mlir::ValueRange)>;

  explicit Emitter(mlir::MLIRContext *context);

  mlir::OpBuilder b;
  mlir::Location loc; // of the node at hand

  // Why the last thing that failed did.
  std::string reason;
  mlir::LogicalResult refuse(const llvm::Twine &why);

  //===--- Types ---===//
  static bool isUnsigned(DataType type);
  static bool isFloat(DataType type);
  static bool isInteger(DataType type); // not of booleans
  // Null where there is none.
  mlir::Type elementType(DataType type);
  mlir::RankedTensorType tensorType(DataType type, const Dims &dims);

  //===--- Extents ---===//
  mlir::OpFoldResult number(int64_t value);
  static std::optional<int64_t> known(mlir::OpFoldResult extent);
  static bool areKnown(const Dims &dims);
  // Whether that is so whatever the program is called with.
  static bool hasNoElements(const Value &value);
  // Whether both are the same whatever the program is called with.
  static bool same(mlir::OpFoldResult a, mlir::OpFoldResult b);
  // Whether a number is made of extents of tensors so that it is one too, and not negative.
  static bool isExtent(mlir::OpFoldResult number);
  mlir::Value indexOf(mlir::OpFoldResult extent);
  enum class Arithmetic { Add, Sub, Mul, DivTowardsZero, DivUp, Max, Min, Mod };
  mlir::OpFoldResult compute(Arithmetic what, mlir::OpFoldResult a, mlir::OpFoldResult b);
  mlir::OpFoldResult add(mlir::OpFoldResult a, mlir::OpFoldResult b) { return compute(Arithmetic::Add, a, b); }
  mlir::OpFoldResult sub(mlir::OpFoldResult a, mlir::OpFoldResult b) { return compute(Arithmetic::Sub, a, b); }
  mlir::OpFoldResult mul(mlir::OpFoldResult a, mlir::OpFoldResult b) { return compute(Arithmetic::Mul, a, b); }
  mlir::OpFoldResult product(llvm::ArrayRef<mlir::OpFoldResult> extents);
  // `extent` is added where the number is negative.
  mlir::OpFoldResult wrapped(mlir::OpFoldResult number, mlir::OpFoldResult extent);
  mlir::OpFoldResult chosen(mlir::arith::CmpIPredicate predicate, mlir::OpFoldResult a, mlir::OpFoldResult b,
                            mlir::OpFoldResult ifTrue, mlir::OpFoldResult ifFalse);

  //===--- Tensors ---===//
  // Made of its elements where it is not there yet.
  mlir::Value tensorOf(const Value &value);
  Value wrap(mlir::Value tensor, DataType type, Dims dims) { return {type, std::move(dims), tensor}; }
  Value scalars(DataType type, Dims elements, bool isScalar = false);
  // Numbers of operands of at most one dimension, element by element; none where an operand has no such numbers.
  std::optional<Value>
  fold(llvm::ArrayRef<const Value *> operands, DataType type,
       llvm::function_ref<std::optional<mlir::OpFoldResult>(llvm::ArrayRef<mlir::OpFoldResult>)> one);
  // The numbers of a tensor of at most one dimension: read on the host where they are computed. Fails where it has an
  // unknown number of them.
  mlir::FailureOr<Dims> elementsOf(const Value &value);
  Value filled(DataType type, const Dims &dims, mlir::Value scalar);
  mlir::Value constantScalar(double number, DataType type);
  // The least or largest number of a type; an infinity of floats.
  mlir::Value extreme(DataType type, bool isLowest);
  Value empty(DataType type, const Dims &dims);

  // Of operands that are broadcast to each other. What is only known when the program runs is checked then.
  mlir::FailureOr<Dims> broadcast(llvm::ArrayRef<const Value *> operands);
  mlir::FailureOr<Value> elementwise(llvm::ArrayRef<const Value *> operands, DataType type, Body body);
  // Each element from its indices.
  Value generate(DataType type, const Dims &dims, Body body);
  // In a body of `generate`.
  static mlir::Value load(Scalars &s, mlir::Value tensor, mlir::ValueRange indices);
  // Which dimensions are meant by axes that the program may compute: of each dimension 1 or 0.
  Dims flags(llvm::ArrayRef<mlir::OpFoldResult> axes, int64_t rank);
  // The extents of the dimensions whose flag is 0, `count` of them.
  Dims without(const Dims &dims, const Dims &flags, int64_t count);
  // The extents with one of 1 at each flag, of which there are as many as dimensions then.
  Dims withOnes(const Dims &dims, const Dims &flags);
  // Combines the elements along the dimensions that have a flag, with extents of 1 for them.
  Value reduceWhere(const Value &value, const Dims &flags, mlir::Value start, DataType type,
                    llvm::function_ref<mlir::Value(Scalars &, mlir::Value element, mlir::Value soFar)> combine);
  // Combines the elements along axes; `start` is a scalar. The result keeps the axes with an extent of 1 or has none.
  Value reduce(const Value &value, llvm::ArrayRef<int64_t> axes, bool keepsAxes, mlir::Value start, DataType type,
               llvm::function_ref<mlir::Value(Scalars &, mlir::Value element, mlir::Value soFar)> combine);

  mlir::FailureOr<Value> reshape(const Value &value, const Dims &dims);
  Value transpose(const Value &value, llvm::ArrayRef<int64_t> permutation);
  Value slice(const Value &value, const Dims &offsets, const Dims &sizes, const Dims &steps);
  Value pad(const Value &value, const Dims &low, const Dims &high, mlir::Value scalar);
  mlir::FailureOr<Value> expand(const Value &value, const Dims &dims);
  mlir::FailureOr<Value> concat(llvm::ArrayRef<const Value *> values, int64_t axis);
  Value cast(const Value &value, DataType type);
  // The numbers of `bits` bits that bytes hold, the lowest first, as `body` makes an element of each and of those of
  // `others`, which have the same extents as the bytes or 1. Several numbers in a byte are one more dimension.
  Value unpack(const Value &bytes, int64_t bits, DataType type, llvm::ArrayRef<Value> others, Body body);
  // Of one more dimension of extent 1, or one less.
  Value unsqueeze(const Value &value, llvm::ArrayRef<int64_t> axes);

  // [batch..., m, k] x [batch..., k, n], whose batches are broadcast. The sum is added to `start` where there is one.
  mlir::FailureOr<Value> multiply(const Value &lhs, const Value &rhs, DataType type);

  llvm::SmallVector<mlir::utils::IteratorType> loops(int64_t parallel, int64_t reductions = 0);

private:
  void checkBroadcast(mlir::OpFoldResult extent, mlir::OpFoldResult result);
};

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_EMITTER_H
