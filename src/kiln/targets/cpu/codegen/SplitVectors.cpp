#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/vectors/VectorSplitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_SPLITVECTORS
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

namespace {

class SplitVectors : public impl::SplitVectorsBase<SplitVectors> {
public:
  using SplitVectorsBase::SplitVectorsBase;

private:
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    CpuTarget target = CpuTarget::of(func);
    int64_t registerBits = nativeVectorBits > 0 ? nativeVectorBits : target.nativeVectorBits;
    std::optional<int64_t> width = elementWidth(func);
    if (!width)
      return; // There are no vectors.

    // A sum of products over a vector that holds all products becomes a contraction, which need not make them.
    GreedyRewriteConfig untilDone;
    untilDone.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (hasSumsOfProducts(func)) {
      RewritePatternSet patterns(&getContext());
      vector::populateVectorReductionToContractPatterns(patterns);
      if (failed(applyPatternsGreedily(func, std::move(patterns), untilDone))) {
        func.emitError() << "making contractions of its sums of products did not come to an end";
        return signalPassFailure();
      }
    }
    SplitLimits limits;
    limits.lanes = std::max<int64_t>(registerBits / *width, 1);
    limits.registers = target.has("avx512f") || !StringRef(target.triple).starts_with("x86_64") ? 32 : 16;
    limits.unrollLimit = unrollLimit;
    limits.pieceLimit = pieceLimit;
    VectorSplitter splitter(func, limits);
    if (failed(splitter.run()) || (splitter.hasUnsplit() && failed(lowerWholeVectors(func))))
      signalPassFailure();
  }

  // Bits of the widest element of the function's vectors: registers are cut for these. Indices, which are mostly masks
  // in the making, count only where there is nothing else.
  static std::optional<int64_t> elementWidth(func::FuncOp func) {
    int64_t width = 0;
    bool any = false;
    func.walk([&](Operation *op) {
      for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
        auto vectorType = dyn_cast<VectorType>(type);
        if (!vectorType)
          continue;
        any = true;
        if (vectorType.getElementType().isIntOrFloat())
          width = std::max<int64_t>(width, vectorType.getElementTypeBitWidth());
      }
    });
    if (!any)
      return std::nullopt;
    return width == 0 ? 64 : std::clamp<int64_t>(width, 8, 64);
  }

  static bool hasSumsOfProducts(func::FuncOp func) {
    return func
        .walk([](vector::MultiDimReductionOp op) {
          Operation *source = op.getSource().getDefiningOp();
          return op.getKind() == vector::CombiningKind::ADD && isa_and_nonnull<arith::MulFOp, arith::MulIOp>(source)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  // What no rule was there for. These are few, and their vectors bounded by then.
  LogicalResult lowerWholeVectors(func::FuncOp func) {
    RewritePatternSet patterns(&getContext());
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorGatherLoweringPatterns(patterns);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorScanLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorBitCastLoweringPatterns(patterns, /*targetRank=*/1);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    vector::populateVectorToElementsUnrollPatterns(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    GreedyRewriteConfig untilDone;
    untilDone.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(func, std::move(patterns), untilDone)))
      return func.emitError() << "lowering its vectors did not come to an end";
    return success();
  }
};

} // namespace
} // namespace kiln
