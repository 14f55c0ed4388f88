#include "kiln/compiler/Pipeline/Fingerprint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace kiln {

namespace {

// A single operation of a family has less than ten; what has many more is a whole model.
constexpr size_t kMostOps = 64;
// Expressions that are looked at; the depth of recursion is less.
constexpr size_t kMostExpressions = 4000;
// All orders of so many reduction loops are tried.
constexpr size_t kMostReductions = 4;

template <typename T> std::string textOf(const T &printable) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << printable;
  return text;
}

// The parts are told apart by their lengths.
std::string digest(ArrayRef<std::string> parts) {
  std::string text;
  for (const std::string &part : parts)
    text += llvm::formatv("{0}:{1};", part.size(), part).str();
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) + llvm::utohexstr(hash.low64, /*LowerCase=*/true, 16);
}

// Evaluates elements of tensors symbolically: each is a digest of the expression that computes it from elements of the
// function's arguments, at indices that are affine in the loops around it.
class Evaluator {
public:
  explicit Evaluator(MLIRContext *context) : context(context) {}

  // Of a tensor at these indices, within so many loops: d0, d1, ... Those of the result come first.
  FailureOr<std::string> element(Value tensor, ArrayRef<AffineExpr> indices, unsigned depth);

private:
  // The body of a linalg op at one point of its loops.
  struct Point {
    Point(linalg::LinalgOp op, size_t loops, ArrayRef<AffineExpr> at, unsigned depth)
        : op(op), loops(loops), at(at), depth(depth) {}
    linalg::LinalgOp op;
    SmallVector<AffineExpr> loops;            // what each loop is at this point
    ArrayRef<AffineExpr> at;                  // the element of the result
    unsigned depth;                           // loops in use
    llvm::DenseMap<Value, std::string> known; // values of the body
  };

  FailureOr<std::string> remembered(const std::string &key, function_ref<FailureOr<std::string>()> make);
  FailureOr<std::string> compute(Value tensor, ArrayRef<AffineExpr> indices, unsigned depth);
  FailureOr<std::string> linalgElement(linalg::LinalgOp op, OpResult result, ArrayRef<AffineExpr> indices,
                                       unsigned depth);
  FailureOr<std::string> padElement(tensor::PadOp op, ArrayRef<AffineExpr> indices, unsigned depth);
  FailureOr<std::string> expandedElement(tensor::ExpandShapeOp op, ArrayRef<AffineExpr> indices, unsigned depth);
  FailureOr<std::string> collapsedElement(tensor::CollapseShapeOp op, ArrayRef<AffineExpr> indices, unsigned depth);
  FailureOr<std::string> operandElement(BlockArgument argument, Point &point);
  FailureOr<std::string> scalar(Value value, Point &point);
  FailureOr<std::string> operation(Operation *op, unsigned result, Point &point);

  AffineExpr constant(int64_t value) const { return getAffineConstantExpr(value, context); }

  MLIRContext *context;
  size_t count = 0;
  llvm::StringMap<std::string> memory;
};

std::string constantDigest(Attribute value) {
  return digest({"constant", textOf(value)});
}

FailureOr<std::string> Evaluator::remembered(const std::string &key, function_ref<FailureOr<std::string>()> make) {
  if (auto found = memory.find(key); found != memory.end())
    return found->second;
  if (++count > kMostExpressions)
    return failure();
  FailureOr<std::string> made = make();
  if (succeeded(made))
    memory[key] = *made;
  return made;
}

FailureOr<std::string> Evaluator::element(Value tensor, ArrayRef<AffineExpr> indices, unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape())
    return failure();
  // Along an extent of 1 there is one index, however it is written.
  SmallVector<AffineExpr> simple;
  std::string key = llvm::formatv("{0} {1}", tensor.getAsOpaquePointer(), depth);
  for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
    simple.push_back(extent == 1 ? constant(0) : simplifyAffineExpr(index, depth, 0));
    key += " " + textOf(simple.back());
  }
  return remembered(key, [&] { return compute(tensor, simple, depth); });
}

FailureOr<std::string> Evaluator::compute(Value tensor, ArrayRef<AffineExpr> indices, unsigned depth) {
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    std::vector<std::string> parts = {"argument", std::to_string(argument.getArgNumber())};
    for (AffineExpr index : indices)
      parts.push_back(textOf(index));
    return digest(parts);
  }
  if (DenseElementsAttr constants; matchPattern(tensor, m_Constant(&constants))) {
    if (!constants.isSplat())
      return failure();
    return constantDigest(constants.getSplatValue<Attribute>());
  }
  Operation *op = tensor.getDefiningOp();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgElement(linalgOp, cast<OpResult>(tensor), indices, depth);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return padElement(pad, indices, depth);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expandedElement(expand, indices, depth);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapsedElement(collapse, indices, depth);
  return failure();
}

//===--- Linalg ---------------------------------------------------------------------------------------------------===//

FailureOr<std::string> Evaluator::linalgElement(linalg::LinalgOp op, OpResult result, ArrayRef<AffineExpr> indices,
                                                unsigned depth) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (llvm::any_of(extents, ShapedType::isDynamic) || !op.hasPureTensorSemantics())
    return failure();
  OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
  AffineMap map = op.getMatchingIndexingMap(init);
  Point point(op, extents.size(), indices, depth);
  for (auto [expression, index] : llvm::zip_equal(map.getResults(), indices)) {
    auto loop = dyn_cast<AffineDimExpr>(expression);
    if (!loop || point.loops[loop.getPosition()] || kinds[loop.getPosition()] != utils::IteratorType::parallel)
      return failure();
    point.loops[loop.getPosition()] = index;
  }
  SmallVector<unsigned> reductions;
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    if (extents[loop] == 1)
      point.loops[loop] = constant(0);
    if (!point.loops[loop] && kinds[loop] == utils::IteratorType::parallel)
      return failure(); // of one element several values
    if (!point.loops[loop])
      reductions.push_back(loop);
  }
  Value yielded = op.getBlock()->getTerminator()->getOperand(result.getResultNumber());
  if (op.getNumReductionLoops() == 0)
    return scalar(yielded, point);
  if (op.getNumDpsInits() != 1 || reductions.size() > kMostReductions)
    return failure();

  FailureOr<std::string> start = element(init->get(), indices, depth);
  if (failed(start))
    return failure();
  point.depth = depth + reductions.size();
  // The order of the loops is no part of it: that with the smallest digest stands for all.
  std::optional<std::string> smallest;
  std::sort(reductions.begin(), reductions.end());
  do {
    std::vector<std::string> parts = {"reduction", *start};
    for (auto [i, loop] : llvm::enumerate(reductions)) {
      point.loops[loop] = getAffineDimExpr(depth + i, context);
      parts.push_back(std::to_string(extents[loop]));
    }
    point.known.clear();
    FailureOr<std::string> body = scalar(yielded, point);
    if (failed(body))
      return failure();
    parts.push_back(*body);
    std::string one = digest(parts);
    smallest = smallest ? std::min(*smallest, one) : one;
  } while (std::next_permutation(reductions.begin(), reductions.end()));
  return *smallest;
}

FailureOr<std::string> Evaluator::operandElement(BlockArgument argument, Point &point) {
  OpOperand *operand = point.op.getMatchingOpOperand(argument);
  if (point.op.isDpsInit(operand)) {
    if (point.op.getNumReductionLoops() > 0) // the depth tells this reduction from those around it
      return digest({"carried", std::to_string(point.depth)});
    return element(operand->get(), point.at, point.depth);
  }
  if (!isa<ShapedType>(operand->get().getType()))
    return scalar(operand->get(), point);
  SmallVector<AffineExpr> indices;
  for (AffineExpr index : point.op.getMatchingIndexingMap(operand).getResults())
    indices.push_back(index.replaceDims(point.loops));
  return element(operand->get(), indices, point.depth);
}

//===--- Scalars --------------------------------------------------------------------------------------------------===//

FailureOr<std::string> Evaluator::scalar(Value value, Point &point) {
  if (auto found = point.known.find(value); found != point.known.end())
    return found->second;
  if (++count > kMostExpressions)
    return failure();
  auto argument = dyn_cast<BlockArgument>(value);
  FailureOr<std::string> made = failure();
  if (!argument)
    made = operation(value.getDefiningOp(), cast<OpResult>(value).getResultNumber(), point);
  else if (argument.getOwner() == point.op.getBlock())
    made = operandElement(argument, point);
  if (succeeded(made))
    point.known[value] = *made;
  return made;
}

// Of the result of an op.
std::string operationDigest(StringRef name, DictionaryAttr attributes, Type type, unsigned result,
                            ArrayRef<std::string> operands) {
  std::vector<std::string> parts = {"op", name.str(), textOf(attributes), std::to_string(result), textOf(type)};
  llvm::append_range(parts, operands);
  return digest(parts);
}

// Of arith.maximumf, where the operands of a select say x > 0 ? x : 0, also for NaN: both give the same bits.
std::optional<std::string> reluDigest(Type type, std::vector<std::string> operands) {
  if (!isa<FloatType>(type) || operands[2] != constantDigest(FloatAttr::get(type, 0.0)))
    return std::nullopt;
  MLIRContext *context = type.getContext();
  NamedAttribute fastmath(StringAttr::get(context, "fastmath"),
                          arith::FastMathFlagsAttr::get(context, arith::FastMathFlags::none));
  NamedAttribute predicate(StringAttr::get(context, "predicate"),
                           arith::CmpFPredicateAttr::get(context, arith::CmpFPredicate::UGT));
  std::string condition = std::move(operands.front());
  operands.erase(operands.begin());
  if (condition != operationDigest(arith::CmpFOp::getOperationName(),
                                   DictionaryAttr::get(context, {fastmath, predicate}), IntegerType::get(context, 1), 0,
                                   operands))
    return std::nullopt;
  llvm::sort(operands);
  return operationDigest(arith::MaximumFOp::getOperationName(), DictionaryAttr::get(context, {fastmath}), type, 0,
                         operands);
}

FailureOr<std::string> Evaluator::operation(Operation *op, unsigned result, Point &point) {
  if (Attribute value; matchPattern(op, m_Constant(&value)))
    return constantDigest(value);
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return digest({"index", textOf(simplifyAffineExpr(point.loops[index.getDim()], point.depth, 0))});
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>))
    return failure();
  std::vector<std::string> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<std::string> one = scalar(operand, point);
    if (failed(one))
      return failure();
    operands.push_back(*one);
  }
  Type type = op->getResult(result).getType();
  if (isa<arith::SelectOp>(op))
    if (std::optional<std::string> relu = reluDigest(type, operands))
      return *relu;
  if (op->hasTrait<OpTrait::IsCommutative>())
    llvm::sort(operands);
  return operationDigest(op->getName().getStringRef(), op->getAttrDictionary(), type, result, operands);
}

//===--- Shapes ---------------------------------------------------------------------------------------------------===//

FailureOr<std::string> Evaluator::padElement(tensor::PadOp op, ArrayRef<AffineExpr> indices, unsigned depth) {
  Value value = op.getConstantPaddingValue();
  Attribute edge;
  if (!value || !matchPattern(value, m_Constant(&edge)) || !op.getLow().empty() || !op.getHigh().empty())
    return failure();
  SmallVector<AffineExpr> inside;
  std::vector<std::string> parts = {"pad", constantDigest(edge), textOf(op.getSourceType())};
  for (auto [index, low] : llvm::zip_equal(indices, op.getStaticLow())) {
    inside.push_back(index - low);
    parts.push_back(textOf(index) + " from " + std::to_string(low));
  }
  FailureOr<std::string> source = element(op.getSource(), inside, depth);
  if (failed(source))
    return failure();
  parts.push_back(*source);
  return digest(parts);
}

FailureOr<std::string> Evaluator::expandedElement(tensor::ExpandShapeOp op, ArrayRef<AffineExpr> indices,
                                                  unsigned depth) {
  SmallVector<AffineExpr> from;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    AffineExpr index = constant(0);
    for (int64_t dim : group)
      index = index * op.getResultType().getDimSize(dim) + indices[dim];
    from.push_back(index);
  }
  return element(op.getSrc(), from, depth);
}

FailureOr<std::string> Evaluator::collapsedElement(tensor::CollapseShapeOp op, ArrayRef<AffineExpr> indices,
                                                   unsigned depth) {
  SmallVector<AffineExpr> from(op.getSrcType().getRank());
  for (auto [index, group] : llvm::zip_equal(indices, op.getReassociationIndices())) {
    AffineExpr rest = index;
    for (int64_t dim : llvm::reverse(group)) {
      int64_t extent = op.getSrcType().getDimSize(dim);
      from[dim] = dim == group.front() ? rest : rest % extent;
      rest = rest.floorDiv(extent);
    }
  }
  return element(op.getSrc(), from, depth);
}

} // namespace

std::optional<std::string> fingerprint(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return std::nullopt;
  Block &block = function.front();
  if (block.getOperations().size() > kMostOps)
    return std::nullopt;
  for (Operation &op : block.without_terminator())
    if (!isMemoryEffectFree(&op))
      return std::nullopt;
  std::vector<std::string> parts = {"function", textOf(function.getFunctionType())};
  Evaluator evaluator(function.getContext());
  for (Value result : block.getTerminator()->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return std::nullopt;
    SmallVector<AffineExpr> indices;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      indices.push_back(getAffineDimExpr(dim, function.getContext()));
    FailureOr<std::string> element = evaluator.element(result, indices, indices.size());
    if (failed(element))
      return std::nullopt;
    parts.push_back(*element);
  }
  return digest(parts);
}

std::optional<std::string> narrowestFloat(func::FuncOp function) {
  FloatType narrowest;
  function.walk([&](Operation *op) {
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || isa<arith::ConstantOp>(op))
      return;
    for (Type type : op->getResultTypes())
      if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
          element && (!narrowest || element.getFPMantissaWidth() < narrowest.getFPMantissaWidth()))
        narrowest = element;
  });
  return narrowest ? std::optional<std::string>(textOf(narrowest)) : std::nullopt;
}

} // namespace kiln
