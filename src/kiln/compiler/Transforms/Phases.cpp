#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"
#include "kiln/compiler/Interfaces/SoundPatterns.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

void buildInputConversion(OpPassManager &passes, const CompilerContext &context) {
  if (context.options.zeroFillElided)
    passes.addPass(createZeroFillElidedPass());
  passes.addPass(createPlaceOpsPass());
  passes.addPass(createLowerTosaPass());
  passes.addPass(createLowerStableHLOPass());
  passes.addPass(createLowerLinalgExtPass());
  passes.addPass(createConvertInputOpsPass());
  passes.addPass(createLiftControlFlowPass());
  passes.addPass(createLowerForallPass());
  passes.addPass(createCheckInputPass());
  passes.addPass(createConvertDynamicElementwisePass());
  passes.addPass(Flow::createNormalizeOpsPass({.keepEmpty = true}));
  // Rewrites nothing as it goes: an extent that a rewrite infers is one that is not checked.
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(createRejectRecursionPass());
  if (context.options.widenFloats)
    passes.addPass(createWidenFloatsPass());
  passes.addPass(createConvertElementwiseToLinalgPass());
  passes.addPass(createInsertChecksPass({.inBodies = true}));
  passes.addPass(createScalarizeBodiesPass());
  passes.addPass(createInsertChecksPass());
  passes.addPass(createBoundLoopsPass());
  passes.addPass(createDecomposeOpsPass());
  if (context.extendInput)
    context.extendInput(passes);
  passes.addPass(createSoundCanonicalizerPass());
  // What folding has shown to have no elements, which operations' own checks may refuse.
  passes.addPass(Flow::createNormalizeOpsPass());
  passes.addPass(createCSEPass());
}

void buildInputPhase(OpPassManager &passes, const CompilerContext &context) {
  buildInputConversion(passes, context);
  if (!context.options.parameterExport.empty())
    passes.addPass(createExportParametersPass(context));
}

void buildAbiPhase(OpPassManager &passes, const CompilerContext &) {
  passes.addPass(createWrapEntryPointsPass());
  passes.addPass(createSoundCanonicalizerPass());
}

void buildPreprocessingPhase(OpPassManager &passes, const CompilerContext &context) {
  passes.addPass(createRunPreprocessingPass(context));
  if (!context.options.preprocessingSpec.empty())
    passes.addPass(createReplaceSubgraphsPass(context));
}

void registerTransformsPasses(const CompilerContext &context) {
  registerPass([] { return createPlaceOpsPass(); });
  registerPass([] { return createLowerTosaPass(); });
  registerPass([] { return createLowerStableHLOPass(); });
  registerPass([] { return createLowerLinalgExtPass(); });
  registerPass([] { return createConvertInputOpsPass(); });
  registerPass([] { return createLiftControlFlowPass(); });
  registerPass([] { return createLowerForallPass(); });
  registerPass([] { return createCheckInputPass(); });
  registerPass([] { return createConvertDynamicElementwisePass(); });
  registerPass([] { return createRejectRecursionPass(); });
  registerPass([] { return createScalarizeBodiesPass(); });
  registerPass([] { return createInsertChecksPass(); });
  registerPass([] { return createBoundLoopsPass(); });
  registerPass([] { return createDecomposeOpsPass(); });
  registerPass([] { return createWidenFloatsPass(); });
  registerPass([] { return createWrapEntryPointsPass(); });
  registerPass([] { return createZeroFillElidedPass(); });
  registerPass([&context] { return createRunPreprocessingPass(context); });
  registerPass([&context] { return createReplaceSubgraphsPass(context); });
  registerPass([&context] { return createExportParametersPass(context); });
}

} // namespace kiln
