#include "kiln/compiler/Codegen/BooleanMemory.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace kiln {

static bool isBooleanMemory(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.getElementType().isInteger(1);
}

static void makeBytes(Value value) {
  auto type = cast<MemRefType>(value.getType());
  value.setType(MemRefType::Builder(type).setElementType(IntegerType::get(type.getContext(), 8)));
}

static Type elementsOf(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

// A constant of i1 becomes one of bytes, under the same name; all its users are in the dispatch.
static LogicalResult convertGlobal(memref::GetGlobalOp get) {
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(get, get.getNameAttr());
  if (!global || !global.getType().getElementType().isInteger(1))
    return success();
  auto values = dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr());
  if (!values)
    return global.emitOpError("holds i1 in a form that llvm-cpu does not store");
  Type byte = IntegerType::get(get.getContext(), 8);
  global.setInitialValueAttr(values.mapValues(byte, [](const APInt &bit) { return bit.zext(8); }));
  global.setType(MemRefType::Builder(global.getType()).setElementType(byte));
  return success();
}

LogicalResult convertBooleanMemory(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<Operation *> users;
  SmallVector<Value> values;
  WalkResult result = function.walk([&](Operation *op) {
    if (llvm::any_of(op->getOperands(), isBooleanMemory))
      users.push_back(op);
    for (Value value : op->getResults())
      if (isBooleanMemory(value))
        values.push_back(value);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isBooleanMemory(argument))
            values.push_back(argument);
    if (auto get = dyn_cast<memref::GetGlobalOp>(op); get && isBooleanMemory(get) && failed(convertGlobal(get)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  llvm::for_each(values, makeBytes);

  Type bit = rewriter.getI1Type(), byte = rewriter.getI8Type();
  OpBuilder::InsertionGuard guard(rewriter);
  for (Operation *op : users) {
    Location loc = op->getLoc();
    if (isa<memref::LoadOp, vector::LoadOp, vector::TransferReadOp>(op)) {
      Value loaded = op->getResult(0);
      rewriter.setInsertionPointAfter(op);
      loaded.setType(elementsOf(loaded.getType(), byte));
      auto bits = arith::TruncIOp::create(rewriter, loc, elementsOf(loaded.getType(), bit), loaded);
      rewriter.replaceAllUsesExcept(loaded, bits, bits);
      if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
        rewriter.setInsertionPoint(op);
        Value padding = arith::ExtUIOp::create(rewriter, loc, byte, read.getPadding());
        read.getPaddingMutable().assign(padding);
      }
    } else if (isa<memref::StoreOp, vector::StoreOp, vector::TransferWriteOp>(op)) {
      rewriter.setInsertionPoint(op);
      OpOperand &stored = op->getOpOperand(0);
      stored.set(arith::ExtUIOp::create(rewriter, loc, elementsOf(stored.get().getType(), byte), stored.get()));
    } else if (!isa<linalg::LinalgOp, ViewLikeOpInterface, LoopLikeOpInterface, memref::CopyOp, memref::DimOp,
                    memref::DeallocOp, scf::YieldOp>(op)) {
      return op->emitOpError("has no form for i1 in memory");
    }
  }
  return success();
}

} // namespace kiln
