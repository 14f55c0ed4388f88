#include "kiln/targets/cuda/codegen/CudaPasses.h"

#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDALOWERVECTORS
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

// A thread has 255 registers of 32 bits; what is a little more is spilled.
static constexpr int64_t mostElements = 1024;

namespace {

class CudaLowerVectorsPass : public impl::CudaLowerVectorsBase<CudaLowerVectorsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    WalkResult sizes = function.walk([](Operation *op) {
      if (op->hasTrait<OpTrait::ConstantLike>()) // Its users have a place in the program.
        return WalkResult::advance();
      for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
        if (auto vector = dyn_cast<VectorType>(type); vector && vector.getNumElements() > mostElements) {
          op->emitOpError("works on ") << vector << " in each thread, which has registers for " << mostElements
                                       << " elements at most: tile by less before vectorizing "
                                          "(transform.structured.vectorize_children_and_apply_patterns)";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    if (sizes.wasInterrupted() || failed(apply(&CudaLowerVectorsPass::addComputation)) ||
        failed(apply(&CudaLowerVectorsPass::addTransfers)) || failed(apply(&CudaLowerVectorsPass::addRest)))
      signalPassFailure();
  }

  LogicalResult apply(void (*add)(RewritePatternSet &)) {
    RewritePatternSet patterns(&getContext());
    add(patterns);
    GreedyRewriteConfig untilDone;
    untilDone.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), untilDone)))
      return getOperation().emitError() << "lowering its vectors did not come to an end";
    return success();
  }

  static void addComputation(RewritePatternSet &patterns) {
    vector::populateVectorContractLoweringPatterns(patterns, vector::VectorContractLowering::OuterProduct);
    vector::populateVectorOuterProductLoweringPatterns(patterns);
    vector::populateVectorMultiReductionLoweringPatterns(patterns, vector::VectorMultiReductionLowering::InnerParallel);
    vector::populateVectorTransposeLoweringPatterns(patterns, vector::VectorTransposeLowering::EltWise);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorGatherLoweringPatterns(patterns);
    vector::populateVectorScanLoweringPatterns(patterns);
  }

  static void addTransfers(RewritePatternSet &patterns) {
    vector::populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
    vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    populateVectorToSCFConversionPatterns(patterns, VectorTransferToSCFOptions().enableFullUnroll());
    vector::populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
  }

  static void addRest(RewritePatternSet &patterns) {
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorBitCastLoweringPatterns(patterns, /*targetRank=*/1);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    vector::populateVectorRankReducingFMAPattern(patterns);
  }
};

} // namespace
} // namespace kiln
