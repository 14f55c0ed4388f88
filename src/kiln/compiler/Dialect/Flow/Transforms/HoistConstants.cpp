#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_HOISTCONSTANTSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? llvm::divideCeil(tensor.getNumElements() * HAL::packedBitWidth(tensor), 8) : 0;
}

// The dispatches of a program that are the same in each call, and where they go.
class Hoister {
public:
  explicit Hoister(ModuleOp module) : module(module), symbols(module) {}

  void run() {
    // Programs for several devices say for each op where it runs; what a global holds is on the first.
    if (module.walk([](Operation *op) { return HAL::placeOf(op) ? WalkResult::interrupt() : WalkResult::advance(); })
            .wasInterrupted())
      return;
    SmallVector<Operation *> ops;
    for (auto func : module.getOps<Util::FuncOp>())
      func.walk([&](Operation *op) {
        if (isConstant(op))
          constants.insert(op);
      });
    for (Operation *op : constants)
      if (isa<DispatchOp>(op) && isNeeded(op))
        hoist(cast<DispatchOp>(op));
    if (initializer)
      Util::ReturnOp::create(builder, initializer.getLoc());
    for (Operation *op : llvm::reverse(constants))
      if (op->use_empty())
        op->erase();
  }

private:
  bool isConstant(Operation *op) {
    if (isa<arith::ConstantOp, TensorParameterOp>(op))
      return true;
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return constants.contains(operand.getDefiningOp()); }))
      return false;
    if (isa<TensorReshapeOp>(op))
      return cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
    auto dispatch = dyn_cast<DispatchOp>(op);
    if (!dispatch || mayFail(dispatch))
      return false;
    int64_t taken = 0, made = 0;
    for (Type type : dispatch->getOperandTypes())
      taken += bytesOf(type);
    for (Type type : dispatch->getResultTypes()) {
      if (!cast<RankedTensorType>(type).hasStaticShape())
        return false;
      made += bytesOf(type);
    }
    return made <= mostBytesKept(taken);
  }

  // A branch that no call takes may hold what fails.
  bool mayFail(DispatchOp dispatch) {
    StringAttr name = dispatch.getEntry().getRootReference();
    auto [known, isNew] = failing.try_emplace(name, false);
    if (isNew)
      known->second = symbols.lookup(name)->walk([](cf::AssertOp) { return WalkResult::interrupt(); }).wasInterrupted();
    return known->second;
  }

  // What only leads to results of the program is copied in each call anyway.
  bool isNeeded(Operation *op) {
    for (Operation *user : op->getUsers()) {
      if (isa<DispatchOp>(user) && !constants.contains(user))
        return true;
      if (isa<TensorReshapeOp>(user) && isNeeded(user))
        return true;
    }
    return false;
  }

  void hoist(DispatchOp dispatch) {
    Location loc = module.getLoc();
    if (!initializer) {
      builder.setInsertionPointToEnd(module.getBody());
      initializer = Util::InitializerOp::create(builder, loc);
      builder.setInsertionPointToStart(&initializer.getBody().emplaceBlock());
    }
    clone(dispatch);
    for (Value result : dispatch.getResults()) {
      if (result.use_empty())
        continue;
      Util::GlobalOp &global = globals[moved.lookup(result)];
      if (!global) {
        OpBuilder beside(initializer);
        global = Util::GlobalOp::create(beside, loc, "__hoisted", result.getType());
        global->setAttr(Util::kComputedOnce, beside.getUnitAttr());
        symbols.insert(global);
        Util::GlobalStoreOp::create(builder, loc, moved.lookup(result), global.getSymName());
      }
      OpBuilder user(dispatch);
      Value loaded = Util::GlobalLoadOp::create(user, dispatch.getLoc(), result.getType(), global.getSymName());
      replaceOutside(result, loaded);
    }
  }

  // Those that are hoisted, too, take it where it is made.
  void replaceOutside(Value value, Value loaded) {
    for (Operation *user : llvm::to_vector(value.getUsers()))
      if (isa<TensorReshapeOp>(user) && constants.contains(user) && isNeeded(user)) {
        OpBuilder behind(user);
        replaceOutside(user->getResult(0), TensorReshapeOp::create(behind, user->getLoc(), user->getResult(0).getType(),
                                                                   loaded, ValueRange()));
      }
    value.replaceUsesWithIf(loaded, [&](OpOperand &use) { return !constants.contains(use.getOwner()); });
  }

  void clone(Operation *op) {
    if (moved.contains(op->getResult(0)))
      return;
    for (Value operand : op->getOperands())
      clone(operand.getDefiningOp());
    // What several functions have is made once.
    Operation *made = builder.clone(*op, moved);
    const auto hash = static_cast<size_t>(OperationEquivalence::computeHash(made, OperationEquivalence::directHashValue,
                                                                            OperationEquivalence::ignoreHashValue,
                                                                            OperationEquivalence::IgnoreLocations));
    for (Operation *other : known[hash])
      if (OperationEquivalence::isEquivalentTo(other, made, OperationEquivalence::IgnoreLocations)) {
        moved.map(op->getResults(), other->getResults());
        made->erase();
        return;
      }
    known[hash].push_back(made);
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder{module.getContext()};
  Util::InitializerOp initializer;
  IRMapping moved;
  DenseMap<size_t, SmallVector<Operation *>> known; // of the initializer, by what they are
  DenseMap<Value, Util::GlobalOp> globals;          // by what they hold
  llvm::SetVector<Operation *> constants;           // in the order of the program
  DenseMap<StringAttr, bool> failing;
};

class HoistConstantsPass : public impl::HoistConstantsPassBase<HoistConstantsPass> {
public:
  explicit HoistConstantsPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    if (context->options.evaluateConstants)
      Hoister(getOperation()).run();
  }

private:
  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createHoistConstantsPass(const CompilerContext &context) {
  return std::make_unique<HoistConstantsPass>(context);
}

} // namespace kiln::Flow
