#include "kiln/compiler/Dialect/Flow/Transforms/DescribeDispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::Flow {

// Loops of a reduction weigh more than any number of parallel ones; fills and empties nothing.
static int weight(Operation &op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return isa<linalg::FillOp>(op) ? 1 : linalgOp.getNumReductionLoops() > 0 ? 3 : 2;
  return isa<tensor::EmptyOp>(op) || op.hasTrait<OpTrait::ConstantLike>() || isa<ReturnOp>(op) ? 0 : 2;
}

static void appendExtents(std::string &text, ArrayRef<int64_t> extents) {
  bool first = true;
  for (int64_t extent : extents) {
    text += first ? "_" : "x";
    text += ShapedType::isDynamic(extent) ? "D" : std::to_string(extent);
    first = false;
  }
}

static void appendTypes(std::string &text, ArrayRef<Type> types) {
  SmallVector<std::string> names;
  for (Type type : types) {
    std::string name;
    llvm::raw_string_ostream(name) << getElementTypeOrSelf(type);
    names.push_back(name);
  }
  text += "_";
  if (llvm::all_equal(names))
    text += names.front();
  else
    text += llvm::join(names, "x");
}

static std::string describeLinalg(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  std::string text;
  FailureOr<linalg::ContractionDimensions> contraction = linalg::inferContractionDims(op);
  bool isContraction = linalg::isaContractionOpInterface(op) && succeeded(contraction);
  if (isContraction) {
    // Batch, m, n, k, whatever the order of the loops.
    SmallVector<int64_t> ordered;
    for (const auto &group : {contraction->batch, contraction->m, contraction->n, contraction->k})
      for (unsigned loop : group)
        ordered.push_back(extents[loop]);
    extents = ordered;
  }
  if (!isa<linalg::GenericOp>(op))
    text = op->getName().stripDialect().str();
  else if (isContraction)
    text = contraction->batch.empty() ? "matmul_like" : "batch_matmul_like";
  else
    text = op.getNumReductionLoops() > 0 ? "reduction" : "elementwise";
  llvm::replace(text, '.', '_');
  appendExtents(text, extents);
  SmallVector<Type> types;
  if (isContraction)
    llvm::append_range(types, ValueRange(op.getDpsInputs()).getTypes());
  else if (op.getNumDpsInputs() > 0)
    types.push_back(op.getDpsInputs().front().getType());
  types.push_back(op.getDpsInits().front().getType());
  appendTypes(text, types);
  return text;
}

std::string describeDispatch(DispatchRegionOp region) {
  Operation *root = nullptr;
  for (Operation &op : region.getBody().front())
    if (!root || weight(op) > weight(*root))
      root = &op;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(root))
    return describeLinalg(linalgOp);
  std::string text = root->getName().stripDialect().str();
  llvm::replace(text, '.', '_');
  if (root->getNumResults() > 0) {
    auto type = cast<ShapedType>(root->getResult(0).getType());
    appendExtents(text, type.getShape());
    appendTypes(text, {type});
  }
  return text;
}

// Of one turn of an operation's loops.
static int64_t operationsIn(Block &body) {
  int64_t count = 0;
  body.walk([&](Operation *op) {
    const bool isArithmetic =
        isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !op->hasTrait<OpTrait::ConstantLike>() &&
        !isa<CastOpInterface, arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::IndexCastOp>(op);
    count += isArithmetic && !op->getResult(0).getType().isIndex();
  });
  return count;
}

// How many elements of a tensor an operation of a dispatch reads at most. Of what is picked from, no more than there
// are bytes of results.
static int64_t elementsRead(OpOperand &use, int64_t resultBytes) {
  Operation *op = use.getOwner();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op); insert && &use == &insert.getDestMutable())
    return 0;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getType().hasStaticShape() ? slice.getType().getNumElements() : INT64_MAX;
  if (isa<tensor::ExtractOp>(op))
    return resultBytes;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return INT64_MAX;
  AffineMap map = linalgOp.getMatchingIndexingMap(&use);
  int64_t count = 1;
  for (auto [loop, extent] : llvm::enumerate(linalgOp.getStaticLoopRanges()))
    if (map.isFunctionOfDim(loop) && (ShapedType::isDynamic(extent) || llvm::MulOverflow(count, extent, count)))
      return INT64_MAX;
  return count;
}

DictionaryAttr describeWork(DispatchRegionOp region, ValueRange operands) {
  int64_t operations = 0, bytes = 0, most = -1;
  Type element; // of what most of the arithmetic reads
  bool isKnown = true;
  region->walk([&](linalg::LinalgOp op) {
    int64_t turns = 1;
    for (int64_t extent : op.getStaticLoopRanges()) {
      isKnown &= ShapedType::isStatic(extent);
      turns *= ShapedType::isStatic(extent) ? extent : 0;
    }
    const int64_t own = turns * operationsIn(op->getRegion(0).front());
    operations += own;
    if (own > most && op->getNumOperands() > 0) {
      most = own;
      element = getElementTypeOrSelf(op->getOperand(0).getType());
    }
  });
  // Kernels have a byte for each element of fewer bits.
  auto bytesOf = [&](Type type, int64_t most) -> int64_t {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return 0;
    isKnown &= tensor.hasStaticShape();
    return isKnown && tensor.getElementType().isIntOrFloat()
               ? std::min(tensor.getNumElements(), most) * int64_t(llvm::divideCeil(tensor.getElementTypeBitWidth(), 8))
               : 0;
  };
  // Of what is updated, the part that is inserted.
  int64_t results = 0;
  for (Value result : region.getBody().front().getTerminator()->getOperands()) {
    auto insert = result.getDefiningOp<tensor::InsertSliceOp>();
    const int64_t written = bytesOf(insert ? insert.getSource().getType() : result.getType(), INT64_MAX);
    bytes += written;
    results = std::max(results, written);
  }
  llvm::SmallDenseMap<Value, int64_t> read; // elements
  region.getBody().walk([&](Operation *op) {
    for (OpOperand &use : op->getOpOperands()) {
      int64_t &most = read[use.get()];
      most = std::max(most, elementsRead(use, results));
    }
  });
  for (Value operand : operands)
    bytes += bytesOf(operand.getType(), read.lookup(operand));
  Builder b(region.getContext());
  if (!isKnown)
    return b.getDictionaryAttr({});
  NamedAttrList work;
  work.append("bytes", b.getI64IntegerAttr(bytes));
  work.append("operations", b.getI64IntegerAttr(operations));
  if (element)
    work.append("element", TypeAttr::get(element));
  return work.getDictionary(region.getContext());
}

static void collectNodes(Location loc, llvm::SetVector<StringAttr> &names) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location each : fused.getLocations())
      collectNodes(each, names);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    names.insert(name.getName());
  }
}

SmallVector<StringAttr> nodesOf(DispatchRegionOp region) {
  llvm::SetVector<StringAttr> names;
  region->walk([&](Operation *op) {
    // What others start from has the place of whoever made it first.
    const bool isWork = op != region && op->getNumResults() > 0 && !op->hasTrait<OpTrait::ConstantLike>() &&
                        !isa<tensor::EmptyOp, tensor::DimOp, linalg::FillOp>(op);
    if (isWork && op->getParentOp() == region)
      collectNodes(op->getLoc(), names);
  });
  return names.takeVector();
}

} // namespace kiln::Flow
