// How operations of StableHLO become those of linalg, tensor, arith, math and scf: what kiln-lower-stablehlo is made
// of.
#ifndef KILN_COMPILER_TRANSFORMS_STABLEHLOLOWERING_H
#define KILN_COMPILER_TRANSFORMS_STABLEHLOLOWERING_H

#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Builders.h"

namespace kiln::StableHLO {

using Values = llvm::SmallVector<mlir::Value>;
using Numbers = llvm::ArrayRef<int64_t>;
using Sizes = llvm::SmallVector<mlir::OpFoldResult>;

inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline int64_t rankOf(mlir::Value value) {
  return tensorType(value).getRank();
}

// Whether each is within the rank, and none is there twice.
bool areDimensions(Numbers dimensions, int64_t rank);

// One operation; the builder is in front of it. What cannot be lowered gets an error at the operation.
class Lowering {
public:
  Lowering(mlir::OpBuilder &b, mlir::Operation *op) : b(b), op(op), loc(op->getLoc()) {}

  // What stands for its results.
  llvm::FailureOr<Values> lower();

private:
  mlir::OpBuilder &b;
  mlir::Operation *op;
  mlir::Location loc;

  llvm::FailureOr<Values> refuse(const llvm::Twine &why);
  static llvm::FailureOr<Values> one(mlir::Value value);

  mlir::RankedTensorType resultType();

  mlir::Value empty(const Sizes &sizes, mlir::Type element);
  mlir::Value zeros(const Sizes &sizes, mlir::Type element);
  Sizes sizesOf(mlir::Value tensor);
  Sizes staticSizes();
  static llvm::SmallVector<mlir::utils::IteratorType> parallelLoops(int64_t count);

  // Each element from its indices.
  mlir::Value generate(const Sizes &sizes, mlir::Type element,
                       llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> compute);

  mlir::Value toIndex(mlir::OpBuilder &inner, mlir::Value number);
  // A start of a slice, moved into the tensor.
  mlir::Value heldInside(mlir::OpBuilder &inner, mlir::Value start, mlir::Value extent, mlir::Value size);

  mlir::Value elementwise();

  llvm::FailureOr<Values> lowerIota(IotaOp iota);

  llvm::FailureOr<Values> lowerReshape(ReshapeOp reshape);

  // Elements of another width have one dimension more, or less, at the end.
  llvm::FailureOr<Values> lowerBitcast(BitcastConvertOp cast);

  // `dimensions` says for each of the tensor's which one of the result it is.
  llvm::FailureOr<Values> broadcastTo(mlir::Value tensor, Numbers dimensions);

  llvm::FailureOr<Values> lowerTranspose(TransposeOp transpose);

  llvm::FailureOr<Values> lowerReverse(ReverseOp reverse);
  mlir::Value reversed(mlir::Value tensor, Numbers dimensions);

  llvm::FailureOr<Values> lowerSlice(SliceOp slice);

  // The tensor with a scalar between its elements and around them; less than none takes elements away.
  llvm::FailureOr<mlir::Value> pad(mlir::Value tensor, mlir::Value scalar, Numbers low, Numbers high, Numbers interior);
  // Of a tensor of rank 0.
  mlir::Value read(mlir::OpBuilder &inner, mlir::Value scalar);
  static mlir::Attribute knownScalar(mlir::Value scalar);

  llvm::FailureOr<Values> lowerPad(PadOp op);

  llvm::FailureOr<Values> lowerConcatenate(ConcatenateOp concatenate);

  // The starts of a slice of these sizes, moved into the tensor. Null where they are not scalars.
  llvm::FailureOr<Sizes> startsOf(mlir::Value tensor, mlir::ValueRange starts, const Sizes &sizes);

  llvm::FailureOr<Values> lowerDynamicSlice(DynamicSliceOp slice);
  static bool areWithin(Numbers sizes, mlir::Value tensor);

  llvm::FailureOr<Values> lowerDynamicUpdateSlice(DynamicUpdateSliceOp update);
  static llvm::SmallVector<int64_t> known(Numbers shape);

  llvm::FailureOr<Values> lowerGather(GatherOp gather);

  llvm::FailureOr<Values> lowerIndexSelect(TorchIndexSelectOp select);

  // A sum of products, in the result's type.
  mlir::Value multiplyAdd(mlir::OpBuilder &inner, mlir::ValueRange elements);
  mlir::Value sumOfProducts(mlir::ValueRange operands, mlir::Value start, llvm::ArrayRef<mlir::AffineMap> maps,
                            llvm::ArrayRef<mlir::utils::IteratorType> loops);
  bool areNumbers(mlir::ValueRange tensors);

  llvm::FailureOr<Values> contract(mlir::Value lhs, mlir::Value rhs, Numbers lhsBatch, Numbers rhsBatch,
                                   Numbers lhsSummed, Numbers rhsSummed);

  static llvm::SmallVector<int64_t> numbersOr(std::optional<llvm::ArrayRef<int64_t>> numbers, size_t count,
                                              int64_t otherwise);
  // What is added before and after each of `count` dimensions.
  static bool readPadding(std::optional<mlir::DenseIntElementsAttr> padding, size_t count,
                          llvm::SmallVectorImpl<int64_t> &low, llvm::SmallVectorImpl<int64_t> &high);

  // Loops: the batch, the places of the result, groups of features and the features of a group, then what is summed:
  // the places of the kernel and its input features. Features of a result that has groups are in two dimensions at
  // first.
  llvm::FailureOr<Values> lowerConvolution(ConvolutionOp convolution);

  // Results that start with the initial values.
  llvm::FailureOr<Values> starts(mlir::ValueRange initial, const Sizes &sizes);

  // `extra` inputs come behind the reduced ones, and have no part in the body.
  llvm::FailureOr<Values> reduce(mlir::ValueRange inputs, mlir::ValueRange extra, mlir::ValueRange starts,
                                 llvm::ArrayRef<mlir::AffineMap> maps, llvm::ArrayRef<mlir::utils::IteratorType> loops,
                                 mlir::Block &body);

  bool areReduced(mlir::ValueRange inputs, mlir::ValueRange initial);

  llvm::FailureOr<Values> lowerReduce(ReduceOp op);

  llvm::FailureOr<Values> lowerReduceWindow(ReduceWindowOp op);

  llvm::FailureOr<Values> lowerSort(SortOp sort);

  // What the regions hold has been lowered.
  llvm::FailureOr<Values> lowerWhile(WhileOp loop);
};

} // namespace kiln::StableHLO

#endif // KILN_COMPILER_TRANSFORMS_STABLEHLOLOWERING_H
