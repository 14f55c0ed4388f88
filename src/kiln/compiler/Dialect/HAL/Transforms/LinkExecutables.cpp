#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"

using namespace mlir;

namespace kiln::HAL {
#define GEN_PASS_DEF_LINKEXECUTABLESPASS
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

namespace {
class LinkExecutablesPass : public impl::LinkExecutablesPassBase<LinkExecutablesPass> {
public:
  explicit LinkExecutablesPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    auto executables = llvm::to_vector(getOperation().getOps<ExecutableOp>());
    if (executables.size() < 2 || !canLink(executables))
      return;
    OpBuilder builder(executables.front());
    StringRef module = getOperation().getName().value_or("module");
    std::string name = (module + "_linked").str();
    auto linked = ExecutableOp::create(builder, getOperation().getLoc(), name);

    // One variant for each target, in the order of the first executable; exports keep the executables' order.
    Block &body = linked.getBody().front();
    for (ExecutableOp executable : executables) {
      for (auto variant : executable.getBody().front().getOps<ExecutableVariantOp>())
        merge(variant, body);
    }
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](SymbolRefAttr ref) -> std::optional<Attribute> {
      for (ExecutableOp executable : executables)
        if (ref.getRootReference() == executable.getSymNameAttr() && ref.getNestedReferences().size() == 1)
          return SymbolRefAttr::get(linked.getSymNameAttr(), ref.getNestedReferences());
      return std::nullopt;
    });
    getOperation().walk([&](Stream::CmdDispatchOp dispatch) { replacer.replaceElementsIn(dispatch); });
    for (ExecutableOp executable : executables)
      executable.erase();
  }

private:
  bool canLink(ArrayRef<ExecutableOp> executables) {
    for (ExecutableOp executable : executables) {
      for (auto variant : executable.getBody().front().getOps<ExecutableVariantOp>()) {
        TargetBackend *backend = context->backends.find(variant.getTarget().getBackend().getValue());
        if (!backend || !backend->linksExecutables())
          return false;
      }
    }
    return true;
  }

  static void merge(ExecutableVariantOp source, Block &body) {
    ExecutableVariantOp target;
    for (auto variant : body.getOps<ExecutableVariantOp>())
      if (variant.getTarget() == source.getTarget())
        target = variant;
    if (!target) {
      auto builder = OpBuilder::atBlockEnd(&body);
      target = ExecutableVariantOp::create(builder, source.getLoc(), source.getSymName(), source.getTarget());
      auto inner = OpBuilder::atBlockEnd(&target.getBody().front());
      auto module = mlir::ModuleOp::create(inner, source.getLoc());
      module->setAttrs(source.getInnerModule()->getAttrs());
    }
    auto exports = llvm::to_vector(target.getBody().front().getOps<ExecutableExportOp>());
    int32_t ordinal = exports.size();
    for (auto exportOp : llvm::make_early_inc_range(source.getBody().front().getOps<ExecutableExportOp>())) {
      exportOp->moveBefore(target.getInnerModule());
      exportOp.setOrdinal(ordinal++);
    }
    // Functions and their globals have names that start with the dispatch's; declarations of the C library are shared.
    SymbolTable symbols(target.getInnerModule());
    for (Operation &op : llvm::make_early_inc_range(*source.getInnerModule().getBody())) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (symbol && symbol.isDeclaration() && symbols.lookup(symbol.getName()))
        continue;
      op.moveBefore(target.getInnerModule().getBody(), target.getInnerModule().getBody()->end());
      if (symbol)
        symbols.insert(&op);
    }
  }

  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createLinkExecutablesPass(const CompilerContext &context) {
  return std::make_unique<LinkExecutablesPass>(context);
}

} // namespace kiln::HAL
