#include "kiln/compiler/Interfaces/SoundPatterns.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

ArrayRef<std::string> unsoundPatterns() {
  // Puts the source of a pad, which goes into a fill of the same value with a stride, in places that leave the stride
  // out (MLIR 22).
  // Gives a transpose that leaves all in its place; where its result is cast, it folds into a value of another type.
  // Takes an output that the body does not read for one that is overwritten as a whole; DropUnneededInits does not.
  static const std::string names[] = {"(anonymous namespace)::FoldInsertPadIntoFill", "FoldTransposeWithTranspose",
                                      "(anonymous namespace)::RemoveOutsDependency"};
  return names;
}

std::unique_ptr<Pass> createSoundCanonicalizerPass() {
  return createCanonicalizerPass(GreedyRewriteConfig(), unsoundPatterns());
}

std::unique_ptr<Pass> createSoundInlinerPass() {
  return createInlinerPass({}, [](OpPassManager &passes) {
    SmallVector<std::string> disabled(unsoundPatterns());
    // Takes a loop for empty whose end is too far from its start for a signed number, which kiln-bound-loops mends.
    disabled.push_back("(anonymous namespace)::SimplifyTrivialLoops");
    passes.addPass(createCanonicalizerPass(GreedyRewriteConfig(), disabled));
  });
}

} // namespace kiln
