#include "kiln/compiler/Dialect/Flow/Transforms/DispatchName.h"

#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

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

} // namespace kiln::Flow
