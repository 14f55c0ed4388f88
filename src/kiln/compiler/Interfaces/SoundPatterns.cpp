#include "kiln/compiler/Interfaces/SoundPatterns.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

ArrayRef<std::string> unsoundPatterns() {
  // Puts the source of a pad, which goes into a fill of the same value with a stride, in places that leave the stride
  // out (MLIR 22).
  // Gives a transpose that leaves all in its place; where its result is cast, it folds into a value of another type.
  static const std::string names[] = {"(anonymous namespace)::FoldInsertPadIntoFill", "FoldTransposeWithTranspose"};
  return names;
}

std::unique_ptr<Pass> createSoundCanonicalizerPass() {
  return createCanonicalizerPass(GreedyRewriteConfig(), unsoundPatterns());
}

std::unique_ptr<Pass> createSoundInlinerPass() {
  return createInlinerPass({}, [](OpPassManager &passes) { passes.addPass(createSoundCanonicalizerPass()); });
}

} // namespace kiln
