#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CONVERTDYNAMICELEMENTWISEPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {
class ConvertDynamicElementwisePass : public impl::ConvertDynamicElementwisePassBase<ConvertDynamicElementwisePass> {
public:
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *op) { return !isElementwiseOnDynamic(op); });
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }

private:
  static bool isElementwiseOnDynamic(Operation *op) {
    return OpTrait::hasElementwiseMappableTraits(op) &&
           llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
           llvm::any_of(op->getResultTypes(), [](Type type) {
             auto tensor = dyn_cast<RankedTensorType>(type);
             return tensor && !tensor.hasStaticShape();
           });
  }
};
} // namespace
} // namespace kiln
