#include "kiln/compiler/Codegen/NarrowFloats.h"

#include "kiln/compiler/Interfaces/ConvertTypes.h"
#include "kiln/compiler/Interfaces/FloatBuilder.h"
#include "kiln/compiler/Interfaces/RoundIntegers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace kiln {

static Type withElement(Type type, Type elementType) {
  auto vectorType = dyn_cast<VectorType>(type);
  return vectorType ? Type(vectorType.clone(elementType)) : elementType;
}

static bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

bool computesNarrow(Operation *op, const FloatSupport &support) {
  bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect()) && !isa<math::AbsFOp, math::CopySignOp>(op);
  if (!isMath && !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::MaximumFOp,
                      arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SIToFPOp,
                      arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, vector::FMAOp, vector::ReductionOp>(op))
    return false;
  Type narrow;
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (isNarrow(type))
      narrow = getElementTypeOrSelf(type);
  if (!narrow)
    return false;
  bool native = narrow.isF16() && support.computesF16;
  return isMath || !native;
}

void computeInF32(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type wide = b.getF32Type();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isNarrow(operand.getType())
                           ? arith::ExtFOp::create(b, loc, withElement(operand.getType(), wide), operand).getResult()
                           : operand);
  // An i32 is rounded twice on the way through f32 where the result has fewer bits than f32, but more range than f16.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isBF16() &&
      getElementTypeOrSelf(op->getOperand(0).getType()).getIntOrFloatBitWidth() > 24) {
    wide = b.getF64Type();
    operands[0] = fitIntoF64(b, loc, operands[0], isa<arith::SIToFPOp>(op));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(isNarrow(type) ? withElement(type, wide) : type);
  OperationState state(loc, op->getName(), operands, types, op->getAttrs());
  Operation *computed = b.create(state);
  for (auto [result, value] : llvm::zip(op->getResults(), computed->getResults())) {
    Value narrow = value;
    if (value.getType() != result.getType())
      narrow = arith::TruncFOp::create(b, loc, result.getType(), value);
    result.replaceAllUsesWith(narrow);
  }
  op->erase();
}

//===--- Conversions ----------------------------------------------------------------------------------------------===//

// bf16 is the upper half of f32.
static Value extendBF16(FloatBuilder &f, Value x) {
  OpBuilder &b = f.builder();
  Value half = arith::BitcastOp::create(b, f.location(), f.sameShape(b.getI16Type()), x);
  Value bits = arith::ExtUIOp::create(b, f.location(), f.sameShape(b.getI32Type()), half);
  return f.fromBits(f.shiftLeft(bits, 16));
}

static Value truncateBits(FloatBuilder &f, Value bits, Type narrow) {
  OpBuilder &b = f.builder();
  Value half = arith::TruncIOp::create(b, f.location(), f.sameShape(b.getI16Type()), bits);
  return arith::BitcastOp::create(b, f.location(), f.sameShape(narrow), half);
}

static Value truncateToBF16(FloatBuilder &f, Value x) {
  Value bits = f.bits(x);
  Value even = f.andBits(f.shiftRight(bits, 16), f.bitsConstant(1));
  Value rounded = f.addBits(f.addBits(bits, f.bitsConstant(0x7fff)), even);
  Value quiet = f.orBits(bits, f.bitsConstant(0x400000));
  Value isNaN = f.compare(CmpFPredicate::UNO, x, x);
  return truncateBits(f, f.shiftRight(f.select(isNaN, quiet, rounded), 16), f.builder().getBF16Type());
}

static Value extendF16(FloatBuilder &f, Value x) {
  OpBuilder &b = f.builder();
  Value half = arith::BitcastOp::create(b, f.location(), f.sameShape(b.getI16Type()), x);
  Value bits = arith::ExtUIOp::create(b, f.location(), f.sameShape(b.getI32Type()), half);
  Value magnitude = f.shiftLeft(f.andBits(bits, f.bitsConstant(0x7fff)), 13);
  Value sign = f.shiftLeft(f.andBits(bits, f.bitsConstant(0x8000)), 16);
  // Multiplying by 2^112 corrects the exponent, of subnormal numbers too; infinity and NaN keep the largest one.
  Value scaled = f.bits(f.mul(f.fromBits(magnitude), f.fromBits(f.bitsConstant(0x77800000))));
  Value special =
      arith::CmpIOp::create(b, f.location(), arith::CmpIPredicate::uge, magnitude, f.bitsConstant(0x0f800000));
  Value result = f.select(special, f.orBits(magnitude, f.bitsConstant(0x7f800000)), scaled);
  return f.fromBits(f.orBits(result, sign));
}

static Value truncateToF16(FloatBuilder &f, Value x) {
  OpBuilder &b = f.builder();
  auto below = [&](Value bits, uint32_t bound) -> Value {
    return arith::CmpIOp::create(b, f.location(), arith::CmpIPredicate::ult, bits, f.bitsConstant(bound));
  };
  Value bits = f.bits(x);
  Value magnitude = f.andBits(bits, f.bitsConstant(0x7fffffff));
  Value sign = f.shiftRight(f.andBits(bits, f.bitsConstant(0x80000000)), 16);
  // Normal results: a smaller exponent, and rounding to even of the 13 bits that go away.
  Value even = f.andBits(f.shiftRight(magnitude, 13), f.bitsConstant(1));
  Value normal = f.shiftRight(f.addBits(f.addBits(magnitude, f.bitsConstant(0xc8000fff)), even), 13);
  // Subnormal results: adding 0.5 rounds to multiples of the smallest of them.
  Value subnormal = f.subBits(f.bits(f.add(f.fromBits(magnitude), f.constant(0.5))), f.bitsConstant(0x3f000000));
  Value result = f.select(below(magnitude, 0x38800000), subnormal, normal);
  Value special = f.select(below(magnitude, 0x7f800001), f.bitsConstant(0x7c00), f.bitsConstant(0x7e00));
  result = f.select(below(magnitude, 0x47800000), result, special);
  return truncateBits(f, f.orBits(result, sign), b.getF16Type());
}

void expandConversion(Operation *op, const FloatSupport &support) {
  bool extends = isa<arith::ExtFOp>(op);
  Type narrowType = extends ? op->getOperand(0).getType() : op->getResult(0).getType();
  Type wideType = extends ? op->getResult(0).getType() : op->getOperand(0).getType();
  if (!isNarrow(narrowType))
    return;
  bool isBF16 = getElementTypeOrSelf(narrowType).isBF16(), isDouble = getElementTypeOrSelf(wideType).isF64();
  bool hasF16 = support.convertsF16, hasBF16 = support.roundsToBF16 && !isa<ShapedType>(narrowType);
  if (!isDouble && (isBF16 ? hasBF16 && !extends : hasF16))
    return;

  OpBuilder b(op);
  FloatBuilder f(b, op->getLoc(), withElement(wideType, b.getF32Type()), /*hasFMA=*/false);
  Value x = op->getOperand(0), result;
  if (extends) {
    if (isBF16)
      result = extendBF16(f, x);
    else if (hasF16)
      result = arith::ExtFOp::create(b, op->getLoc(), withElement(wideType, b.getF32Type()), x);
    else
      result = extendF16(f, x);
    if (isDouble)
      result = arith::ExtFOp::create(b, op->getLoc(), wideType, result);
  } else {
    if (isDouble)
      x = f.roundToOdd(x);
    if (isBF16 && !hasBF16)
      result = truncateToBF16(f, x);
    else if (isBF16 || hasF16)
      result = arith::TruncFOp::create(b, op->getLoc(), narrowType, x);
    else
      result = truncateToF16(f, x);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

//===--- Storage --------------------------------------------------------------------------------------------------===//

// The operations on bf16 that look at its sign only.
static void computeSignInBits(Operation *op) {
  Type type = op->getResultTypes().front();
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type bitsType = withElement(type, b.getI16Type());
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attr = b.getIntegerAttr(b.getI16Type(), APInt(16, value, /*isSigned=*/true));
    if (auto vectorType = dyn_cast<VectorType>(bitsType))
      attr = DenseElementsAttr::get(vectorType, attr);
    return LLVM::ConstantOp::create(b, loc, bitsType, attr);
  };
  auto bits = [&](Value value) -> Value { return LLVM::BitcastOp::create(b, loc, bitsType, value); };
  Value x = bits(op->getOperand(0)), sign = constant(-0x8000), rest = constant(0x7fff), result;
  if (isa<LLVM::FNegOp>(op))
    result = LLVM::XOrOp::create(b, loc, x, sign);
  else
    result = LLVM::AndOp::create(b, loc, x, rest);
  if (isa<LLVM::CopySignOp>(op))
    result = LLVM::OrOp::create(b, loc, result, LLVM::AndOp::create(b, loc, bits(op->getOperand(1)), sign));
  op->getResult(0).replaceAllUsesWith(LLVM::BitcastOp::create(b, loc, type, result));
  op->erase();
}

void storeBF16AsBits(ModuleOp module) {
  SmallVector<Operation *> signs;
  module.walk([&](Operation *op) {
    if (isa<LLVM::FNegOp, LLVM::FAbsOp, LLVM::CopySignOp>(op) &&
        getElementTypeOrSelf(op->getResultTypes().front()).isBF16())
      signs.push_back(op);
  });
  llvm::for_each(signs, computeSignInBits);

  AttrTypeReplacer replacer;
  addBitsReplacements(replacer, [bits = IntegerType::get(module.getContext(), 16)](Type type) {
    return type.isBF16() ? bits : IntegerType();
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

} // namespace kiln
