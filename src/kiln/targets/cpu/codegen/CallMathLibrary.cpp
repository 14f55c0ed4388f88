#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/math/LibraryFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CALLMATHLIBRARY
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

namespace {

// Makes one op calls of a function of the C library.
class Caller {
public:
  Caller(ModuleOp module, Operation *op, StringRef function, const CpuTarget &target)
      : module(module), op(op), element(getElementTypeOrSelf(op->getResult(0).getType())),
        function(function.str() + (element.isF32() ? "f" : "")), target(target), b(op) {}

  Value call() {
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type)
      return call(function, element, op->getOperands());
    return hasVectorFunctions(target) ? callWithVectors(type.getDimSize(0)) : callWithElements(type);
  }

private:
  Value call(StringRef name, Type type, ValueRange arguments) {
    auto callee = module.lookupSymbol<func::FuncOp>(name);
    if (!callee) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      SmallVector<Type> inputs(arguments.size(), type);
      callee = func::FuncOp::create(top, module.getLoc(), name, top.getFunctionType(inputs, type));
      callee.setPrivate();
    }
    return func::CallOp::create(b, op->getLoc(), callee, arguments).getResult(0);
  }

  Value callWithElements(VectorType type) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getDimSize(0); ++i) {
      SmallVector<Value> arguments;
      for (Value operand : op->getOperands())
        arguments.push_back(vector::ExtractOp::create(b, op->getLoc(), operand, ArrayRef<int64_t>{i}));
      elements.push_back(call(function, element, arguments));
    }
    return vector::FromElementsOp::create(b, op->getLoc(), type, elements);
  }

  // One call for each register. One that is not full repeats its first element, which costs no time of its own: a zero
  // might be a case that the function treats apart.
  Value callWithVectors(int64_t count) {
    int64_t bits = element.getIntOrFloatBitWidth(), registerBits = 128;
    while (registerBits < count * bits && registerBits < target.nativeVectorBits)
      registerBits *= 2;
    int64_t lanes = registerBits / bits;
    auto type = VectorType::get(lanes, element);
    std::string name = vectorFunctionName(function, op->getNumOperands(), registerBits, lanes, target);
    Value all;
    for (int64_t first = 0; first < count; first += lanes) {
      SmallVector<int64_t> from(lanes);
      for (int64_t lane = 0; lane < lanes; ++lane)
        from[lane] = first + lane < count ? first + lane : first;
      SmallVector<Value> arguments;
      for (Value operand : op->getOperands())
        arguments.push_back(lanes == count ? operand : shuffle(operand, operand, from));
      Value piece = call(name, type, arguments);
      int64_t before = first, after = std::min(count, first + lanes);
      SmallVector<int64_t> joined(after);
      std::iota(joined.begin(), joined.end(), 0);
      if (before != 0)
        all = shuffle(all, piece, joined);
      else
        all = after == lanes ? piece : shuffle(piece, piece, joined);
    }
    return all;
  }

  Value shuffle(Value first, Value second, ArrayRef<int64_t> from) {
    return vector::ShuffleOp::create(b, op->getLoc(), first, second, from);
  }

  ModuleOp module;
  Operation *op;
  Type element;
  std::string function;
  const CpuTarget &target;
  OpBuilder b;
};

class CallMathLibrary : public impl::CallMathLibraryBase<CallMathLibrary> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    CpuTarget target = CpuTarget::of(module);
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
      if (vectorType && vectorType.isScalable()) {
        op->emitOpError("works on a vector whose length only the machine knows");
        return signalPassFailure();
      }
      if (vectorType && vectorType.getRank() != 1) {
        op->emitOpError("works on a vector of ")
            << vectorType.getRank() << " dimensions, which is not split into registers";
        return signalPassFailure();
      }
      op->replaceAllUsesWith(ValueRange(Caller(module, op, name, target).call()));
      op->erase();
    }
  }
};

} // namespace
} // namespace kiln
