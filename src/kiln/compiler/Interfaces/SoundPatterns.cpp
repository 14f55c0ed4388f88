#include "kiln/compiler/Interfaces/SoundPatterns.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

ArrayRef<std::string> unsoundPatterns() {
  // Puts the source of a pad, which goes into a fill of the same value with a stride, in places that leave the stride
  // out (MLIR 22).
  static const std::string names[] = {"(anonymous namespace)::FoldInsertPadIntoFill"};
  return names;
}

std::unique_ptr<Pass> createSoundCanonicalizerPass() {
  return createCanonicalizerPass(GreedyRewriteConfig(), unsoundPatterns());
}

std::unique_ptr<Pass> createSoundInlinerPass() {
  return createInlinerPass({}, [](OpPassManager &passes) { passes.addPass(createSoundCanonicalizerPass()); });
}

} // namespace kiln
