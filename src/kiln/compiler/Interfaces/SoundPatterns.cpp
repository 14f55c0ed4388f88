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

  explicit SoundCanonicalizer(StringRef only) : only(only) {}

  StringRef getArgument() const override { return "canonicalize"; }

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      if (isRewritten(dialect->getNamespace()))
        dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName name : context->getRegisteredOperations()) {
      // Moves a slice of an unpacked tensor before it as if dimensions that are not tiled were not cut (MLIR 22).
      if (name.getStringRef() == linalg::UnPackOp::getOperationName() || !isRewritten(name.getDialectNamespace()))
        continue;
      name.getCanonicalizationPatterns(all, context);
    }
    patterns = FrozenRewritePatternSet(std::move(all), unsoundPatterns());
    return success();
  }

  void runOnOperation() override { (void)applyPatternsGreedily(getOperation(), patterns); }

private:
  bool isRewritten(StringRef dialect) const { return only.empty() || dialect == only; }

  std::string only;
  FrozenRewritePatternSet patterns;
};

} // namespace

ArrayRef<std::string> unsoundPatterns() {
  // Puts the source of a pad, which goes into a fill of the same value with a stride, in places that leave the stride
  // out (MLIR 22).
  // Gives a transpose that leaves all in its place; where its result is cast, it folds into a value of another type.
  // Takes an output that the body does not read for one that is overwritten as a whole; DropUnneededInits does not.
  // Gives all turns of a loop the extents that its first one has, where what goes into the first is cast from them.
  static const std::string names[] = {"(anonymous namespace)::FoldInsertPadIntoFill", "FoldTransposeWithTranspose",
                                      "(anonymous namespace)::RemoveOutsDependency",
                                      "(anonymous namespace)::ForOpTensorCastFolder"};
  return names;
}

std::unique_ptr<Pass> createSoundCanonicalizerPass(StringRef only) {
  return std::make_unique<SoundCanonicalizer>(only);
}

} // namespace kiln
