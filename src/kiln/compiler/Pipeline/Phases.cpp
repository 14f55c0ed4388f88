#include "kiln/compiler/Pipeline/Phases.h"

#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"
#include "kiln/compiler/Dialect/VM/Transforms/VMPasses.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace kiln {

// In the order of the table.
enum PhaseIndex { kInput, kAbi, kPreprocessing, kFlow, kStream, kSources, kTargets, kHal, kVm, kEnd };

ArrayRef<Phase> phases() {
  static const std::vector<Phase> table = {
      {"input",
       "kiln-common-input-transformation-pipeline",
       kInput,
       "Checks that the program is one that Kiln takes, inlines its calls, and brings what is written on tensors "
       "elementwise into linalg.",
       buildInputPhase,
       {}},
      {"abi",
       "kiln-abi-transformation-pipeline",
       kAbi,
       "Gives each exported function the boundary that callers see: buffer views and scalars.",
       buildAbiPhase,
       {"func"}},
      {"preprocessing",
       "kiln-preprocessing-transformation-pipeline",
       kPreprocessing,
       "Runs the user's own pipeline (--kiln-preprocessing-pass-pipeline).",
       buildPreprocessingPhase,
       {"func"}},
      {"flow",
       "kiln-flow-transformation-pipeline",
       kPreprocessing,
       "Fuses, forms dispatches, and outlines each into an executable with a name that says what it computes.",
       Flow::buildFlowPhase,
       {"func", "linalg", "tensor", "flow.dispatch.region"}},
      {"stream",
       "kiln-stream-transformation-pipeline",
       kStream,
       "Schedules: what runs at the same time, what waits for what, and where each value lives.",
       Stream::buildStreamPhase,
       {"func", "linalg", "tensor", "flow", "stream.async.dispatch", "stream.async.splat", "stream.async.clone",
        "stream.async.constant", "stream.async.alloca", "stream.async.load"}},
      {"executable-sources",
       "kiln-hal-executable-sources-pipeline",
       kSources,
       "Turns each executable into one variant for each target, on bindings and push constants.",
       HAL::buildExecutableSourcesPhase,
       {"func", "linalg", "tensor", "flow", "stream.executable"}},
      {"executable-targets",
       "kiln-hal-executable-targets-pipeline",
       kSources,
       "Generates code: strategy, configuration, lowering to the target's dialect.",
       HAL::buildExecutableTargetsPhase,
       {"func", "linalg", "tensor", "flow", "stream.executable"}},
      {"hal",
       "kiln-hal-transformation-pipeline",
       kSources,
       "Turns the schedule into command buffers, recorded once where nothing in them changes, and links executables.",
       HAL::buildHALPhase,
       {"func", "linalg", "tensor", "flow", "stream", "hal.tensor.import", "hal.tensor.export"}},
      {"vm",
       "kiln-vm-transformation-pipeline",
       kVm,
       "Serializes executables, and turns the host program into the VM's.",
       VM::buildVMPhase,
       {"func", "util", "hal", "stream", "scf"}},
      {"end", nullptr, kEnd, "Encodes the module file.", nullptr, {}},
  };
  return table;
}

int findPhase(StringRef name) {
  for (auto [i, phase] : llvm::enumerate(phases()))
    if (name == phase.name)
      return i;
  return -1;
}

namespace {
// Looks for what must be gone in the host program only; what is inside of executables follows the rules of code
// generation, not of the phase. All of it is verified here: MLIR would do it after each pass, which took as long as the
// passes themselves.
class VerifyPhasePass : public PassWrapper<VerifyPhasePass, OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPhasePass)
  explicit VerifyPhasePass(const Phase &phase) : phase(phase) {}

  StringRef getArgument() const override { return "kiln-verify-phase"; }
  StringRef getDescription() const override {
    return "Verifies a phase's program, and that nothing is left that must not be";
  }

  void runOnOperation() override {
    if (failed(mlir::verify(getOperation())))
      return signalPassFailure();
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      StringRef dialect = op->getName().getDialectNamespace();
      for (const char *gone : phase.gone) {
        if (dialect != gone && op->getName().getStringRef() != gone)
          continue;
        InFlightDiagnostic error = op->emitError()
                                   << "'" << op->getName() << "' must be gone after the phase '" << phase.name << "'";
        error.attachNote()
            << "an input that starts at a later phase (--compile-from) needs all earlier ones behind it; "
               "otherwise no pass of this phase knew how to treat the op";
        return WalkResult::interrupt();
      }
      // MLIR's folds make such constants, on which what asks for their elements would crash.
      auto constant = dyn_cast<arith::ConstantOp>(op);
      auto shaped = constant ? dyn_cast<ShapedType>(constant.getType()) : ShapedType();
      if (shaped && !shaped.hasStaticShape()) {
        op->emitError() << "'" << op->getName() << "' has the type " << shaped << " after the phase '" << phase.name
                        << "'; constants have known extents";
        return WalkResult::interrupt();
      }
      bool isExecutable =
          llvm::is_contained({"flow.executable", "stream.executable", "hal.executable"}, op->getName().getStringRef());
      return isExecutable ? WalkResult::skip() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  const Phase &phase;
};
} // namespace

std::unique_ptr<Pass> createVerifyPhasePass(const Phase &phase) {
  return std::make_unique<VerifyPhasePass>(phase);
}

void buildPhases(OpPassManager &passes, const CompilerContext &context, int from, int to) {
  // An input that claims to be past a phase must be.
  if (from > 0)
    passes.addPass(createVerifyPhasePass(phases()[from - 1]));
  for (int i = from; i <= to; ++i) {
    const Phase &phase = phases()[i];
    if (!phase.build)
      continue;
    phase.build(passes, context);
    passes.addPass(createVerifyPhasePass(phase));
  }
}

void buildHALConfigurationPipeline(OpPassManager &passes, const CompilerContext &context) {
  buildPhases(passes, context, kSources, kSources);
  HAL::buildConfigurationPipeline(passes, context);
}

} // namespace kiln
