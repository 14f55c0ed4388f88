#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/DumpFiles.h"

using namespace mlir;

namespace kiln::HAL {
#define GEN_PASS_DEF_DUMPEXECUTABLESPASS
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

namespace {
class DumpExecutablesPass : public impl::DumpExecutablesPassBase<DumpExecutablesPass> {
public:
  using DumpExecutablesPassBase::DumpExecutablesPassBase;

  void runOnOperation() override {
    if (path.empty())
      return;
    if (failed(makeDumpFolder(getOperation(), path)))
      return signalPassFailure();
    for (auto executable : getOperation().getOps<ExecutableOp>())
      if (failed(dump(executable)))
        return signalPassFailure();
  }

private:
  LogicalResult dump(ExecutableOp executable) {
    std::string file =
        dumpPath(path, prefix + getOperation().getName().value_or("module") + "_" + executable.getSymName() + ".mlir");
    return writeDump(executable, file, [&](llvm::raw_ostream &os) {
      executable->print(os, OpPrintingFlags().useLocalScope());
      os << "\n";
    });
  }
};
} // namespace
} // namespace kiln::HAL
