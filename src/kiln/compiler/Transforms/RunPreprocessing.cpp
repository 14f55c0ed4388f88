#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_RUNPREPROCESSINGPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {
class RunPreprocessingPass : public impl::RunPreprocessingPassBase<RunPreprocessingPass> {
public:
  explicit RunPreprocessingPass(const CompilerContext &context) : context(&context) {}

  // What the user's passes need has to be loaded before any pass runs.
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pipeline(ModuleOp::getOperationName());
    if (succeeded(parse(pipeline, llvm::nulls())))
      pipeline.getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (context->options.preprocessingPassPipeline.empty())
      return;
    OpPassManager pipeline(ModuleOp::getOperationName());
    std::string message;
    llvm::raw_string_ostream stream(message);
    if (failed(parse(pipeline, stream))) {
      emitError(UnknownLoc::get(&getContext())) << "--kiln-preprocessing-pass-pipeline cannot be parsed: " << message;
      return signalPassFailure();
    }
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }

private:
  // The text is what kiln-opt takes: a list of passes, with builtin.module(...) around it or not. Names of IREE's are
  // those of Kiln's.
  LogicalResult parse(OpPassManager &pipeline, raw_ostream &errors) const {
    std::string named = context->options.preprocessingPassPipeline;
    const StringRef foreign = "iree-", own = "kiln-";
    for (size_t at = named.find(foreign); at != std::string::npos; at = named.find(foreign, at))
      named.replace(at, foreign.size(), own);
    StringRef text = StringRef(named).trim();
    if (text.consume_front("builtin.module("))
      text.consume_back(")");
    return parsePassPipeline(text, pipeline, errors);
  }

  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createRunPreprocessingPass(const CompilerContext &context) {
  return std::make_unique<RunPreprocessingPass>(context);
}

} // namespace kiln
