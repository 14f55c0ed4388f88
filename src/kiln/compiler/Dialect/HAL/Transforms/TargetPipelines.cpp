// The two passes that hand a variant over to its target.
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Interfaces/LoopSteps.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>

using namespace mlir;

namespace kiln::HAL {
#define GEN_PASS_DEF_CONFIGUREEXECUTABLEPASS
#define GEN_PASS_DEF_TRANSLATEEXECUTABLEPASS
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

namespace {
// The pipelines of all targets that occur, kept from one variant to the next, because passes prepare their patterns
// once.
class TargetPipelines {
public:
  using Build = void (*)(const TargetBackend &, OpPassManager &);

  TargetPipelines(const CompilerContext &context, Build build) : context(&context), build(build) {}

  // Runs the pipeline of the variant's target; where this build does not have it, that is an error at the variant.
  LogicalResult run(ExecutableVariantOp variant,
                    function_ref<LogicalResult(OpPassManager &, Operation *)> runPipeline) {
    StringRef name = variant.getTarget().getBackend().getValue();
    TargetBackend *backend = context->backends.find(name);
    if (!backend)
      return variant.emitError() << "needs the target backend '" << name << "', which this build does not have";
    auto [it, isNew] = pipelines.try_emplace(name.str(), ExecutableVariantOp::getOperationName());
    if (isNew)
      build(*backend, it->second);
    if (succeeded(runPipeline(it->second, variant)))
      return success();
    // MLIR takes a pipeline for prepared that has failed to prepare itself.
    pipelines.erase(it);
    return failure();
  }

  // What any pipeline may load must be known before the first pass runs.
  void collectDependentDialects(DialectRegistry &registry) const {
    for (const auto &backend : context->backends.backends()) {
      OpPassManager pipeline(ExecutableVariantOp::getOperationName());
      build(*backend, pipeline);
      pipeline.getDependentDialects(registry);
    }
  }

private:
  const CompilerContext *context;
  Build build;
  std::map<std::string, OpPassManager> pipelines;
};
} // namespace

namespace {
// The longest loop nest of a variant's dispatch, as far as its extents are known, and the first one with an extent that
// only a call knows.
struct Work {
  int64_t steps = 0;
  bool isAll = false;
  std::optional<Location> place, unknownPlace;
};
} // namespace

static Work findWork(ExecutableVariantOp variant) {
  Work work;
  variant.walk([&](linalg::LinalgOp op) {
    bool isAll = countSteps(op).has_value();
    if (!isAll && !work.unknownPlace)
      work.unknownPlace = op.getLoc();
    if (int64_t steps = countKnownSteps(op); steps > work.steps) {
      work.steps = steps;
      work.isAll = isAll;
      work.place = op.getLoc();
    }
  });
  return work;
}

static bool isOneWorkgroup(ExecutableExportOp exportOp) {
  return llvm::all_of(exportOp.getWorkgroupCount().front().getTerminator()->getOperands(),
                      [](Value count) { return getConstantIntValue(count) == 1; });
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
  explicit ConfigureExecutablePass(const CompilerContext &context) : pipelines(context, buildConfiguration) {}

  void getDependentDialects(DialectRegistry &registry) const override { pipelines.collectDependentDialects(registry); }

  void runOnOperation() override {
    auto run = [&](OpPassManager &pipeline, Operation *op) { return runPipeline(pipeline, op); };
    if (failed(pipelines.run(getOperation(), run)))
      signalPassFailure();
  }

private:
  TargetPipelines pipelines;
};

class TranslateExecutablePass : public impl::TranslateExecutablePassBase<TranslateExecutablePass> {
public:
  explicit TranslateExecutablePass(const CompilerContext &context) : pipelines(context, buildTranslation) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<Util::UtilDialect>();
    pipelines.collectDependentDialects(registry);
  }

  void runOnOperation() override {
    Work work = findWork(getOperation());
    auto run = [&](OpPassManager &pipeline, Operation *op) { return runPipeline(pipeline, op); };
    if (failed(pipelines.run(getOperation(), run)))
      return signalPassFailure();
    for (auto exportOp : getOperation().getBody().front().getOps<ExecutableExportOp>()) {
      if (!exportOp.getWorkgroupCount().empty()) {
        // Less is done by one worker soon after others have woken up.
        constexpr int64_t worthSharing = 1'000'000;
        if (!isOneWorkgroup(exportOp))
          continue;
        if (work.steps >= worthSharing)
          Util::addRemark(getOperation(), Util::Cost::OneWorkgroup, *work.place, exportOp.getSymName(),
                          "runs in one workgroup, although it has " + Twine(work.isAll ? "" : "at least ") +
                              Twine(work.steps) + " steps");
        else if (work.unknownPlace)
          Util::addRemark(getOperation(), Util::Cost::OneWorkgroup, *work.unknownPlace, exportOp.getSymName(),
                          "runs in one workgroup, whatever its length");
        continue;
      }
      exportOp.emitError() << "'" << exportOp.getSymName()
                           << "' has no workgroup count after code generation; a transform spec sets it with "
                              "transform.iree.populate_workgroup_count_region_using_num_threads_slice";
      return signalPassFailure();
    }
  }

private:
  TargetPipelines pipelines;
};
} // namespace

std::unique_ptr<Pass> createConfigureExecutablePass(const CompilerContext &context) {
  return std::make_unique<ConfigureExecutablePass>(context);
}

std::unique_ptr<Pass> createTranslateExecutablePass(const CompilerContext &context) {
  return std::make_unique<TranslateExecutablePass>(context);
}

} // namespace kiln::HAL
