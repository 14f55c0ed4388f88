#include "kiln/compiler/Interfaces/SoundPatterns.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
namespace {

// MLIR's canonicalizer takes patterns out by their names. Here those go too that have none.
class SoundCanonicalizer : public PassWrapper<SoundCanonicalizer, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SoundCanonicalizer)

  explicit SoundCanonicalizer(ArrayRef<std::string> disabled) : disabled(disabled) {}

  StringRef getArgument() const override { return "canonicalize"; }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName name : context->getRegisteredOperations()) {
      // Moves a slice of an unpacked tensor before it as if dimensions that are not tiled were not cut (MLIR 22).
      if (name.getStringRef() == linalg::UnPackOp::getOperationName())
        continue;
      name.getCanonicalizationPatterns(all, context);
    }
    patterns = FrozenRewritePatternSet(std::move(all), disabled);
    return success();
  }

  void runOnOperation() override { (void)applyPatternsGreedily(getOperation(), patterns); }

private:
  SmallVector<std::string> disabled;
  FrozenRewritePatternSet patterns;
};

} // namespace

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
  return std::make_unique<SoundCanonicalizer>(unsoundPatterns());
}

std::unique_ptr<Pass> createSoundInlinerPass() {
  return createInlinerPass({}, [](OpPassManager &passes) {
    SmallVector<std::string> disabled(unsoundPatterns());
    // Takes a loop for empty whose end is too far from its start for a signed number, which kiln-bound-loops mends.
    disabled.push_back("(anonymous namespace)::SimplifyTrivialLoops");
    passes.addPass(std::make_unique<SoundCanonicalizer>(disabled));
  });
}

} // namespace kiln
