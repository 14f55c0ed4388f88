#include "kiln/compiler/Codegen/Configuration.h"
#include "kiln/compiler/Codegen/ContractionGroup.h"
#include "kiln/compiler/Codegen/DispatchRoot.h"
#include "kiln/compiler/Codegen/TuningLookup.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Interfaces/LoopSteps.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/SimpleTile.h"
#include "kiln/targets/cuda/codegen/TunedConfigurations.h"
#include "kiln/targets/cuda/codegen/contraction/ContractionConfig.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDASELECTLOWERING
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

namespace {

class CudaSelectLoweringPass : public impl::CudaSelectLoweringBase<CudaSelectLoweringPass> {
public:
  using CudaSelectLoweringBase::CudaSelectLoweringBase;

  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<TuningLookup> database = TuningLookup::load(tuningDatabase, /*threads=*/0, UnknownLoc::get(context));
    if (failed(database))
      return failure();
    FailureOr<TuningLookup> builtIn =
        TuningLookup::parse(builtInTuning(), "targets/cuda/tuning", UnknownLoc::get(context));
    if (failed(builtIn))
      return failure();
    tuned = *std::move(database);
    this->builtIn = *std::move(builtIn);
    return success();
  }

  void runOnOperation() override {
    CudaTarget target = CudaTarget::of(getOperation());
    WalkResult result = getOperation().walk([&](func::FuncOp function) {
      return function.isExternal() || function->hasAttr("lowering") ? WalkResult::advance()
                                                                    : WalkResult(select(function, target));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult select(func::FuncOp function, const CudaTarget &target) const {
    std::optional<DispatchRoot> root = findRoot(function);
    FailureOr<std::optional<TileConfig>> given = takeGiven(function, target);
    if (failed(given))
      return failure();
    if (*given)
      return choose(function, root, target, **given, "ir");
    auto contraction = root ? dyn_cast<linalg::LinalgOp>(root->op.getOperation()) : linalg::LinalgOp();
    auto faultOf = [&](HAL::LoweringAttr lowering) {
      return faultOfTuned(contraction, lowering.getConfiguration(), target);
    };
    for (auto [lookup, source] : {std::pair(&tuned, "tuning-db"), std::pair(&builtIn, "built-in")}) {
      HAL::LoweringAttr found =
          root ? lookup->find(function, *root, target.tuningName(), faultOf) : HAL::LoweringAttr();
      if (!found)
        continue;
      if (isTiledKernel(found.getConfiguration()))
        function->setAttr(tunedByAttr, StringAttr::get(function.getContext(), lookup->source()));
      return choose(function, root, target, found.getConfiguration(), source);
    }
    std::optional<TileConfig> config;
    if (contraction && root->strategy == "contraction") {
      config = chooseContractionConfig(contraction, target);
      if (!config && isLikeLargeProduct(contraction))
        remarkSimpleContraction(function, reasonForSimpleForm(contraction, target));
      else if (config && config->instructions == kSimtFfma && areOfTensorCores(contraction))
        Util::addRemark(
            function, Util::Cost::ScalarLoop, function.getLoc(), function.getSymName(),
            "multiplies without tensor cores, which take elements of one type whose sums are f32, and bytes "
            "that lie beside each other along k, whose sums are i32");
    }
    if (!config)
      config = root ? chooseSimpleTile(*root) : simple();
    return choose(function, root, target, *config, "default");
  }

  LogicalResult choose(func::FuncOp function, const std::optional<DispatchRoot> &root, const CudaTarget &target,
                       const TileConfig &config, StringRef source) const {
    MLIRContext *context = function.getContext();
    auto strategy = StringAttr::get(context, root ? root->strategy : "default");
    auto lowering = HAL::LoweringAttr::get(context, strategy, config);
    function->setAttr("lowering", lowering);
    // What is for other devices would take the file's place.
    if (tuningKeys.empty() || !root || target.isFallback)
      return success();
    return dumpTuningKey(tuningKeys, function, *root, target.tuningName(), lowering, source);
  }

  // What the program says of its dispatch; nullopt where it says nothing, or nothing for this target.
  static FailureOr<std::optional<TileConfig>> takeGiven(func::FuncOp function, const CudaTarget &target) {
    FailureOr<std::optional<TileConfig>> given = takeConfiguration(function);
    if (failed(given) || !*given)
      return given;
    const TileConfig &config = **given;
    if (isForCpus(config)) {
      if (!target.isFallback)
        function.emitWarning() << "has the configuration '" << config.name()
                               << "', which is for CPUs; cuda takes its own";
      return std::optional<TileConfig>();
    }
    std::string reason = reasonAgainst(config, target);
    if (!reason.empty() && !target.isFallback)
      return function.emitOpError("has the configuration '") << config.name() << "', which " << reason;
    return reason.empty() ? given : std::optional<TileConfig>();
  }

  // Why what was tuned is not taken; empty where it is. What kernels need in memory is known when they are written.
  static std::string faultOfTuned(linalg::LinalgOp contraction, const TileConfig &config, const CudaTarget &target) {
    if (std::string reason = reasonAgainst(config, target); !reason.empty())
      return "it " + reason;
    if (!isTiledKernel(config))
      return "";
    if (!contraction || !ContractionLoops::of(contraction))
      return "it is for contractions, and this is none";
    bool isF32 = llvm::all_of(contraction.getDpsInputs(),
                              [](Value input) { return getElementTypeOrSelf(input.getType()).isF32(); });
    return isF32 && config.instructions != kSimtFfma ? "it computes f32 in tf32, which nobody asked for" : "";
  }

  // Why chooseContractionConfig gives nothing for an operation like a large product, as remarkSimpleContraction wants
  // it.
  static std::string reasonForSimpleForm(linalg::LinalgOp op, const CudaTarget &target) {
    if (target.generation() < 80)
      return llvm::formatv("is for {0}; sm_80 and newer have them", target.architecture);
    if (ContractionLoops::of(op))
      return "has few rows, few columns, or elements of types that tiles do not have";
    if (op.getNumDpsInits() != 1)
      return "has several results";
    if (op.getNumDpsInputs() != 2)
      return llvm::formatv("has {0} inputs, not two", op.getNumDpsInputs());
    if (!llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isProjectedPermutation(); }))
      return "reads an input at what is computed of several loops, as a convolution does";
    if (op.getNumReductionLoops() != 1)
      return llvm::formatv("adds up along {0} loops, not one", op.getNumReductionLoops());
    return "has several loops of rows or of columns, or a result in which neither is the innermost loop";
  }

  // Whether tensor cores have the types of both inputs.
  static bool areOfTensorCores(linalg::LinalgOp op) {
    return llvm::all_of(ArrayRef(op.getDpsInputOperands()).take_front(2), [](OpOperand *input) {
      Type type = getElementTypeOrSelf(input->get().getType());
      return type.isF16() || type.isBF16() || type.isInteger(8);
    });
  }

  // A program may be compiled for several targets.
  static bool isForCpus(const TileConfig &config) {
    return llvm::is_contained({"fma", "vector", "scalar"}, config.instructions);
  }

  // What the configuration does that the target cannot; empty where there is nothing.
  static std::string reasonAgainst(const TileConfig &config, const CudaTarget &target) {
    if (config.instructions == "simt")
      return "";
    if (!isTiledKernel(config))
      return llvm::formatv("is for instructions '{0}'; cuda has {1}, {2}, {3}, {4} and simt", config.instructions,
                           kSimtFfma, kWmma, kMmaSync, kWgmma);
    TileConfig complete = config;
    completeContractionConfig(complete);
    return checkContractionConfig(complete, target);
  }

  static TileConfig simple() {
    TileConfig config;
    config.instructions = "simt";
    return config;
  }

  TuningLookup tuned, builtIn; // by the user's database, and what is brought along
};

} // namespace
} // namespace kiln
