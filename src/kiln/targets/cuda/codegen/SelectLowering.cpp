#include "kiln/compiler/Codegen/Configuration.h"
#include "kiln/compiler/Codegen/DispatchRoot.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/SimpleTile.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionConfig.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDASELECTLOWERING
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

namespace {

class CudaSelectLoweringPass : public impl::CudaSelectLoweringBase<CudaSelectLoweringPass> {
  void runOnOperation() override {
    CudaTarget target = CudaTarget::of(getOperation());
    WalkResult result = getOperation().walk([&](func::FuncOp function) {
      return function.isExternal() || function->hasAttr("lowering") ? WalkResult::advance()
                                                                    : WalkResult(select(function, target));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult select(func::FuncOp function, const CudaTarget &target) {
    std::optional<DispatchRoot> root = findRoot(function);
    StringRef strategy = root ? root->strategy : "default";
    FailureOr<std::optional<TileConfig>> given = takeConfiguration(function);
    if (failed(given))
      return failure();
    std::optional<TileConfig> config = *given;
    if (config && isForCpus(*config)) {
      if (!target.isFallback)
        function.emitWarning() << "has the configuration '" << config->name()
                               << "', which is for CPUs; cuda takes its own";
      config.reset();
    }
    if (config) {
      std::string reason = reasonAgainst(*config, target);
      if (!reason.empty() && !target.isFallback)
        return function.emitOpError("has ") << reason;
      if (!reason.empty())
        config.reset();
    }
    if (auto contraction = root ? dyn_cast<linalg::LinalgOp>(root->op.getOperation()) : linalg::LinalgOp();
        !config && contraction && strategy == "contraction")
      config = chooseContractionConfig(contraction, target);
    if (!config)
      config = root ? chooseSimpleTile(*root) : simple();
    Builder builder(function.getContext());
    function->setAttr("lowering",
                      HAL::LoweringAttr::get(function.getContext(), builder.getStringAttr(strategy), *config));
    return success();
  }

  // A program may be compiled for several targets.
  static bool isForCpus(const TileConfig &config) {
    return llvm::is_contained({"fma", "vector", "scalar"}, config.instructions);
  }

  // Empty where the target can do what the configuration says.
  static std::string reasonAgainst(const TileConfig &config, const CudaTarget &target) {
    if (config.instructions == "simt")
      return "";
    if (!isTiledKernel(config))
      return llvm::formatv("a configuration for instructions '{0}'; cuda has {1}, {2}, {3} and simt",
                           config.instructions, kSimtFfma, kMmaSync, kWgmma);
    TileConfig complete = config;
    completeContractionConfig(complete);
    std::string reason = checkContractionConfig(complete, target);
    return reason.empty() ? "" : llvm::formatv("the configuration '{0}', which {1}", config.name(), reason).str();
  }

  static TileConfig simple() {
    TileConfig config;
    config.instructions = "simt";
    return config;
  }
};

} // namespace
} // namespace kiln
