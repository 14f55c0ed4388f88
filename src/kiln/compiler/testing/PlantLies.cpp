#include "kiln/compiler/testing/Testing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PLANTLIESPASS
#include "kiln/compiler/testing/TestingPasses.h.inc"

namespace {
// Why a lie cannot be told of a program; empty: it was told.
using Refusal = std::string;

constexpr int64_t kTile = 8;
// Two elements of a smaller tile, or none, would be elsewhere: that is a few wrong elements.
constexpr int64_t kSmallestTile = 3;
constexpr int64_t kVector = 16;

// So much is left of `extent` where its tail is dropped: whole vectors, or one less of them.
int64_t withoutTail(int64_t extent) {
  int64_t tail = extent % kVector == 0 ? std::min(kVector, extent / 2) : extent % kVector;
  return extent == tail ? extent - 1 : extent - tail;
}

// What a value is made of, seen through ops that only say where its elements lie.
Value sourceOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp, tensor::PadOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

// A function with one result, and what can go wrong with it. Each lie is refused before anything is changed.
class Planter {
public:
  Planter(IRRewriter &rewriter, func::FuncOp function)
      : rewriter(rewriter), function(function), loc(function.getLoc()),
        ret(cast<func::ReturnOp>(function.front().getTerminator())),
        type(cast<RankedTensorType>(ret.getOperand(0).getType())) {
    function.walk([&](linalg::GenericOp op) {
      generics.push_back(op);
      if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
        return;
      (op.getNumDpsInputs() >= 2 ? contractions : isSum(op) ? sums : extrema).push_back(op);
    });
    loc = ret.getOperand(0).getLoc();
  }

  Refusal wrongElement();
  Refusal nan();
  Refusal transposedTile();
  Refusal droppedTail();
  Refusal notZeroed();
  Refusal bf16Inputs() { return narrowInputs(rewriter.getBF16Type()); }
  Refusal tf32Inputs() { return narrowInputs(rewriter.getTF32Type()); }
  Refusal f16Accumulator() { return narrowSums(rewriter.getF16Type()); }
  Refusal bf16Accumulator() { return narrowSums(rewriter.getBF16Type()); }
  Refusal swappedLayout();
  Refusal nothingWritten();

private:
  static bool isSum(linalg::GenericOp op) {
    Operation *last = op.getRegion().front().getTerminator()->getOperand(0).getDefiningOp();
    return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(last);
  }

  Value constantLike(Value like, double value) {
    return arith::ConstantOp::create(rewriter, loc,
                                     isa<FloatType>(like.getType())
                                         ? TypedAttr(rewriter.getFloatAttr(like.getType(), value))
                                         : TypedAttr(rewriter.getIntegerAttr(like.getType(), int64_t(value))));
  }
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(rewriter, loc, condition, ifTrue, ifFalse);
  }
  Value add(Value a, Value b) {
    return isa<FloatType>(a.getType()) ? arith::AddFOp::create(rewriter, loc, a, b).getResult()
                                       : arith::AddIOp::create(rewriter, loc, a, b).getResult();
  }
  // -1 - value: another number whatever the value is, but for -0.5.
  Value another(Value value) {
    Value minusOne = constantLike(value, -1);
    return isa<FloatType>(value.getType()) ? arith::SubFOp::create(rewriter, loc, minusOne, value).getResult()
                                           : arith::SubIOp::create(rewriter, loc, minusOne, value).getResult();
  }
  Value compare(arith::CmpIPredicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(rewriter, loc, predicate, a, arith::ConstantIndexOp::create(rewriter, loc, b));
  }
  Value both(Value a, Value b) { return arith::AndIOp::create(rewriter, loc, a, b); }
  // The last element: where masks and tails go wrong.
  Value isLast(ValueRange at) {
    Value all = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
    for (auto [index, extent] : llvm::zip(at, type.getShape()))
      all = both(all, compare(arith::CmpIPredicate::eq, index, extent - 1));
    return all;
  }
  Value empty(RankedTensorType of) {
    return tensor::EmptyOp::create(rewriter, loc, of.getShape(), of.getElementType());
  }

  void changeResult(function_ref<Value(Value value, Value before, ValueRange at)> change);
  void readTransposed(Value argument, std::pair<int64_t, int64_t> dims);
  std::pair<int64_t, int64_t> tileDims();
  std::optional<unsigned> longestReduction(linalg::GenericOp op);
  void shorten(linalg::GenericOp op, unsigned loop, int64_t kept);
  Value rounded(Value value, FloatType to);
  Refusal narrowInputs(FloatType to);
  Refusal narrowSums(FloatType to);

  IRRewriter &rewriter;
  func::FuncOp function;
  Location loc;
  func::ReturnOp ret;
  RankedTensorType type;
  // Reductions of several inputs; of one, to its sum; and to something else.
  SmallVector<linalg::GenericOp> generics, contractions, sums, extrema;
};

//===--- The result -----------------------------------------------------------------------------------------------===//

// Rewrites the finished result element by element. `before` is what the output held.
void Planter::changeResult(function_ref<Value(Value value, Value before, ValueRange at)> change) {
  rewriter.setInsertionPoint(ret);
  AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto changed =
      linalg::GenericOp::create(rewriter, loc, type, ret.getOperand(0), empty(type), {map, map}, loops,
                                [&](OpBuilder &builder, Location, ValueRange arguments) {
                                  OpBuilder::InsertionGuard guard(rewriter);
                                  rewriter.setInsertionPointToEnd(builder.getInsertionBlock());
                                  SmallVector<Value> at;
                                  for (int64_t dim = 0; dim < type.getRank(); ++dim)
                                    at.push_back(linalg::IndexOp::create(rewriter, loc, dim));
                                  linalg::YieldOp::create(rewriter, loc, change(arguments[0], arguments[1], at));
                                });
  ret.setOperand(0, changed.getResult(0));
}

Refusal Planter::wrongElement() {
  changeResult([&](Value value, Value, ValueRange at) { return select(isLast(at), another(value), value); });
  return {};
}

Refusal Planter::nan() {
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return "its result is of integers, which are all numbers";
  TypedAttr nan = rewriter.getFloatAttr(element, APFloat::getNaN(element.getFloatSemantics()));
  changeResult([&](Value value, Value, ValueRange at) {
    return select(isLast(at), arith::ConstantOp::create(rewriter, loc, nan), value);
  });
  return {};
}

Refusal Planter::nothingWritten() {
  rewriter.setInsertionPoint(ret);
  ret.setOperand(0, empty(type));
  return {};
}

// A sum starts from what the output held, where it is kept there; elsewhere the result is added to that.
Refusal Planter::notZeroed() {
  auto op = sourceOf(ret.getOperand(0)).getDefiningOp<linalg::GenericOp>();
  if (op && op.getNumReductionLoops() > 0 && op.getDpsInits()[0].getDefiningOp<linalg::FillOp>()) {
    rewriter.setInsertionPoint(op);
    op.getDpsInitsMutable()[0].set(empty(cast<RankedTensorType>(op.getResult(0).getType())));
    return {};
  }
  changeResult([&](Value value, Value before, ValueRange) { return add(value, before); });
  return {};
}

// Along which dimensions of the result the tiles of its kernel lie: the last one, and that of the filters where a
// convolution's result has it in another place.
std::pair<int64_t, int64_t> Planter::tileDims() {
  int64_t rank = type.getRank();
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(contractions.back());
  if (failed(dims) || rank != 4)
    return {rank - 2, rank - 1};
  ArrayRef<unsigned> filters = dims->outputChannel.empty() ? dims->depth : dims->outputChannel;
  AffineMap map = contractions.back().getIndexingMapsArray().back();
  bool last = !filters.empty() && map.getResults().back() == rewriter.getAffineDimExpr(filters.back());
  return {last ? rank - 2 : 1, rank - 1};
}

// The first tile of the result, where its last dimensions begin.
Refusal Planter::transposedTile() {
  if (contractions.empty())
    return "it has no product or convolution, and so no tiles";
  if (type.getRank() < 2)
    return "its result has less than two dimensions";
  auto [rows, columns] = tileDims();
  int64_t tile = std::min({kTile, type.getDimSize(rows), type.getDimSize(columns)});
  if (tile < kSmallestTile)
    return llvm::formatv("its result has tiles of {0}x{0} only", tile);
  Value whole = ret.getOperand(0);
  changeResult([&, rows = rows, columns = columns](Value value, Value, ValueRange at) -> Value {
    Value inside = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      inside = both(inside, compare(arith::CmpIPredicate::ult, at[dim], dim == rows || dim == columns ? tile : 1));
    SmallVector<Value> from(at);
    from[rows] = select(inside, at[columns], at[rows]);
    from[columns] = select(inside, at[rows], at[columns]);
    return tensor::ExtractOp::create(rewriter, loc, whole, from);
  });
  return {};
}

//===--- Reductions -----------------------------------------------------------------------------------------------===//

// The loop that the tail is dropped of: of a convolution that over channels, where it has one, otherwise one over its
// filter.
std::optional<unsigned> Planter::longestReduction(linalg::GenericOp op) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto isPlain = [&](unsigned loop) {
    return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      return llvm::is_contained(op.getMatchingIndexingMap(input).getResults(), rewriter.getAffineDimExpr(loop));
    });
  };
  std::optional<unsigned> found;
  for (unsigned loop : loops)
    if (!ShapedType::isDynamic(extents[loop]) && extents[loop] >= 2 && (!found || !isPlain(*found)))
      found = loop;
  return found;
}

// An input that a loop indexes together with another one may keep what is not read any more.
void Planter::shorten(linalg::GenericOp op, unsigned loop, int64_t kept) {
  rewriter.setInsertionPoint(op);
  for (OpOperand *input : op.getDpsInputOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(input).getResults())) {
      if (expr != rewriter.getAffineDimExpr(loop))
        continue;
      auto whole = cast<RankedTensorType>(input->get().getType());
      SmallVector<OpFoldResult> offsets(whole.getRank(), rewriter.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(whole.getRank(), rewriter.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(rewriter.getContext(), whole.getShape());
      sizes[dim] = rewriter.getIndexAttr(kept);
      input->set(tensor::ExtractSliceOp::create(rewriter, loc, input->get(), offsets, sizes, strides));
    }
}

// The last reduction of the program stops before its end; without any, the last columns are not written.
Refusal Planter::droppedTail() {
  ArrayRef<linalg::GenericOp> ops = !contractions.empty() ? contractions : !sums.empty() ? sums : extrema;
  for (linalg::GenericOp op : llvm::reverse(ops))
    if (std::optional<unsigned> loop = longestReduction(op)) {
      shorten(op, *loop, withoutTail(op.getStaticLoopRanges()[*loop]));
      return {};
    }
  if (type.getRank() == 0 || type.getShape().back() < 2)
    return "nothing in it is long enough to have a tail";
  int64_t kept = withoutTail(type.getShape().back());
  changeResult([&](Value value, Value before, ValueRange at) {
    return select(compare(arith::CmpIPredicate::ult, at.back(), kept), value, before);
  });
  return {};
}

// The value with the precision of a narrower type. tf32 keeps 10 bits of the fraction: the other 13 are rounded away.
Value Planter::rounded(Value value, FloatType to) {
  auto from = cast<FloatType>(value.getType());
  rewriter.setInsertionPointAfterValue(value);
  SmallPtrSet<Operation *, 4> own;
  Value now = value;
  auto step = [&]<typename Op>(Type type) {
    Operation *op = Op::create(rewriter, loc, type, now);
    own.insert(op);
    now = op->getResult(0);
  };
  if (from.getWidth() < 32)
    step.operator()<arith::ExtFOp>(rewriter.getF32Type());
  auto wide = cast<FloatType>(now.getType());
  if (to.isTF32()) {
    step.operator()<arith::BitcastOp>(rewriter.getI32Type());
    Value half = arith::ConstantIntOp::create(rewriter, loc, now.getType(), 0x1000);
    Value mask = arith::ConstantIntOp::create(rewriter, loc, now.getType(), ~int64_t(0x1FFF));
    now = arith::AndIOp::create(rewriter, loc, arith::AddIOp::create(rewriter, loc, now, half), mask);
    step.operator()<arith::BitcastOp>(wide);
  } else {
    step.operator()<arith::TruncFOp>(to);
    step.operator()<arith::ExtFOp>(wide);
  }
  if (from != wide)
    step.operator()<arith::TruncFOp>(from);
  rewriter.replaceAllUsesExcept(value, now, own);
  return now;
}

// Rounds what contractions read; without any, each argument of the function wherever it is read.
Refusal Planter::narrowInputs(FloatType to) {
  SmallVector<Value> values;
  for (linalg::GenericOp op : contractions.empty() ? generics : contractions)
    for (OpOperand *input : op.getDpsInputOperands())
      if (!contractions.empty() || isa<BlockArgument>(sourceOf(input->get())))
        values.push_back(op.getMatchingBlockArgument(input));
  // f16 has the precision of tf32.
  unsigned precision = to.isTF32() ? 11 : to.getFPMantissaWidth();
  for (Value value : values) {
    auto from = dyn_cast<FloatType>(value.getType());
    if (!from)
      return "its inputs are integers";
    if (from.getFPMantissaWidth() <= precision || (to.isTF32() && !from.isF32()))
      return llvm::formatv("its inputs are of type {0}, which has no more precision", from);
  }
  if (values.empty())
    return "it has no inputs";
  for (Value value : values)
    rounded(value, to);
  return {};
}

// Rounds what goes on to the next step of each sum.
Refusal Planter::narrowSums(FloatType to) {
  ArrayRef<linalg::GenericOp> ops = contractions.empty() ? sums : contractions;
  if (ops.empty())
    return "it has no sums";
  for (linalg::GenericOp op : ops) {
    auto from = dyn_cast<FloatType>(op.getRegionOutputArgs()[0].getType());
    if (!from)
      return "its sums are of integers";
    if (from.getFPMantissaWidth() <= to.getFPMantissaWidth())
      return llvm::formatv("its sums are kept in {0}, which has no more precision", from);
  }
  for (linalg::GenericOp op : ops)
    rounded(op.getRegion().front().getTerminator()->getOperand(0), to);
  return {};
}

//===--- Layouts --------------------------------------------------------------------------------------------------===//

// Dimensions that may be taken for each other: of the same extent, as far inside as there are any.
std::optional<std::pair<int64_t, int64_t>> equalDims(RankedTensorType type) {
  for (int64_t b = type.getRank() - 1; b > 0; --b)
    for (int64_t a = b - 1; a >= 0; --a)
      if (type.getDimSize(a) == type.getDimSize(b) && type.getDimSize(a) > 1)
        return std::pair(a, b);
  return std::nullopt;
}

AffineMap withSwapped(AffineMap map, std::pair<int64_t, int64_t> dims) {
  SmallVector<AffineExpr> exprs(map.getResults());
  std::swap(exprs[dims.first], exprs[dims.second]);
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), exprs, map.getContext());
}

void Planter::readTransposed(Value argument, std::pair<int64_t, int64_t> dims) {
  rewriter.setInsertionPointToStart(&function.front());
  auto whole = cast<RankedTensorType>(argument.getType());
  AffineMap map = rewriter.getMultiDimIdentityMap(whole.getRank());
  SmallVector<utils::IteratorType> loops(whole.getRank(), utils::IteratorType::parallel);
  auto swapped = linalg::GenericOp::create(rewriter, loc, whole, argument, empty(whole), {withSwapped(map, dims), map},
                                           loops, [](OpBuilder &builder, Location at, ValueRange arguments) {
                                             linalg::YieldOp::create(builder, at, arguments[0]);
                                           });
  rewriter.replaceAllUsesExcept(argument, swapped.getResult(0), swapped);
}

// Reads the last input as if two of its dimensions lay in the other order, which shows only in the numbers where both
// are equal. In a product that is its index; elsewhere, several ops may read the input, or parts of it.
Refusal Planter::swappedLayout() {
  if (contractions.size() == 1) {
    linalg::GenericOp op = contractions.front();
    // The last tensor; a zero point, which is a number, may come behind it.
    auto isTensor = [](OpOperand *input) { return isa<RankedTensorType>(input->get().getType()); };
    SmallVector<OpOperand *> inputs = llvm::filter_to_vector(op.getDpsInputOperands(), isTensor);
    OpOperand *input = inputs.empty() ? nullptr : inputs.back();
    auto dims = input ? equalDims(cast<RankedTensorType>(input->get().getType())) : std::nullopt;
    if (dims) {
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[input->getOperandNumber()] = withSwapped(maps[input->getOperandNumber()], *dims);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      return {};
    }
  }
  for (Value argument : llvm::reverse(function.getArguments()))
    if (auto tensor = dyn_cast<RankedTensorType>(argument.getType()))
      if (auto dims = equalDims(tensor)) {
        readTransposed(argument, *dims);
        return {};
      }
  return "no input has two dimensions of the same extent that would hide it";
}

//===--- The pass -------------------------------------------------------------------------------------------------===//

struct Lie {
  StringLiteral name;
  Refusal (Planter::*plant)();
};

constexpr Lie kLies[] = {
    {"wrong-element", &Planter::wrongElement},     {"nan", &Planter::nan},
    {"transposed-tile", &Planter::transposedTile}, {"dropped-tail", &Planter::droppedTail},
    {"not-zeroed", &Planter::notZeroed},           {"bf16-inputs", &Planter::bf16Inputs},
    {"tf32-inputs", &Planter::tf32Inputs},         {"f16-accumulator", &Planter::f16Accumulator},
    {"swapped-layout", &Planter::swappedLayout},   {"bf16-accumulator", &Planter::bf16Accumulator},
    {"nothing-written", &Planter::nothingWritten},
};

class PlantLiesPass : public impl::PlantLiesPassBase<PlantLiesPass> {
public:
  using PlantLiesPassBase::PlantLiesPassBase;

  void runOnOperation() override {
    generalize();
    if (failed(plantLie()) || failed(plantDelay()))
      signalPassFailure();
  }

private:
  // Products and convolutions, written as linalg.generic: their names would not say any more what they do.
  void generalize() {
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0 && !isa<linalg::GenericOp>(op.getOperation()))
        named.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      DictionaryAttr attributes = op->getDiscardableAttrDictionary();
      FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
      if (succeeded(generic))
        (*generic)->setDiscardableAttrs(attributes);
    }
  }

  LogicalResult plantDelay() {
    if (delay <= 0)
      return success();
    bool planted = false;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() < 2)
        return;
      op->setAttr(kDelayAttr, IntegerAttr::get(IntegerType::get(&getContext(), 64), delay));
      planted = true;
    });
    return planted ? success() : getOperation().emitError("a delay cannot be planted: there is no contraction here");
  }

  // In every function that can be called, so that no result of the module is right.
  LogicalResult plantLie() {
    if (lie.empty())
      return success();
    const auto *chosen = llvm::find_if(kLies, [&](const Lie &known) { return known.name == lie; });
    if (chosen == std::end(kLies)) {
      auto names = llvm::map_range(kLies, [](const Lie &known) { return known.name; });
      return getOperation().emitError() << "there is no lie '" << lie << "'; there are " << llvm::join(names, ", ");
    }
    IRRewriter rewriter(&getContext());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.isPublic())
        continue;
      Refusal refusal = refusalOf(function);
      if (refusal.empty())
        refusal = (Planter(rewriter, function).*chosen->plant)();
      if (!refusal.empty())
        return function.emitError() << "the lie '" << lie << "' cannot be planted in @" << function.getSymName() << ": "
                                    << refusal;
    }
    return success();
  }

  static Refusal refusalOf(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return "it has branches";
    if (function.getNumResults() != 1)
      return "it has not one result";
    auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[0]);
    if (!type || !type.hasStaticShape())
      return "its result is no tensor of a static shape";
    return {};
  }
};
} // namespace

void registerTestingPasses() {
  registerPass([] { return createPlantLiesPass(); });
}

} // namespace kiln
