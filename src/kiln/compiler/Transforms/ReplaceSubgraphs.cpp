#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/TransformOps/KilnTransformOps.h"
#include "kiln/compiler/TransformOps/SubgraphOps.h"
#include "kiln/compiler/TransformOps/TransformSpec.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_REPLACESUBGRAPHSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {
class ReplaceSubgraphsPass : public impl::ReplaceSubgraphsPassBase<ReplaceSubgraphsPass> {
public:
  explicit ReplaceSubgraphsPass(const CompilerContext &context) : context(&context) {}
  ReplaceSubgraphsPass(const ReplaceSubgraphsPass &other)
      : ReplaceSubgraphsPassBase(other), context(other.context), spec(other.spec) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    if (context->options.preprocessingSpec.empty())
      return;
    registerTransformExtension(registry);
    OpPassManager input(ModuleOp::getOperationName());
    buildInputConversion(input, *context);
    input.getDependentDialects(registry);
  }

  LogicalResult initialize(MLIRContext *mlirContext) override {
    if (context->options.preprocessingSpec.empty())
      return success();
    auto loaded = TransformSpec::load(mlirContext, context->options.preprocessingSpec, {"__transform_main"});
    if (failed(loaded))
      return failure();
    spec = std::move(*loaded);
    return success();
  }

  void runOnOperation() override {
    if (!spec)
      return;
    ModuleOp module = getOperation();
    llvm::SmallPtrSet<Operation *, 32> before;
    for (Operation &op : *module.getBody())
      before.insert(&op);
    if (failed(spec->apply(module)))
      return signalPassFailure();
    SmallVector<Operation *> imported;
    for (Operation &op : *module.getBody())
      if (!before.contains(&op))
        imported.push_back(&op);
    if ((!imported.empty() && failed(takeIn(imported))) || failed(mlir::verify(module)))
      signalPassFailure();
  }

private:
  // What the spec has imported is converted as a program is, in a module of its own, and its functions become part of
  // what calls them.
  LogicalResult takeIn(ArrayRef<Operation *> imported) {
    ModuleOp module = getOperation();
    OpBuilder builder(module.getBody(), module.getBody()->end());
    auto inner = ModuleOp::create(builder, module.getLoc());
    for (Operation *op : imported) {
      op->moveBefore(inner.getBody(), inner.getBody()->end());
      op->removeAttr(kImportedAttr);
      // Private functions that nothing calls would be gone; those that call each other are inlined there.
      if (isa<FunctionOpInterface>(op))
        SymbolTable::setSymbolVisibility(op, SymbolTable::Visibility::Public);
    }
    OpPassManager conversion(ModuleOp::getOperationName());
    buildInputConversion(conversion, *context);
    if (failed(runPipeline(conversion, inner)))
      return failure();
    SymbolTable functions(inner);
    WalkResult result = module.walk([&](Util::CallOp call) {
      auto function = functions.lookup<FunctionOpInterface>(call.getCallee());
      if (!function)
        return WalkResult::advance();
      if (!function.getFunctionBody().hasOneBlock()) {
        call.emitError() << "the spec's function '@" << call.getCallee()
                         << "' has branches or no body; write what it does with scf.if and scf.while";
        return WalkResult::interrupt();
      }
      OpBuilder at(call);
      IRMapping values;
      Block &body = function.getFunctionBody().front();
      values.map(body.getArguments(), call.getOperands());
      for (Operation &op : body.without_terminator())
        at.clone(op, values);
      for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
        result.replaceAllUsesWith(values.lookup(value));
      call.erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    for (Operation &op : llvm::make_early_inc_range(*inner.getBody()))
      if (!isa<FunctionOpInterface>(op))
        op.moveBefore(inner);
    inner.erase();
    return success();
  }

  const CompilerContext *context;
  std::shared_ptr<const TransformSpec> spec;
};
} // namespace

std::unique_ptr<Pass> createReplaceSubgraphsPass(const CompilerContext &context) {
  return std::make_unique<ReplaceSubgraphsPass>(context);
}

} // namespace kiln
