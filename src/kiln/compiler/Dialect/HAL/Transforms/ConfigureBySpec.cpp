#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"
#include "kiln/compiler/TransformOps/KilnTransformOps.h"
#include "kiln/compiler/TransformOps/TransformSpec.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace kiln::HAL {
#define GEN_PASS_DEF_CONFIGUREBYSPECPASS
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

namespace {
class ConfigureBySpecPass : public impl::ConfigureBySpecPassBase<ConfigureBySpecPass> {
public:
  explicit ConfigureBySpecPass(const CompilerContext &context) : context(&context) {}
  ConfigureBySpecPass(const ConfigureBySpecPass &other)
      : ConfigureBySpecPassBase(other), context(other.context), spec(other.spec) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    if (!context->options.configurationSpec.empty())
      registerTransformExtension(registry);
  }

  LogicalResult initialize(MLIRContext *mlirContext) override {
    StringRef file = context->options.configurationSpec, entry = "__kernel_config";
    if (file.empty())
      return success();
    if (file.contains('@') && !llvm::sys::fs::exists(file))
      std::tie(file, entry) = file.rsplit('@');
    auto loaded = TransformSpec::load(mlirContext, file, {entry});
    if (failed(loaded))
      return failure();
    spec = std::move(*loaded);
    return success();
  }

  void runOnOperation() override {
    if (spec && (failed(spec->apply(getOperation())) || failed(mlir::verify(getOperation()))))
      signalPassFailure();
  }

private:
  const CompilerContext *context;
  std::shared_ptr<const TransformSpec> spec; // shared with the copies that run in other threads
};
} // namespace

std::unique_ptr<Pass> createConfigureBySpecPass(const CompilerContext &context) {
  return std::make_unique<ConfigureBySpecPass>(context);
}

} // namespace kiln::HAL
