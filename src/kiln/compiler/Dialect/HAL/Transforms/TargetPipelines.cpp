// The two passes that hand a variant over to its target.
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

using namespace mlir;

namespace kiln::HAL {
#define GEN_PASS_DEF_CONFIGUREEXECUTABLEPASS
#define GEN_PASS_DEF_TRANSLATEEXECUTABLEPASS
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

// The pipeline of the variant's own target, run on it.
template <typename Build>
static LogicalResult runTargetPipeline(const CompilerContext &context, ExecutableVariantOp variant, Build build,
                                       function_ref<LogicalResult(OpPassManager &, Operation *)> run) {
  StringRef name = variant.getTarget().getBackend().getValue();
  TargetBackend *backend = context.backends.find(name);
  if (!backend)
    return variant.emitError() << "needs the target backend '" << name << "', which this build does not have";
  OpPassManager pipeline(ExecutableVariantOp::getOperationName());
  build(*backend, pipeline);
  return run(pipeline, variant);
}

// What any backend's pipeline may load must be known before the first pass runs.
template <typename Build>
static void collectDependentDialects(const CompilerContext &context, DialectRegistry &registry, Build build) {
  for (const auto &backend : context.backends.backends()) {
    OpPassManager pipeline(ExecutableVariantOp::getOperationName());
    build(*backend, pipeline);
    pipeline.getDependentDialects(registry);
  }
}

static void buildConfiguration(const TargetBackend &backend, OpPassManager &pipeline) {
  backend.buildConfigurationPipeline(pipeline);
}

static void buildTranslation(const TargetBackend &backend, OpPassManager &pipeline) {
  backend.buildLoweringPipeline(pipeline);
  backend.buildTranslationPipeline(pipeline);
}

namespace {
class ConfigureExecutablePass : public impl::ConfigureExecutablePassBase<ConfigureExecutablePass> {
public:
  explicit ConfigureExecutablePass(const CompilerContext &context) : context(&context) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    collectDependentDialects(*context, registry, buildConfiguration);
  }

  void runOnOperation() override {
    auto run = [&](OpPassManager &pipeline, Operation *op) { return runPipeline(pipeline, op); };
    if (failed(runTargetPipeline(*context, getOperation(), buildConfiguration, run)))
      signalPassFailure();
  }

private:
  const CompilerContext *context;
};

class TranslateExecutablePass : public impl::TranslateExecutablePassBase<TranslateExecutablePass> {
public:
  explicit TranslateExecutablePass(const CompilerContext &context) : context(&context) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    collectDependentDialects(*context, registry, buildTranslation);
  }

  void runOnOperation() override {
    auto run = [&](OpPassManager &pipeline, Operation *op) { return runPipeline(pipeline, op); };
    if (failed(runTargetPipeline(*context, getOperation(), buildTranslation, run)))
      return signalPassFailure();
    for (auto exportOp : getOperation().getBody().front().getOps<ExecutableExportOp>()) {
      if (!exportOp.getWorkgroupCount().empty())
        continue;
      exportOp.emitError() << "'" << exportOp.getSymName()
                           << "' has no workgroup count after code generation; a transform spec sets it with "
                              "transform.iree.populate_workgroup_count_region_using_num_threads_slice";
      return signalPassFailure();
    }
  }

private:
  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createConfigureExecutablePass(const CompilerContext &context) {
  return std::make_unique<ConfigureExecutablePass>(context);
}

std::unique_ptr<Pass> createTranslateExecutablePass(const CompilerContext &context) {
  return std::make_unique<TranslateExecutablePass>(context);
}

} // namespace kiln::HAL
