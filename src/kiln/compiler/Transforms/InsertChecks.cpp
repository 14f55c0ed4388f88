#include "kiln/compiler/Transforms/IndexRange.h"
#include "kiln/compiler/Transforms/NameInSource.h"
#include "kiln/compiler/Transforms/TensorOps.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_INSERTCHECKSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

// "program.mlir:3:8: ", "model.onnx: node 'add': ", or nothing.
static std::string placeOf(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return {};
  const std::string file = llvm::sys::path::filename(place.getFilename().getValue()).str();
  if (const StringRef node = Util::nodeOf(loc); !node.empty())
    return file + ": node '" + node.str() + "': ";
  return file + ":" + std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn()) + ": ";
}

namespace {
// Writes the checks of one op in front of it. What is known at compile time was the op's verifier's to check.
class CheckBuilder {
public:
  // With `isPlaced`, messages begin with the place in the source.
  explicit CheckBuilder(Operation *op, bool isPlaced = true)
      : op(op), builder(op), loc(op->getLoc()), isPlaced(isPlaced) {}

  // Fails, after an error, where the op can only be wrong.
  LogicalResult insert() {
    TypeSwitch<Operation *>(op)
        .Case<linalg::LinalgOp>([&](auto linalgOp) { checkLoops(linalgOp); })
        .Case<linalg::SoftmaxOp>([&](auto softmax) {
          Value input = softmax.getInput(), output = softmax.getOutput();
          for (int64_t dim = 0; dim < softmax.getInputOperandRank(); ++dim)
            checkEqual(input, dim, output, dim,
                       "dimension " + Twine(dim) + " of operand 0 and operand 1 must be equal");
        })
        .Case<tensor::ExtractOp>([&](auto extract) { checkIndices(extract.getTensor(), extract.getIndices()); })
        .Case<tensor::InsertOp>([&](auto insert) { checkIndices(insert.getDest(), insert.getIndices()); })
        .Case<tensor::ExtractSliceOp>([&](auto slice) { checkSlice(slice, slice.getSource()); })
        .Case<tensor::InsertSliceOp>([&](auto slice) {
          checkSlice(slice, slice.getDest());
          checkInserted(slice);
        })
        .Case<tensor::CastOp>([&](auto cast) { checkCast(cast); })
        .Case<tensor::ExpandShapeOp>([&](auto expand) { checkExpansion(expand); })
        .Case<tensor::ConcatOp>([&](auto concat) { checkConcat(concat); })
        .Case<tensor::PadOp>([&](auto pad) { checkPadding(pad); })
        .Case<tensor::EmptyOp, tensor::SplatOp>(
            [&](auto made) { checkExtents(made.getType(), made.getDynamicSizes()); })
        .Case<tensor::GenerateOp>([&](auto made) { checkGenerated(made); })
        .Case<Flow::TensorReshapeOp, Flow::TensorBitcastOp>([&](auto reshape) {
          checkExtents(cast<RankedTensorType>(reshape.getType()), reshape.getResultDims());
          checkBytes(reshape.getSource(), reshape.getResult(), reshape.getResultDims());
        })
        .Case<Flow::TensorTieShapeOp>([&](auto tie) { checkTie(tie); })
        .Case<linalg::PackOp>(
            [&](auto pack) { checkTiles(pack, pack.getSource(), pack.getDest(), !pack.getPaddingValue()); })
        .Case<linalg::UnPackOp>([&](auto unpack) { checkTiles(unpack, unpack.getDest(), unpack.getSource(), false); })
        .Case<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp, arith::RemSIOp>(
            [&](auto division) { checkDivision(division.getLhs(), division.getRhs(), /*overflows=*/false); })
        .Case<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(
            [&](auto division) { checkDivision(division.getLhs(), division.getRhs(), /*overflows=*/true); })
        .Case<scf::ForOp>([&](auto loop) {
          check(compare(arith::CmpIPredicate::sgt, loop.getStep(), zeroOf(loop.getStep())), "the step must be above 0");
        });
    return failure(isRejected);
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value zeroOf(Value like) { return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(like.getType())); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value either(Value a, Value b) { return arith::OrIOp::create(builder, loc, a, b); }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
  Value multiply(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
  Value valueOf(OpFoldResult value) { return getValueOrCreateConstantIndexOp(builder, loc, value); }

  static int64_t staticDim(Value tensor, int64_t dim) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  }
  // Of what the tensor was made from: rewrites give results the extents that casts of them claim.
  Value dimOf(Value tensor, int64_t dim) {
    int64_t extent = staticDim(tensor, dim);
    while (ShapedType::isDynamic(extent)) {
      auto made = tensor.getDefiningOp<linalg::LinalgOp>();
      if (!made)
        break;
      tensor = made.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())->get();
      extent = staticDim(tensor, dim);
    }
    if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>(); empty && ShapedType::isDynamic(extent))
      return empty.getDynamicSize(dim);
    return ShapedType::isDynamic(extent) ? tensor::DimOp::create(builder, loc, tensor, dim) : constant(extent);
  }

  // "program.mlir:3:8: 'linalg.matmul': ..."
  void check(Value condition, const Twine &message) {
    std::string text = isPlaced ? placeOf(loc) : "";
    llvm::raw_string_ostream os(text);
    // A linalg.generic is what an op on tensors has become; its author knows it by its place.
    if (!isa<linalg::GenericOp>(op))
      os << "'" << nameInSource(op) << "': ";
    os << message;
    cf::AssertOp::create(builder, loc, condition, text);
  }

  void checkEqual(Value a, int64_t dimA, Value b, int64_t dimB, const Twine &names) {
    if (ShapedType::isDynamic(staticDim(a, dimA)) || ShapedType::isDynamic(staticDim(b, dimB)))
      check(compare(arith::CmpIPredicate::eq, dimOf(a, dimA), dimOf(b, dimB)), names);
  }

  void checkNotNegative(ValueRange values, const Twine &what) {
    for (Value value : values)
      if (value.getType().isIndex() && !value.getDefiningOp<tensor::DimOp>())
        check(compare(arith::CmpIPredicate::sge, value, constant(0)), what + " must not be negative");
  }

  // The virtual machine refuses these divisions as well, but does not know where they stand in the source. Quotients of
  // less than 32 bits do not overflow there.
  void checkDivision(Value number, Value divisor, bool overflows) {
    Type type = divisor.getType();
    if (!type.isIntOrIndex())
      return;
    check(compare(arith::CmpIPredicate::ne, divisor, zeroOf(divisor)), "integer division by zero");
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    if (!overflows || bits < 32)
      return;
    auto constantOf = [&](const APInt &value) {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value)).getResult();
    };
    Value isLeast = compare(arith::CmpIPredicate::eq, number, constantOf(APInt::getSignedMinValue(bits)));
    Value isMinusOne = compare(arith::CmpIPredicate::eq, divisor, constantOf(APInt::getAllOnes(bits)));
    Value fits = arith::XOrIOp::create(builder, loc, both(isLeast, isMinusOne),
                                       arith::ConstantIntOp::create(builder, loc, 1, 1));
    check(fits, "signed overflow in an integer division: the least value by -1");
  }

  //===--- Structured operations ---------------------------------------------------------------------------------===//

  // Where a loop's extent is read: a dimension of an operand that the loop alone indexes.
  struct Place {
    OpOperand *operand = nullptr;
    int64_t dim = 0;
  };
  static std::string nameOf(Place place) {
    return ("dimension " + Twine(place.dim) + " of operand " + Twine(place.operand->getOperandNumber())).str();
  }

  void checkLoops(linalg::LinalgOp linalgOp) {
    if (!linalgOp.hasPureTensorSemantics())
      return;
    SmallVector<Place> loops(linalgOp.getNumLoops());
    SmallVector<std::pair<Place, AffineExpr>> computed;
    for (OpOperand &operand : linalgOp->getOpOperands()) {
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        Place place{&operand, static_cast<int64_t>(dim)};
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop) {
          computed.push_back({place, expr});
          continue;
        }
        Place &known = loops[loop.getPosition()];
        if (known.operand)
          checkEqual(known.operand->get(), known.dim, operand.get(), place.dim,
                     nameOf(known) + " and " + nameOf(place) + " must be equal");
        else
          known = place;
      }
    }
    for (auto [place, expr] : computed)
      checkRange(loops, place, expr);
    checkGathers(*linalgOp.getBlock(), [&] { return isEmpty(loops); });
  }

  // An index of a kernel is held to its tensor, which therefore must have elements, unless there is no step at all.
  void checkGathers(Block &body, function_ref<Value()> hasNoStep) {
    for (auto gather : body.getOps<tensor::ExtractOp>()) {
      auto type = cast<RankedTensorType>(gather.getTensor().getType());
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim) || type.getDimSize(dim) == 0)
          check(either(hasNoStep(), compare(arith::CmpIPredicate::ne, dimOf(gather.getTensor(), dim), constant(0))),
                "elements are taken from a tensor that has none");
    }
  }

  void checkGenerated(tensor::GenerateOp made) {
    auto type = cast<RankedTensorType>(made.getType());
    checkExtents(type, made.getDynamicExtents());
    if (llvm::is_contained(type.getShape(), 0))
      return;
    checkGathers(made.getBody().front(), [&] {
      Value isEmpty = arith::ConstantIntOp::create(builder, loc, 0, 1);
      for (Value extent : made.getDynamicExtents())
        isEmpty = either(isEmpty, compare(arith::CmpIPredicate::eq, extent, constant(0)));
      return isEmpty;
    });
  }

  // Whether there is no step at all. Each loop has an operand that it alone indexes, and thereby an extent.
  Value isEmpty(ArrayRef<Place> loops) {
    Value isEmpty = arith::ConstantIntOp::create(builder, loc, 0, 1);
    for (Place loop : loops)
      isEmpty = either(isEmpty, compare(arith::CmpIPredicate::eq, dimOf(loop.operand->get(), loop.dim), constant(0)));
    return isEmpty;
  }

  // All indices that an expression of the loops gives lie inside of its dimension, unless there is no step at all.
  void checkRange(ArrayRef<Place> loops, Place place, AffineExpr expr) {
    SmallVector<int64_t> extents;
    for (Place loop : loops)
      extents.push_back(staticDim(loop.operand->get(), loop.dim));
    bool isDynamic = ShapedType::isDynamic(staticDim(place.operand->get(), place.dim));
    for (auto [loop, extent] : llvm::enumerate(extents))
      isDynamic |= ShapedType::isDynamic(extent) && expr.isFunctionOfDim(loop);
    if (!isDynamic) {
      // Its verifier has compared them, in numbers that may have wrapped.
      if (!llvm::is_contained(extents, 0) && !fitsIn64Bits(expr, extents)) {
        isRejected = true;
        std::string index;
        llvm::raw_string_ostream(index) << expr;
        op->emitError() << "'" << nameInSource(op) << "' has an index, " << index << " for " << nameOf(place)
                        << ", that is not a 64-bit number in all steps of its loops";
      }
      return;
    }
    IndexRange range = rangeOf(builder, loc, expr, extents,
                               [&](unsigned loop) { return dimOf(loops[loop].operand->get(), loops[loop].dim); });
    // The author may have to write such a map in another way.
    std::string how = range.isExact ? "" : ", as far as its index map's terms tell when each is bounded for itself";
    if (range.fits)
      check(either(isEmpty(loops), range.fits), nameOf(place) + " is too small for what is read from it");
    check(either(isEmpty(loops), compare(arith::CmpIPredicate::sge, range.least, constant(0))),
          nameOf(place) + " is read from before its start" + how);
    Value extent = dimOf(place.operand->get(), place.dim);
    check(either(isEmpty(loops), compare(arith::CmpIPredicate::slt, range.largest, extent)),
          nameOf(place) + " is too small for what is read from it" + how);
  }

  //===--- Tensor operations -------------------------------------------------------------------------------------===//

  void checkIndices(Value tensor, ValueRange indices) {
    for (auto [dim, index] : llvm::enumerate(indices))
      check(compare(arith::CmpIPredicate::ult, index, dimOf(tensor, dim)),
            "the index of dimension " + Twine(dim) + " lies outside of the tensor");
  }

  void checkSlice(OffsetSizeAndStrideOpInterface slice, Value whole) {
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes();
    SmallVector<OpFoldResult> strides = slice.getMixedStrides();
    for (auto [dim, offset, size, stride] : llvm::enumerate(offsets, sizes, strides)) {
      if (getConstantIntValue(offset) && getConstantIntValue(size) && getConstantIntValue(stride) &&
          !ShapedType::isDynamic(staticDim(whole, dim)))
        continue;
      Value extent = dimOf(whole, dim), start = valueOf(offset), count = valueOf(size), step = valueOf(stride);
      Value zero = constant(0), one = constant(1);
      // How many elements there are from the start on; in a form that no number makes wrap.
      Value rest = subtract(extent, add(start, one));
      Value steps = arith::DivUIOp::create(builder, loc, rest, arith::MaxSIOp::create(builder, loc, step, one));
      Value startsInside = compare(arith::CmpIPredicate::ult, start, extent);
      Value room = arith::SelectOp::create(builder, loc, startsInside, add(steps, one), zero);
      Value inside = compare(arith::CmpIPredicate::ule, count, room);
      inside = both(inside, compare(arith::CmpIPredicate::ule, start, extent));
      inside = both(inside, compare(arith::CmpIPredicate::sge, step, one));
      check(inside, "the slice lies outside of dimension " + Twine(dim) + " of its tensor");
    }
  }

  void checkInserted(tensor::InsertSliceOp slice) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    unsigned from = 0;
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes())) {
      if (dropped.test(dim))
        continue;
      bool isDynamic = ShapedType::isDynamic(staticDim(slice.getSource(), from)) || !getConstantIntValue(size);
      if (isDynamic)
        check(compare(arith::CmpIPredicate::eq, dimOf(slice.getSource(), from), valueOf(size)),
              "dimension " + Twine(from) + " of what is inserted must be as large as the slice");
      ++from;
    }
  }

  static constexpr int64_t mostBytes = int64_t(1) << 60;

  // Extents are numbers of elements, and all together they have a size in bytes.
  void checkExtents(RankedTensorType type, ValueRange extents) {
    constexpr int64_t widestElement = 8;
    int64_t known = widestElement;
    for (int64_t extent : type.getShape())
      if (!ShapedType::isDynamic(extent))
        known *= std::max<int64_t>(extent, 1);
    Value bytes = constant(known);
    for (Value extent : extents) {
      Value most = arith::DivUIOp::create(builder, loc, constant(mostBytes), bytes);
      if (!extent.getDefiningOp<tensor::DimOp>() || type.getNumDynamicDims() > 1)
        check(compare(arith::CmpIPredicate::ule, extent, most), "an extent is negative, or the tensor is too large");
      bytes = multiply(bytes, arith::MaxSIOp::create(builder, loc, extent, constant(1)));
    }
  }

  void checkPadding(tensor::PadOp pad) {
    checkNotNegative(pad.getLow(), "the padding");
    checkNotNegative(pad.getHigh(), "the padding");
    checkGathers(pad.getRegion().front(), [&] { return arith::ConstantIntOp::create(builder, loc, 0, 1); });
    if (pad.getLow().empty() && pad.getHigh().empty())
      return;
    // Sums that do not wrap.
    auto limited = [&](OpFoldResult amount) {
      return arith::MinUIOp::create(builder, loc, valueOf(amount), constant(mostBytes)).getResult();
    };
    SmallVector<Value> extents;
    for (auto [dim, low, high] : llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad()))
      if (pad.getResultType().isDynamicDim(dim))
        extents.push_back(add(dimOf(pad.getSource(), dim), add(limited(low), limited(high))));
    checkExtents(pad.getResultType(), extents);
  }

  // A value of other extents or elements has as many bytes as its source.
  void checkBytes(Value source, Value result, ValueRange resultDims) {
    auto from = cast<RankedTensorType>(source.getType()), to = cast<RankedTensorType>(result.getType());
    if (from.hasStaticShape() && to.hasStaticShape())
      return;
    auto bytesOf = [&](RankedTensorType type, ArrayRef<Value> dims) {
      Value bits = constant(HAL::packedBitWidth(type));
      for (Value dim : dims)
        bits = multiply(bits, dim);
      return arith::CeilDivUIOp::create(builder, loc, bits, constant(8)).getResult();
    };
    SmallVector<Value> fromDims, toDims;
    for (int64_t dim = 0; dim < from.getRank(); ++dim)
      fromDims.push_back(dimOf(source, dim));
    auto next = resultDims.begin();
    for (int64_t extent : to.getShape())
      toDims.push_back(ShapedType::isDynamic(extent) ? *next++ : constant(extent));
    check(compare(arith::CmpIPredicate::eq, bytesOf(from, fromDims), bytesOf(to, toDims)),
          "the result must have as many bytes as the source");
  }

  // A global's extents are what was stored with it.
  void checkTie(Flow::TensorTieShapeOp tie) {
    if (tie.getOperand().getDefiningOp<Util::GlobalLoadOp>())
      return;
    auto type = cast<RankedTensorType>(tie.getType());
    auto next = tie.getResultDims().begin();
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        check(compare(arith::CmpIPredicate::eq, dimOf(tie.getOperand(), dim), *next++),
              "dimension " + Twine(dim) + " of the tensor is another one");
  }

  // The tiled tensor has as many tiles as the plain one needs, and all of them whole where nothing fills them up.
  template <typename Op> void checkTiles(Op op, Value plain, Value tiled, bool areWhole) {
    SmallVector<int64_t> order(op.getOuterDimsPerm());
    if (order.empty())
      order = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(plain.getType()).getRank()));
    for (auto [place, tile] : llvm::enumerate(op.getMixedTiles())) {
      if (getConstantIntValue(tile))
        continue;
      check(compare(arith::CmpIPredicate::sge, valueOf(tile), constant(1)), "a tile is not above 0");
      check(compare(arith::CmpIPredicate::eq, valueOf(tile), dimOf(tiled, order.size() + place)),
            "dimension " + Twine(order.size() + place) + " of the tiled tensor is not its tile");
    }
    for (auto [place, dim] : llvm::enumerate(order)) {
      Value extent = dimOf(plain, dim), tiles = extent;
      auto tiledAt = llvm::find(op.getInnerDimsPos(), dim);
      if (tiledAt != op.getInnerDimsPos().end()) {
        Value tile = valueOf(op.getMixedTiles()[tiledAt - op.getInnerDimsPos().begin()]);
        Value above = add(extent, subtract(tile, constant(1)));
        tiles = arith::DivUIOp::create(builder, loc, above, arith::MaxSIOp::create(builder, loc, tile, constant(1)));
        if (areWhole)
          check(compare(arith::CmpIPredicate::eq, multiply(tiles, tile), extent),
                "dimension " + Twine(dim) + " is no multiple of its tile, and there is no padding value");
      }
      check(compare(arith::CmpIPredicate::eq, tiles, dimOf(tiled, place)),
            "dimension " + Twine(place) + " of the tiled tensor is not the number of tiles of dimension " + Twine(dim));
    }
  }

  void checkCast(tensor::CastOp cast) {
    auto from = dyn_cast<RankedTensorType>(cast.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(cast.getType());
    if (!from || !to)
      return;
    for (int64_t dim = 0; dim < to.getRank(); ++dim)
      if (from.isDynamicDim(dim) && !to.isDynamicDim(dim))
        check(compare(arith::CmpIPredicate::eq, dimOf(cast.getSource(), dim), constant(to.getDimSize(dim))),
              "dimension " + Twine(dim) + " must be " + Twine(to.getDimSize(dim)));
  }

  void checkExpansion(tensor::ExpandShapeOp expand) {
    // So that their products do not wrap.
    checkExtents(expand.getResultType(), expand.getOutputShape());
    SmallVector<OpFoldResult> shape = getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder);
    for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices())) {
      if (!ShapedType::isDynamic(staticDim(expand.getSrc(), dim)))
        continue;
      Value product = constant(1);
      for (int64_t index : group)
        product = multiply(product, valueOf(shape[index]));
      check(compare(arith::CmpIPredicate::eq, product, dimOf(expand.getSrc(), dim)),
            "dimension " + Twine(dim) + " does not have as many elements as its parts");
    }
  }

  void checkConcat(tensor::ConcatOp concat) {
    Value first = concat.getInputs().front();
    for (auto [i, input] : llvm::enumerate(concat.getInputs().drop_front()))
      for (int64_t dim = 0; dim < concat.getRank(); ++dim)
        if (dim != static_cast<int64_t>(concat.getDim()))
          checkEqual(first, dim, input, dim,
                     "dimension " + Twine(dim) + " of operand 0 and operand " + Twine(i + 1) + " must be equal");
  }

  Operation *op;
  OpBuilder builder;
  Location loc;
  bool isPlaced, isRejected = false;
};

// How many values an index has that starts at 0, as that of a loop; kDynamic where it is none, or not known.
int64_t countOf(Value index) {
  if (auto loop = index.getDefiningOp<linalg::IndexOp>())
    if (auto op = dyn_cast<linalg::LinalgOp>(loop->getParentOp()))
      return op.getStaticLoopRanges()[loop.getDim()];
  if (auto argument = dyn_cast<BlockArgument>(index))
    if (auto made = dyn_cast<tensor::GenerateOp>(argument.getOwner()->getParentOp()))
      return made.getType().getShape()[argument.getArgNumber()];
  std::optional<int64_t> constant = getConstantIntValue(index);
  return constant && *constant >= 0 && *constant < kLargestExtent ? *constant + 1 : ShapedType::kDynamic;
}

// The nearest number from 0 to what an extent leaves where so many elements are read.
Value heldTo(OpBuilder &builder, Location loc, Value index, Value tensor, int64_t dim, int64_t count) {
  int64_t known = cast<RankedTensorType>(tensor.getType()).getDimSize(dim), values = countOf(index);
  if (!ShapedType::isDynamic(known) && !ShapedType::isDynamic(values) && values <= known - count + 1)
    return index;
  Value extent = ShapedType::isDynamic(known) ? tensor::DimOp::create(builder, loc, tensor, dim).getResult()
                                              : arith::ConstantIndexOp::create(builder, loc, known).getResult();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
        read = arith::ConstantIndexOp::create(builder, loc, count);
  Value last = arith::SubIOp::create(builder, loc, extent, read);
  return arith::MinSIOp::create(builder, loc, arith::MaxSIOp::create(builder, loc, index, zero), last);
}

// An index of a kernel that lies outside of a tensor: the nearest element is read instead.
void clampIndices(tensor::ExtractOp gather) {
  OpBuilder builder(gather);
  for (auto [dim, index] : llvm::enumerate(gather.getIndicesMutable()))
    index.set(heldTo(builder, gather.getLoc(), index.get(), gather.getTensor(), dim, 1));
}

// A loop or branch of a kernel may or may not come to a read: from a tensor without elements it gives zero. For other
// reads the host has seen to elements.
void readIfNotEmpty(tensor::ExtractOp gather) {
  auto type = cast<RankedTensorType>(gather.getTensor().getType());
  if (isKernel(gather->getParentOp()) || (type.hasStaticShape() && type.getNumElements() > 0))
    return;
  OpBuilder builder(gather);
  Location loc = gather.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0), isFilled;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim) && type.getDimSize(dim) != 0)
      continue;
    Value extent = builder.createOrFold<tensor::DimOp>(loc, gather.getTensor(), dim);
    Value hasExtent = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, extent, zero);
    isFilled = isFilled ? arith::AndIOp::create(builder, loc, isFilled, hasExtent) : hasExtent;
  }
  auto branch = scf::IfOp::create(builder, loc, gather.getType(), isFilled, /*withElseRegion=*/true);
  gather.replaceAllUsesWith(branch.getResult(0));
  builder.setInsertionPointToStart(branch.thenBlock());
  gather->moveBefore(scf::YieldOp::create(builder, loc, gather.getResult()));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value nothing = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(gather.getType()));
  scf::YieldOp::create(builder, loc, nothing);
}

// Whether a slice in a kernel lies inside of its tensor for all elements that the kernel computes.
bool isInside(tensor::ExtractSliceOp slice) {
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getStaticSizes(), slice.getStaticStrides())) {
    int64_t extent = slice.getSourceType().getDimSize(dim);
    // A dynamic number is below zero.
    if (ShapedType::isDynamic(extent) || size < 1 || stride < 1)
      return false;
    if (getConstantIntValue(offset))
      continue;
    auto index = dyn_cast<BlockArgument>(cast<Value>(offset));
    auto made = index ? dyn_cast<tensor::GenerateOp>(index.getOwner()->getParentOp()) : nullptr;
    if (!made)
      return false;
    int64_t offsets = made.getType().getShape()[index.getArgNumber()];
    if (ShapedType::isDynamic(offsets) || offsets > extent - (size - 1) * stride)
      return false;
  }
  return true;
}

// The kernel that an op is part of, or null.
Operation *kernelOf(Operation *op) {
  Operation *parent = op->getParentOp();
  while (parent && !isKernel(parent))
    parent = parent->getParentOp();
  return parent;
}

// Whether a slice in a kernel needs a check of its own. One that moves in front of the kernel is the host's to check,
// and the value of a padding is computed also where the source lies.
bool needsCheck(tensor::ExtractSliceOp slice) {
  if (!kernelOf(slice) || slice->getParentOfType<tensor::PadOp>() || isInside(slice))
    return false;
  Operation *outermost = kernelOf(slice);
  while (Operation *outer = kernelOf(outermost))
    outermost = outer;
  return !movesInFront(slice, outermost) || llvm::any_of(slice->getOperands(), [](Value value) {
    return isKernel(value.getParentBlock()->getParentOp()) || kernelOf(value.getParentBlock()->getParentOp());
  });
}

// What clampIndices does, of slices of known size.
void clampOffsets(tensor::ExtractSliceOp slice) {
  OpBuilder builder(slice);
  auto place = slice.getOffsetsMutable().begin();
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getStaticStrides())) {
    if (!ShapedType::isDynamic(offset))
      continue;
    OpOperand &operand = *place++;
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(stride) && size > 0)
      operand.set(heldTo(builder, slice.getLoc(), operand.get(), slice.getSource(), dim, (size - 1) * stride + 1));
  }
}

class InsertChecksPass : public impl::InsertChecksPassBase<InsertChecksPass> {
public:
  using InsertChecksPassBase::InsertChecksPassBase;

  void runOnOperation() override {
    if (inBodies) {
      getOperation().walk([](tensor::ExtractSliceOp slice) {
        if (needsCheck(slice))
          (void)CheckBuilder(slice, /*isPlaced=*/false).insert(); // Slices are not rejected here.
      });
      return;
    }
    SmallVector<Operation *> ops;
    for (Operation &func : *getOperation().getBody()) {
      if (!isa<func::FuncOp, Util::InitializerOp>(func))
        continue;
      // The host's program only: what stands in the body of a tensor op is a kernel's.
      func.walk<WalkOrder::PreOrder>([&](Operation *op) {
        ops.push_back(op);
        return isKernel(op) ? WalkResult::skip() : WalkResult::advance();
      });
    }
    // The program's own checks say where they are, too.
    for (auto func : getOperation().getOps<func::FuncOp>())
      func.walk([](cf::AssertOp check) { check.setMsg(placeOf(check.getLoc()) + check.getMsg().str()); });
    for (Operation *op : ops)
      if (failed(CheckBuilder(op).insert()))
        return signalPassFailure();
    SmallVector<Operation *> reads;
    getOperation().walk([&](Operation *op) {
      if (!isa<tensor::ExtractOp, tensor::ExtractSliceOp>(op))
        return;
      if (kernelOf(op))
        reads.push_back(op);
    });
    for (Operation *op : reads) {
      if (auto gather = dyn_cast<tensor::ExtractOp>(op)) {
        clampIndices(gather);
        readIfNotEmpty(gather);
      } else {
        clampOffsets(cast<tensor::ExtractSliceOp>(op));
      }
    }
    getOperation().walk([](Operation *op) { op->removeAttr(kNameInSource); });
  }
};
} // namespace
} // namespace kiln
