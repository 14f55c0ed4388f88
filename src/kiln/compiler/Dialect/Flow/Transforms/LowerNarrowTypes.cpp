#include "kiln/compiler/Dialect/Flow/Transforms/Dims.h"
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"
#include "kiln/compiler/Dialect/Flow/Transforms/SmallFloats.h"

#include "kiln/compiler/Dialect/Encoding/IR/EncodingOps.h"
#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/ConvertTypes.h"
#include "kiln/compiler/Interfaces/FloatBuilder.h"
#include "kiln/compiler/Interfaces/RoundIntegers.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_LOWERNARROWTYPESPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

static bool isNarrow(Type type) {
  return HAL::isNarrowElement(getElementTypeOrSelf(type)) || Encoding::isPacked(type);
}
static bool isNarrowInteger(Type type) {
  return isNarrow(type) && isa<IntegerType>(type);
}
static bool isNarrowFloat(Type type) {
  return isNarrow(type) && isa<FloatType>(type);
}

//===--- Values
//----------------------------------------------------------------------------------------------------===//

// A narrow value and its byte are the same once types are replaced; until then a cast stands between them.
static Value castTo(OpBuilder &b, Location loc, Type type, Value value) {
  return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}

static Value byteConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(static_cast<int8_t>(value)));
}

// The byte of an integer; the bits above its own are zeros, or its sign.
static Value byteOf(OpBuilder &b, Location loc, Value narrow, bool isSigned) {
  Value byte = castTo(b, loc, b.getI8Type(), narrow);
  if (!isSigned)
    return byte;
  Value count = byteConstant(b, loc, 8 - narrow.getType().getIntOrFloatBitWidth());
  return arith::ShRSIOp::create(b, loc, arith::ShLIOp::create(b, loc, byte, count), count);
}

static Value integerOf(OpBuilder &b, Location loc, Type narrow, Value byte) {
  Value mask = byteConstant(b, loc, (1 << narrow.getIntOrFloatBitWidth()) - 1);
  return castTo(b, loc, narrow, arith::AndIOp::create(b, loc, byte, mask));
}

static Value decode(OpBuilder &b, Location loc, Value narrow) {
  return decodeSmallFloat(b, loc, cast<FloatType>(narrow.getType()), castTo(b, loc, b.getI8Type(), narrow));
}

static Value encode(OpBuilder &b, Location loc, Type narrow, Value number) {
  return castTo(b, loc, narrow, encodeSmallFloat(b, loc, cast<FloatType>(narrow), number));
}

// A float of 16 or more bits as f32, but f64 as it is.
static Value inF32(OpBuilder &b, Location loc, Value number) {
  if (isNarrow(number.getType()))
    return decode(b, loc, number);
  if (number.getType().isF32() || number.getType().isF64())
    return number;
  return arith::ExtFOp::create(b, loc, b.getF32Type(), number);
}

//===--- Scalar operations
//-----------------------------------------------------------------------------------------===//

static bool isSignedOperation(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return llvm::is_contained(
        {arith::CmpIPredicate::slt, arith::CmpIPredicate::sle, arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge},
        compare.getPredicate());
  return isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::ShRSIOp, arith::MaxSIOp,
             arith::MinSIOp, arith::ExtSIOp, arith::SIToFPOp, arith::IndexCastOp>(op);
}

static Value convertWidth(OpBuilder &b, Location loc, Operation *op) {
  Value operand = op->getOperand(0);
  Type to = op->getResult(0).getType(), byteType = b.getI8Type();
  bool isSigned = isa<arith::ExtSIOp>(op);
  auto resize = [&](Value value, Type type) -> Value {
    int64_t from = value.getType().getIntOrFloatBitWidth(), width = type.getIntOrFloatBitWidth();
    if (width < from)
      return arith::TruncIOp::create(b, loc, type, value);
    if (width == from)
      return value;
    return isSigned ? arith::ExtSIOp::create(b, loc, type, value).getResult()
                    : arith::ExtUIOp::create(b, loc, type, value).getResult();
  };
  Value byte = isNarrow(operand.getType()) ? byteOf(b, loc, operand, isSigned) : resize(operand, byteType);
  return isNarrow(to) ? integerOf(b, loc, to, byte) : resize(byte, to);
}

static Value convertFloat(OpBuilder &b, Location loc, Value operand, Type to) {
  Value number = inF32(b, loc, operand);
  if (isNarrow(to))
    return encode(b, loc, to, number);
  if (number.getType() == to)
    return number;
  return to.isF64() ? arith::ExtFOp::create(b, loc, to, number).getResult()
                    : arith::TruncFOp::create(b, loc, to, number).getResult();
}

// The same operation on i8 and f32 in place of narrow types.
static Operation *computeWide(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  // An integer of many bits is not to be rounded twice.
  bool needsF64 = isa<arith::SIToFPOp, arith::UIToFPOp>(op) && !op->getOperand(0).getType().isIndex() &&
                  op->getOperand(0).getType().getIntOrFloatBitWidth() > 24;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (isNarrowInteger(operand.getType()))
      operand = byteOf(b, loc, operand, isSignedOperation(op));
    else if (isNarrowFloat(operand.getType()))
      operand = decode(b, loc, operand);
    operands.push_back(operand);
  }
  if (needsF64)
    operands[0] = fitIntoF64(b, loc, operands[0], isSignedOperation(op));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(isNarrowInteger(type) ? Type(b.getI8Type())
                    : !isNarrow(type)     ? type
                    : needsF64            ? Type(b.getF64Type())
                                          : Type(b.getF32Type()));
  OperationState state(loc, op->getName(), operands, types, op->getAttrs());
  return b.create(state);
}

static LogicalResult lowerScalarOp(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  SmallVector<Value> results;
  if (isa<arith::ConstantOp, arith::SelectOp>(op)) {
    return success(); // their types are replaced
  } else if (isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    results.push_back(convertWidth(b, loc, op));
  } else if (auto round = dyn_cast<arith::TruncFOp>(op)) {
    if (round.getRoundingmode() && *round.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return op->emitError() << "'arith.truncf' to " << round.getType()
                             << " rounds to nearest even, and in no other way";
    results.push_back(convertFloat(b, loc, round.getIn(), round.getType()));
  } else if (auto extend = dyn_cast<arith::ExtFOp>(op)) {
    results.push_back(convertFloat(b, loc, extend.getIn(), extend.getType()));
  } else if (auto bitcast = dyn_cast<arith::BitcastOp>(op)) {
    results.push_back(castTo(b, loc, bitcast.getType(), castTo(b, loc, b.getI8Type(), bitcast.getIn())));
  } else {
    bool isInteger = isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
                     !isa<arith::AddUIExtendedOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op);
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (isNarrowInteger(type) && !isInteger)
        return op->emitError() << "'" << op->getName() << "' is not supported on " << type << "; widen it first";
    Operation *wide = computeWide(b, op);
    for (auto [result, type] : llvm::zip(wide->getResults(), op->getResultTypes()))
      results.push_back(isNarrowInteger(type) ? integerOf(b, loc, type, result)
                        : isNarrowFloat(type) ? encode(b, loc, type, result)
                                              : Value(result));
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

//===--- Tensor operations
//-----------------------------------------------------------------------------------------===//

static Value elementwise(OpBuilder &b, Location loc, Value tensor, Type element,
                         function_ref<Value(OpBuilder &, Location, Value)> compute) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), element);
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, empty.getType(), tensor, empty, ArrayRef<AffineMap>{map, map}, loops,
                                   [&](OpBuilder &inner, Location at, ValueRange arguments) {
                                     linalg::YieldOp::create(inner, at, compute(inner, at, arguments[0]));
                                   })
      .getResult(0);
}

// What a reduction reads many times is widened once, before it: the reduction itself is then one of common types.
static void hoistConversions(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return;
  OpBuilder b(op);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    if (!isa<RankedTensorType>(operand->get().getType()) || !isNarrow(argument.getType()) || argument.use_empty())
      continue;
    Operation *first = *argument.getUsers().begin();
    Type wide = isNarrowFloat(argument.getType()) ? Type(b.getF32Type()) : Type(b.getI8Type());
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(first) ||
        !llvm::all_of(argument.getUsers(), [&](auto *user) {
          return user->getName() == first->getName() &&
                 user->getResult(0).getType().getIntOrFloatBitWidth() >= wide.getIntOrFloatBitWidth();
        }))
      continue;
    operand->set(elementwise(b, op.getLoc(), operand->get(), wide, [&](OpBuilder &inner, Location at, Value value) {
      OperationState state(at, first->getName(), value, wide);
      return inner.create(state)->getResult(0);
    }));
    argument.setType(wide);
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      if (user->getResult(0).getType() != wide)
        continue;
      user->getResult(0).replaceAllUsesWith(argument);
      user->erase();
    }
  }
}

namespace {
// Between a tensor whose elements have a byte each and one of bytes that hold as many elements as they can, the first
// in the lowest bits.
class Packing {
public:
  Packing(OpBuilder &b, Location loc, RankedTensorType type, ValueRange dims)
      : b(b), loc(loc), type(type), dims(dims), bits(HAL::packedBitWidth(type)) {
    int64_t known = 1;
    for (int64_t extent : type.getShape())
      known *= ShapedType::isDynamic(extent) ? 1 : extent;
    count = b.getIndexAttr(known);
    for (Value dim : dims)
      count = arith::MulIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, count), dim).getResult();
    bytes = b.getIndexAttr(llvm::divideCeil(known, perByte()));
    if (!dims.empty())
      bytes = arith::CeilDivUIOp::create(b, loc, cast<Value>(count), index(perByte())).getResult();
  }

  RankedTensorType packedType() const { return tensorOf({bytes}, b.getI8Type()); }
  SmallVector<Value> packedDims() const { return dynamic(bytes); }

  Value unpack(Value packed) {
    Type element = type.getElementType();
    Value empty = tensor::EmptyOp::create(b, loc, {bytes, b.getIndexAttr(perByte())}, element);
    AffineMap identity = b.getMultiDimIdentityMap(2);
    Value parts = generic(packed, empty, {AffineMap::get(2, 0, b.getAffineDimExpr(0)), identity}, false,
                          [&](OpBuilder &inner, Location at, ValueRange arguments) {
                            Value part = arith::ShRUIOp::create(inner, at, arguments[0], shift(inner, at));
                            Value mask = byteConstant(inner, at, (1 << bits) - 1);
                            part = arith::AndIOp::create(inner, at, part, mask);
                            if (element.isInteger(1))
                              return arith::TruncIOp::create(inner, at, element, part).getResult();
                            return castTo(inner, at, element, part);
                          });
    if (isWhole())
      return reshape(parts, type, dims);
    Value all = tensor::CollapseShapeOp::create(b, loc, parts, ArrayRef<ReassociationIndices>{{0, 1}});
    Value used = tensor::ExtractSliceOp::create(b, loc, all, {b.getIndexAttr(0)}, {count}, {b.getIndexAttr(1)});
    return reshape(used, type, dims);
  }

  Value pack(Value tensor) {
    Type element = type.getElementType();
    Value all = reshape(tensor, tensorOf({count}, element), dynamic(count));
    if (!isWhole()) {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
      Value needed = arith::MulIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, bytes), index(perByte()));
      Value more = arith::SubIOp::create(b, loc, needed, getValueOrCreateConstantIndexOp(b, loc, count));
      all = tensor::PadOp::create(b, loc, RankedTensorType::get({ShapedType::kDynamic}, element), all,
                                  {b.getIndexAttr(0)}, {OpFoldResult(more)}, zero);
    }
    Value parts = reshape(all, tensorOf({bytes, b.getIndexAttr(perByte())}, element), packedDims());
    Value empty = tensor::EmptyOp::create(b, loc, {bytes}, b.getI8Type());
    Value zeros = linalg::FillOp::create(b, loc, byteConstant(b, loc, 0), empty).getResult(0);
    return generic(parts, zeros, {b.getMultiDimIdentityMap(2), AffineMap::get(2, 0, b.getAffineDimExpr(0))}, true,
                   [&](OpBuilder &inner, Location at, ValueRange arguments) {
                     Value part = element.isInteger(1)
                                      ? arith::ExtUIOp::create(inner, at, inner.getI8Type(), arguments[0]).getResult()
                                      : castTo(inner, at, inner.getI8Type(), arguments[0]);
                     part = arith::ShLIOp::create(inner, at, part, shift(inner, at));
                     return arith::OrIOp::create(inner, at, part, arguments[1]).getResult();
                   });
  }

private:
  int64_t perByte() const { return 8 / bits; }
  bool isWhole() const { return dims.empty() && cast<IntegerAttr>(cast<Attribute>(count)).getInt() % perByte() == 0; }
  static SmallVector<Value> dynamic(OpFoldResult extent) {
    auto value = dyn_cast<Value>(extent);
    return value ? SmallVector<Value>{value} : SmallVector<Value>();
  }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  RankedTensorType tensorOf(ArrayRef<OpFoldResult> shape, Type element) const {
    SmallVector<int64_t> extents;
    for (OpFoldResult extent : shape)
      extents.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
    return RankedTensorType::get(extents, element);
  }

  // How far the part of a byte that the inner loop is at stands from its lowest bit.
  Value shift(OpBuilder &inner, Location at) {
    Value part = arith::IndexCastOp::create(inner, at, inner.getI8Type(), linalg::IndexOp::create(inner, at, 1));
    return arith::MulIOp::create(inner, at, part, byteConstant(inner, at, bits));
  }

  Value reshape(Value tensor, RankedTensorType to, ValueRange resultDims) {
    if (tensor.getType() == to)
      return tensor;
    return TensorReshapeOp::create(b, loc, to, tensor, resultDims);
  }

  Value generic(Value input, Value init, ArrayRef<AffineMap> maps, bool reduces,
                function_ref<Value(OpBuilder &, Location, ValueRange)> compute) {
    using utils::IteratorType;
    SmallVector<IteratorType> loops = {IteratorType::parallel,
                                       reduces ? IteratorType::reduction : IteratorType::parallel};
    return linalg::GenericOp::create(b, loc, init.getType(), input, init, maps, loops,
                                     [&](OpBuilder &inner, Location at, ValueRange arguments) {
                                       linalg::YieldOp::create(inner, at, compute(inner, at, arguments));
                                     })
        .getResult(0);
  }

  OpBuilder &b;
  Location loc;
  RankedTensorType type;
  ValueRange dims;
  int64_t bits;
  OpFoldResult count, bytes;
};

class LowerNarrowTypesPass : public impl::LowerNarrowTypesPassBase<LowerNarrowTypesPass> {
public:
  void runOnOperation() override {
    if (!hasNarrowTypes())
      return;
    if (failed(expandScaling()) || failed(lowerOps()))
      return signalPassFailure();
    replaceTypes();
    for (auto [op, type] : exports)
      op.setEncoding(type);
    removeCasts();
  }

private:
  bool hasNarrowTypes() {
    return getOperation()
        .walk([](Operation *op) {
          bool found = llvm::any_of(op->getResultTypes(), isNarrow) || llvm::any_of(op->getOperandTypes(), isNarrow);
          if (auto global = dyn_cast<Util::GlobalOp>(op))
            found |= isNarrow(global.getType());
          return found ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  LogicalResult expandScaling() {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return success();
    RewritePatternSet patterns(&getContext());
    arith::populateExpandScalingExtTruncPatterns(patterns);
    return applyOpPatternsGreedily(ops, std::move(patterns));
  }

  LogicalResult lowerOps() {
    SmallVector<Operation *> ops;
    IRRewriter rewriter(&getContext());
    // Operations with names say what they compute by their types.
    collect(ops,
            [](Operation *op) { return isa<linalg::LinalgOp>(op) && !isa<linalg::GenericOp, linalg::FillOp>(op); });
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op))))
        return op->emitError() << "'" << op->getName() << "' is not supported on elements of less than a byte or "
                               << "floats of a byte";
    }
    collect(ops, llvm::IsaPred<linalg::GenericOp>);
    for (Operation *op : ops)
      hoistConversions(cast<linalg::GenericOp>(op));
    collect(ops, llvm::IsaPred<HAL::TensorImportOp, HAL::TensorExportOp, TensorBitcastOp, TensorParameterOp>);
    for (Operation *op : ops)
      if (failed(lowerBoundary(op)))
        return failure();
    collect(ops, [](Operation *op) {
      return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
             !llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
    });
    for (Operation *op : ops)
      if (failed(lowerScalarOp(op)))
        return failure();
    return success();
  }

  // The operations on narrow types that `choose` takes.
  void collect(SmallVector<Operation *> &ops, function_ref<bool(Operation *)> choose) {
    ops.clear();
    getOperation().walk([&](Operation *op) {
      if ((llvm::any_of(op->getResultTypes(), isNarrow) || llvm::any_of(op->getOperandTypes(), isNarrow)) && choose(op))
        ops.push_back(op);
    });
  }

  static bool isPacked(RankedTensorType type) { return HAL::packedBitWidth(type) % 8 != 0; }

  LogicalResult lowerBoundary(Operation *op) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    if (auto import = dyn_cast<HAL::TensorImportOp>(op)) {
      auto type = cast<RankedTensorType>(import.getType());
      if (!isPacked(type))
        return success();
      Packing packing(b, loc, type, import.getDynamicDims());
      Value packed = HAL::TensorImportOp::create(b, loc, packing.packedType(), import.getSource(), packing.packedDims(),
                                                 import.getDonated());
      import.replaceAllUsesWith(packing.unpack(packed));
      import.erase();
      return success();
    }
    if (auto parameter = dyn_cast<TensorParameterOp>(op)) {
      auto type = cast<RankedTensorType>(parameter.getType());
      if (!isPacked(type))
        return success();
      Packing packing(b, loc, type, {});
      NamedParameterAttr name = parameter.getParameter();
      auto packed = TensorParameterOp::create(
          b, loc, NamedParameterAttr::get(b.getContext(), name.getScope(), name.getKey(), packing.packedType()));
      parameter.replaceAllUsesWith(packing.unpack(packed));
      parameter.erase();
      return success();
    }
    if (auto exported = dyn_cast<HAL::TensorExportOp>(op)) {
      auto type = cast<RankedTensorType>(exported.getSource().getType());
      if (type.getElementType().isInteger(1))
        return success(); // a view has a byte for each
      exports.emplace_back(exported, type);
      if (isPacked(type))
        exported.getSourceMutable().assign(Packing(b, loc, type, exported.getDynamicDims()).pack(exported.getSource()));
      return success();
    }
    auto bitcast = cast<TensorBitcastOp>(op);
    auto from = cast<RankedTensorType>(bitcast.getSource().getType()), to = cast<RankedTensorType>(bitcast.getType());
    FailureOr<SmallVector<Value>> fromDims = dynamicDims(b, bitcast.getSource());
    if (failed(fromDims))
      return failure();
    Value value = bitcast.getSource();
    if (isPacked(from))
      value = Packing(b, loc, from, *fromDims).pack(value);
    if (!isPacked(to)) {
      value = TensorReshapeOp::create(b, loc, to, value, bitcast.getResultDims());
    } else {
      Packing packing(b, loc, to, bitcast.getResultDims());
      value = TensorReshapeOp::create(b, loc, packing.packedType(), value, packing.packedDims());
      value = packing.unpack(value);
    }
    bitcast.replaceAllUsesWith(value);
    bitcast.erase();
    return success();
  }

  static RankedTensorType withoutEncoding(RankedTensorType type) {
    Type element = type.getElementType();
    return RankedTensorType::get(type.getShape(),
                                 HAL::isNarrowElement(element) ? IntegerType::get(type.getContext(), 8) : element);
  }

  void replaceTypes() {
    AttrTypeReplacer replacer;
    addBitsReplacements(replacer, [byte = IntegerType::get(&getContext(), 8)](Type type) {
      return HAL::isNarrowElement(type) ? byte : IntegerType();
    });
    replacer.addReplacement([](RankedTensorType type) -> std::optional<Type> {
      return Encoding::isPacked(type) ? std::optional<Type>(withoutEncoding(type)) : std::nullopt;
    });
    using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
    replacer.addReplacement([&replacer](DenseElementsAttr attr) -> Replaced {
      if (!Encoding::isPacked(attr.getType()))
        return std::nullopt;
      auto plain = RankedTensorType::get(attr.getType().getShape(), attr.getElementType());
      return std::pair(replacer.replace(attr.reshape(plain)), WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }

  void removeCasts() {
    getOperation().walk([](UnrealizedConversionCastOp cast) {
      if (cast.getOperandTypes() != cast.getResultTypes())
        return;
      cast.replaceAllUsesWith(cast.getOperands());
      cast.erase();
    });
  }

  SmallVector<std::pair<HAL::TensorExportOp, RankedTensorType>> exports;
};
} // namespace
} // namespace kiln::Flow
