#include "kiln/compiler/Codegen/Configuration.h"
#include "kiln/compiler/Codegen/TuningLookup.h"
#include "kiln/targets/cpu/codegen/strategy/ConfigChecks.h"
#include "kiln/targets/cpu/codegen/strategy/ConfigFitting.h"
#include "kiln/targets/cpu/codegen/strategy/Convolutions.h"
#include "kiln/targets/cpu/codegen/strategy/Strategy.h"
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h"
#include "kiln/targets/cpu/codegen/strategy/TuningTable.h"

#include "llvm/Support/Threading.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_SELECTLOWERING
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h.inc"

LogicalResult verifyLowering(func::FuncOp function, HAL::LoweringAttr lowering) {
  static constexpr StringRef strategies[] = {"contraction", "reduction", "elementwise", "default"};
  StringRef strategy = lowering.getStrategy();
  if (!llvm::is_contained(strategies, strategy))
    return function.emitOpError("has a strategy '")
           << strategy << "' that llvm-cpu does not have; it has contraction, reduction, elementwise and default";
  const TileConfig &config = lowering.getConfiguration();
  static constexpr StringRef instructions[] = {"fma", "vector", "scalar"};
  if (!llvm::is_contained(instructions, config.instructions))
    return function.emitOpError("has a configuration for instructions '")
           << config.instructions << "'; llvm-cpu has fma, vector and scalar";
  if (config.stages != 1)
    return function.emitOpError("has a configuration with ")
           << config.stages << " stages; llvm-cpu does not overlap K tiles, so it must be 1";
  if (config.packA)
    return function.emitOpError("has a configuration that packs A; llvm-cpu packs only B (_packb)");
  if (config.hasCluster())
    return function.emitOpError("has a configuration with clusters of workgroups, which only GPUs have");
  constexpr int64_t largestTile = 32;
  int64_t lanes = config.lanes ? config.lanes : 4;
  if (config.rows * std::max<int64_t>(1, llvm::divideCeil(config.columns, lanes)) > largestTile * 8 ||
      config.rows > largestTile || !llvm::isPowerOf2_64(lanes) || lanes > 128)
    return function.emitOpError("has a configuration with a register tile that no CPU can hold");
  return success();
}

// What verifyLowering says is wrong, instead of saying it as an error; empty where nothing is.
static std::string faultOf(func::FuncOp function, HAL::LoweringAttr lowering) {
  std::string text;
  uint64_t thread = llvm::get_threadid();
  // Handlers see what every thread says; other threads' errors go on to where they would have gone.
  ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
    if (llvm::get_threadid() != thread)
      return failure();
    text += (text.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  bool legal = succeeded(verifyLowering(function, lowering));
  return legal ? "" : text.empty() ? "it cannot be followed" : text;
}

namespace {
class SelectLoweringPass : public impl::SelectLoweringBase<SelectLoweringPass> {
public:
  using SelectLoweringBase::SelectLoweringBase;

  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<TuningTable> loaded = TuningTable::load(context);
    if (failed(loaded))
      return failure();
    table = std::make_shared<const TuningTable>(std::move(*loaded));
    FailureOr<TuningLookup> database = TuningLookup::load(tuningDatabase, tuningThreads, UnknownLoc::get(context));
    if (failed(database))
      return failure();
    tuned = *std::move(database);
    return success();
  }

  void runOnOperation() override {
    CpuTarget target = CpuTarget::of(getOperation());
    WalkResult result = getOperation().walk([&](func::FuncOp function) {
      return function.isExternal() ? WalkResult::advance() : WalkResult(select(function, target));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult select(func::FuncOp function, const CpuTarget &target) const {
    if (Attribute given = function->getAttr("lowering")) {
      auto lowering = dyn_cast<HAL::LoweringAttr>(given);
      if (!lowering)
        return function.emitOpError("has a 'lowering' that is no #hal.lowering<\"strategy\", \"tile_config_...\">");
      return verifyLowering(function, lowering);
    }
    std::optional<DispatchRoot> root = findRoot(function);
    StringRef strategy = root ? root->strategy : "default";
    if (Operation *op = findConfigured(function))
      return failed(useGiven(function, op, strategy, root)) ? failure() : dumpKey(function, root, target, "ir");
    auto fault = [&](HAL::LoweringAttr lowering) { return faultOf(function, lowering); };
    if (HAL::LoweringAttr found =
            root ? tuned.find(function, *root, target.tuningName(), fault) : HAL::LoweringAttr()) {
      function->setAttr("lowering", found);
      return dumpKey(function, root, target, "tuning-db");
    }
    TileConfig config;
    if (root) {
      TuningKey key = tuningKey(*root);
      if (const TileConfig *row = table->find(key, target))
        config = fitConfig(*row, *root, KernelTarget::of(target));
    }
    function->setAttr("lowering", lowerBy(function, strategy, config));
    return dumpKey(function, root, target, "default");
  }

  LogicalResult dumpKey(func::FuncOp function, const std::optional<DispatchRoot> &root, const CpuTarget &target,
                        StringRef source) const {
    if (tuningKeys.empty() || !root)
      return success();
    return dumpTuningKey(tuningKeys, function, *root, target.tuningName(),
                         function->getAttrOfType<HAL::LoweringAttr>("lowering"), source);
  }

  // What an op of the source program says of its dispatch is taken as it is.
  static LogicalResult useGiven(func::FuncOp function, Operation *op, StringRef strategy,
                                const std::optional<DispatchRoot> &root) {
    FailureOr<std::optional<TileConfig>> config = takeConfiguration(function);
    if (failed(config))
      return failure();
    HAL::LoweringAttr lowering = lowerBy(function, strategy, **config);
    if (failed(verifyLowering(function, lowering)) || (root && failed(verifyConfigurationFits(op, *root, **config))))
      return failure();
    function->setAttr("lowering", lowering);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return linalgOp ? verifyConvolution(linalgOp, **config) : success();
  }

  static HAL::LoweringAttr lowerBy(func::FuncOp function, StringRef strategy, const TileConfig &config) {
    MLIRContext *context = function.getContext();
    return HAL::LoweringAttr::get(context, StringAttr::get(context, strategy), config);
  }

  TuningLookup tuned;
  std::shared_ptr<const TuningTable> table; // shared with the copies that run in other threads
};
} // namespace
} // namespace kiln
