#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"

#include "llvm/ADT/MapVector.h"

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
    for (ExecutableOp executable : executables)
      dropRemarksOfFallbacks(executable);
    Util::gatherRemarks(getOperation());
    if (executables.size() < 2 || !canLink(executables))
      return;
    OpBuilder builder(executables.front());
    StringRef module = getOperation().getName().value_or("module");
    std::string name = (module + "_linked").str();
    auto linked = ExecutableOp::create(builder, getOperation().getLoc(), name);

    // One variant for each target, in the order of the first executable; exports keep the executables' order.
    Block &body = linked.getBody().front();
    llvm::MapVector<Attribute, LinkedVariant> variants;
    llvm::DenseSet<StringAttr> names;
    for (ExecutableOp executable : executables) {
      names.insert(executable.getSymNameAttr());
      for (auto variant : executable.getBody().front().getOps<ExecutableVariantOp>())
        move(variant, variants[variant.getTarget()], body);
    }
    getOperation().walk([&](Stream::CmdDispatchOp dispatch) {
      SymbolRefAttr entry = dispatch.getEntry();
      if (names.contains(entry.getRootReference()))
        dispatch.setEntryAttr(SymbolRefAttr::get(linked.getSymNameAttr(), entry.getNestedReferences()));
    });
    for (ExecutableOp executable : executables)
      executable.erase();
  }

private:
  struct LinkedVariant {
    ExecutableVariantOp op;
    Operation *firstModule = nullptr;
    int32_t exports = 0;
  };

  // What a backend's first variant costs is told; the same dispatch for devices that cannot run that one says no more.
  static void dropRemarksOfFallbacks(ExecutableOp executable) {
    llvm::DenseSet<StringAttr> backends;
    for (auto variant : executable.getBody().front().getOps<ExecutableVariantOp>())
      if (!backends.insert(variant.getTarget().getBackend()).second)
        Util::dropRemarks(variant);
  }

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

  // Modules stay apart, so that code can be generated for each of them at the same time.
  static void move(ExecutableVariantOp source, LinkedVariant &target, Block &body) {
    if (!target.op) {
      auto builder = OpBuilder::atBlockEnd(&body);
      target.op = ExecutableVariantOp::create(builder, source.getLoc(), source.getSymName(), source.getTarget());
    }
    Block &ops = target.op.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(source.getBody().front())) {
      auto exportOp = dyn_cast<ExecutableExportOp>(op);
      if (exportOp)
        exportOp.setOrdinal(target.exports++);
      if (exportOp && target.firstModule) {
        op.moveBefore(target.firstModule);
        continue;
      }
      op.moveBefore(&ops, ops.end());
      if (!exportOp && !target.firstModule)
        target.firstModule = &op;
    }
  }

  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createLinkExecutablesPass(const CompilerContext &context) {
  return std::make_unique<LinkExecutablesPass>(context);
}

} // namespace kiln::HAL
