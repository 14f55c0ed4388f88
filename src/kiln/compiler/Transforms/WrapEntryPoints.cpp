#include "kiln/compiler/Transforms/Transforms.h"

#include "kiln/compiler/Dialect/Check/IR/CheckOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_WRAPENTRYPOINTSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

// The type that callers use for a scalar.
static Type boundaryType(Type type) {
  Builder builder(type.getContext());
  if (isa<RankedTensorType>(type))
    return HAL::BufferViewType::get(type.getContext());
  if (type.isIndex())
    return builder.getI64Type();
  if (auto number = dyn_cast<FloatType>(type); number && number.getWidth() < 32)
    return builder.getF32Type();
  if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() < 32)
    return builder.getI32Type();
  return type;
}

static Value toProgram(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (isa<FloatType>(type))
    return arith::TruncFOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

static Value toBoundary(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(builder, loc, type, value);
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}

static bool isDonated(func::FuncOp func, unsigned argument) {
  return func.getArgAttr(argument, HAL::kDonatedAttr) && isa<RankedTensorType>(func.getArgumentTypes()[argument]);
}

// "sync func @abs(%input0: tensor<f32>) -> (%output0: tensor<f32>)"
static std::string declarationOf(func::FuncOp func) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "sync func @" << func.getSymName() << "(";
  llvm::interleaveComma(llvm::enumerate(func.getArgumentTypes()), os, [&](auto it) {
    os << "%input" << it.index() << ": " << it.value();
    if (isDonated(func, it.index()))
      os << " {" << HAL::kDonatedAttr << "}";
  });
  os << ") -> (";
  llvm::interleaveComma(llvm::enumerate(func.getResultTypes()), os,
                        [&](auto it) { os << "%output" << it.index() << ": " << it.value(); });
  os << ")";
  return text;
}

namespace {
class WrapEntryPointsPass : public impl::WrapEntryPointsPassBase<WrapEntryPointsPass> {
public:
  void runOnOperation() override {
    for (func::FuncOp func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (func.isPublic())
        wrap(func);
      func.erase();
    }
  }

private:
  void wrap(func::FuncOp func) {
    OpBuilder builder(func);
    Location loc = func.getLoc();
    SmallVector<Type> arguments = llvm::map_to_vector(func.getArgumentTypes(), boundaryType);
    SmallVector<Type> results = llvm::map_to_vector(func.getResultTypes(), boundaryType);
    auto entry = Util::FuncOp::create(builder, loc, func.getSymName(), builder.getFunctionType(arguments, results));
    entry.setPublic();
    entry->setAttr("kiln.abi.declaration", builder.getStringAttr(declarationOf(func)));
    for (NamedAttribute attr : func->getDiscardableAttrs())
      entry->setAttr(attr.getName(), attr.getValue());

    // The body moves over; its arguments are replaced by what is made of the new ones before it.
    Block &body = func.getBody().front();
    entry.getBody().takeBody(func.getBody());
    builder.setInsertionPointToStart(&body);
    unsigned count = body.getNumArguments();
    for (unsigned i = 0; i < count; ++i) {
      BlockArgument old = body.getArgument(i);
      Value given = body.addArgument(arguments[i], old.getLoc());
      Value value;
      if (auto tensor = dyn_cast<RankedTensorType>(old.getType()))
        value = importTensor(builder, old.getLoc(), given, tensor, i, isDonated(func, i));
      else
        value = toProgram(builder, old.getLoc(), given, old.getType());
      old.replaceAllUsesWith(value);
    }
    body.eraseArguments(0, count);
    donateViews(builder, func, body);

    entry.walk([&](Operation *op) {
      if (isa_and_nonnull<Check::CheckDialect>(op->getDialect()))
        wrapCheck(op);
    });
    Operation *ret = body.getTerminator();
    builder.setInsertionPoint(ret);
    SmallVector<Value> returned;
    for (auto [value, type] : llvm::zip(ret->getOperands(), results)) {
      if (isa<RankedTensorType>(value.getType()))
        returned.push_back(exportTensor(builder, ret->getLoc(), value));
      else
        returned.push_back(toBoundary(builder, ret->getLoc(), value, type));
    }
    Util::ReturnOp::create(builder, ret->getLoc(), returned);
    ret->erase();
  }

  // When all arguments have been checked, so that a call that fails for them has taken none.
  void donateViews(OpBuilder &builder, func::FuncOp func, Block &body) {
    for (BlockArgument view : body.getArguments()) {
      if (!isDonated(func, view.getArgNumber()))
        continue;
      SmallVector<Value> others;
      for (BlockArgument other : body.getArguments())
        if (other != view && other.getType() == view.getType())
          others.push_back(other);
      HAL::BufferViewDonateOp::create(builder, view.getLoc(), view,
                                      labelOf(builder, view.getLoc(), view.getArgNumber()), others);
    }
  }

  Value labelOf(OpBuilder &builder, Location loc, unsigned argument) {
    return Util::RodataOp::create(builder, loc, Util::BufferType::get(&getContext()),
                                  builder.getStringAttr("input" + Twine(argument)));
  }

  // What is expected of values is asked of whoever runs the program.
  void wrapCheck(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto check = dyn_cast<Check::ExpectEqConstOp>(op)) {
      Value expected = arith::ConstantOp::create(builder, loc, check.getExpected());
      op = Check::ExpectEqOp::create(builder, loc, check.getActual(), expected);
      check.erase();
    } else if (auto check = dyn_cast<Check::ExpectAlmostEqConstOp>(op)) {
      Value expected = arith::ConstantOp::create(builder, loc, check.getExpected());
      op = Check::ExpectAlmostEqOp::create(builder, loc, check.getActual(), expected, check.getAtol(), check.getRtol());
      check.erase();
    }
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (isa<RankedTensorType>(value.getType()))
        operand.set(exportTensor(builder, loc, value));
      else
        operand.set(truthOf(builder, loc, toBoundary(builder, loc, value, boundaryType(value.getType()))));
    }
  }

  // What the functions of check take, an i32 that is zero where the value is: -0.0 is, and 2^32 is not.
  static Value truthOf(OpBuilder &builder, Location loc, Value value) {
    Type i32 = builder.getI32Type(), type = value.getType();
    if (type == i32)
      return value;
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Value differs = isa<FloatType>(type)
                        ? Value(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, value, zero))
                        : Value(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero));
    return arith::ExtUIOp::create(builder, loc, i32, differs);
  }

  // Checks the view first, so that the extents that are read are those of a view of the right rank.
  Value importTensor(OpBuilder &builder, Location loc, Value view, RankedTensorType type, unsigned index,
                     bool isDonated) {
    Value label = labelOf(builder, loc, index);
    Value elementType = arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(HAL::elementTypeNumber(type.getElementType())));
    SmallVector<Value> shape;
    for (int64_t extent : type.getShape())
      shape.push_back(arith::ConstantIndexOp::create(builder, loc, ShapedType::isDynamic(extent) ? -1 : extent));
    HAL::BufferViewAssertOp::create(builder, loc, view, label, elementType, shape);
    SmallVector<Value> dims;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i))
        continue;
      Value dimension = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i));
      dims.push_back(HAL::BufferViewDimOp::create(builder, loc, builder.getIndexType(), view, dimension));
    }
    return HAL::TensorImportOp::create(builder, loc, type, view, dims, isDonated);
  }

  Value exportTensor(OpBuilder &builder, Location loc, Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<Value> dims;
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(i))
        dims.push_back(tensor::DimOp::create(builder, loc, tensor, i));
    return HAL::TensorExportOp::create(builder, loc, HAL::BufferViewType::get(&getContext()), tensor, dims,
                                       /*encoding=*/TypeAttr());
  }
};
} // namespace
} // namespace kiln
