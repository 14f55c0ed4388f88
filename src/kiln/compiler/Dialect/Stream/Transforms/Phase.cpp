#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln::Stream {

void buildStreamPhase(OpPassManager &passes, const CompilerContext &) {
  passes.addPass(createConvertToStreamPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createPlaceWorkPass());
  // From here to the schedule no CSE: two copies of a value are two memories.
  passes.addPass(createMaterializeCopiesPass());
  passes.addPass(createScheduleExecutionPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

void registerStreamPasses(const CompilerContext &) {
  registerPass([] { return createConvertToStreamPass(); });
  registerPass([] { return createPlaceWorkPass(); });
  registerPass([] { return createMaterializeCopiesPass(); });
  registerPass([] { return createScheduleExecutionPass(); });
}

} // namespace kiln::Stream
