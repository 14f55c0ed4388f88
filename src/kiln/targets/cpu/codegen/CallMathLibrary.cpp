#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/math/LibraryFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CALLMATHLIBRARY
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

namespace {

class CallMathLibrary : public impl::CallMathLibraryBase<CallMathLibrary> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<std::pair<Operation *, StringRef>> calls;
    module.walk([&](Operation *op) {
      StringRef name = libraryFunctionOf(op->getName().getStringRef());
      if (!name.empty())
        calls.emplace_back(op, name);
    });
    for (auto [op, name] : calls) {
      Type element = getElementTypeOrSelf(op->getResult(0).getType());
      if (!element.isF32() && !element.isF64()) {
        op->emitOpError("has no function in the C library for elements of ") << element;
        return signalPassFailure();
      }
      auto vectorType = dyn_cast<VectorType>(op->getResult(0).getType());
      if (vectorType && vectorType.getRank() != 1) {
        op->emitOpError("works on a vector of ")
            << vectorType.getRank() << " dimensions, which is not split into registers";
        return signalPassFailure();
      }
      replaceByCalls(op,
                     declare(module, element.isF32() ? (name + "f").str() : name.str(), op->getNumOperands(), element));
    }
  }

  static func::FuncOp declare(ModuleOp module, StringRef name, unsigned operands, Type element) {
    if (auto known = module.lookupSymbol<func::FuncOp>(name))
      return known;
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<Type> inputs(operands, element);
    auto function = func::FuncOp::create(b, module.getLoc(), name, b.getFunctionType(inputs, element));
    function.setPrivate();
    return function;
  }

  static void replaceByCalls(Operation *op, func::FuncOp function) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto vectorType = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!vectorType) {
      op->replaceAllUsesWith(func::CallOp::create(b, loc, function, op->getOperands()));
      op->erase();
      return;
    }
    SmallVector<Value> elements;
    for (int64_t i = 0; i < vectorType.getDimSize(0); ++i) {
      SmallVector<Value> arguments;
      for (Value operand : op->getOperands())
        arguments.push_back(vector::ExtractOp::create(b, loc, operand, ArrayRef<int64_t>{i}));
      elements.push_back(func::CallOp::create(b, loc, function, arguments).getResult(0));
    }
    op->getResult(0).replaceAllUsesWith(vector::FromElementsOp::create(b, loc, vectorType, elements).getResult());
    op->erase();
  }
};

} // namespace
} // namespace kiln
