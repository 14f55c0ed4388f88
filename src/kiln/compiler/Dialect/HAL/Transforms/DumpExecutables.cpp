#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/DumpFiles.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

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
    std::error_code error;
    llvm::ToolOutputFile out(file, error, llvm::sys::fs::OF_Text);
    if (error)
      return executable.emitError() << "cannot write '" << file << "': " << error.message();
    executable->print(out.os(), OpPrintingFlags().useLocalScope());
    out.os() << "\n";
    out.os().flush();
    if (out.os().has_error()) {
      InFlightDiagnostic diagnostic = executable.emitError()
                                      << "cannot write '" << file << "': " << out.os().error().message();
      out.os().clear_error();
      return diagnostic;
    }
    out.keep();
    return success();
  }
};
} // namespace
} // namespace kiln::HAL
