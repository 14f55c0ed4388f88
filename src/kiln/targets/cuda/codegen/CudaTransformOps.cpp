#include "kiln/targets/cuda/codegen/CudaTransformOps.h"

#include "mlir/Conversion/VectorToGPU/VectorToGPU.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/TransformOps/GPUTransformOps.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/NVGPU/TransformOps/NVGPUTransformOps.h"
#include "mlir/Dialect/NVGPU/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace kiln::TransformOps;
using transform::ApplyToEachResultList;
using transform::TransformRewriter;
using transform::TransformState;

#define GET_OP_CLASSES
#include "kiln/targets/cuda/codegen/CudaTransformOps.cpp.inc"

LogicalResult VectorToMmaConversionOp::verify() {
  return getUseMmaSync()
             ? success()
             : emitOpError("has to say which instructions: write { use_mma_sync }, the only ones there are");
}

// Upstream makes nvgpu.mma.sync of any shape whose registers it can count.
static bool hasInstruction(nvgpu::MmaSyncOp op) {
  std::array<int64_t, 3> shape = op.getMmaShapeAsArray();
  int64_t bitsOfDepth = shape[2] * op.getMatrixA().getType().getElementTypeBitWidth();
  return shape[0] == 16 && shape[1] == 8 && (bitsOfDepth == 128 || bitsOfDepth == 256);
}

DiagnosedSilenceableFailure VectorToMmaConversionOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                                                ApplyToEachResultList &, TransformState &) {
  auto failedAt = [&](Operation *op, const Twine &what) -> DiagnosedSilenceableFailure {
    DiagnosedDefiniteFailure failure = mlir::emitDefiniteFailure(getOperation()) << what;
    failure.attachNote(op->getLoc()) << "this op";
    return failure;
  };
  if (!target->hasTrait<OpTrait::IsIsolatedFromAbove>())
    return failedAt(target, "is for a function");
  auto findContract = [&] {
    vector::ContractionOp found;
    target->walk([&](vector::ContractionOp op) {
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  };
  if (!findContract())
    return failedAt(target, "finds no vector.contract; vectorize the product first");
  RewritePatternSet prepare(getContext());
  populatePrepareVectorToMMAPatterns(prepare, /*useNvGpu=*/true);
  if (failed(applyPatternsGreedily(target, std::move(prepare))) ||
      failed(convertVectorToNVVMCompatibleMMASync(rewriter, target)))
    return failedAt(target, "cannot convert all contractions");
  // The contractions that were converted stay without users, carried by loops.
  RewritePatternSet asTf32(getContext());
  scf::ForOp::getCanonicalizationPatterns(asTf32, getContext());
  nvgpu::populateMmaSyncF32ToTF32Patterns(asTf32);
  if (failed(applyPatternsGreedily(target, std::move(asTf32))))
    return failedAt(target, "cannot convert f32 to tf32");
  constexpr StringLiteral advice = ": mma.sync has 16x8x8 and 16x8x16 of f16, 16x8x4 and 16x8x8 of f32, and 16x8x16 "
                                   "and 16x8x32 of i8, whose operands "
                                   "are read from memory and whose sums are there or carried by a loop "
                                   "(transform.apply_patterns.gpu.unroll_vectors_subgroup_mma)";
  if (vector::ContractionOp left = findContract()) {
    std::string text;
    llvm::raw_string_ostream(text) << "leaves a vector.contract of " << left.getLhsType() << " and "
                                   << left.getRhsType() << " into " << left.getResultType() << advice;
    return failedAt(left, text);
  }
  nvgpu::MmaSyncOp wrong;
  target->walk([&](nvgpu::MmaSyncOp op) { wrong = hasInstruction(op) ? wrong : op; });
  if (wrong) {
    std::array<int64_t, 3> shape = wrong.getMmaShapeAsArray();
    return failedAt(wrong,
                    llvm::formatv("is given products of {0}x{1}x{2}{3}", shape[0], shape[1], shape[2], advice).str());
  }
  return DiagnosedSilenceableFailure::success();
}

namespace {
class CudaTransformExtension : public transform::TransformDialectExtension<CudaTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaTransformExtension)
  void init() {
    declareGeneratedDialect<affine::AffineDialect>();
    declareGeneratedDialect<gpu::GPUDialect>();
    declareGeneratedDialect<nvgpu::NVGPUDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "kiln/targets/cuda/codegen/CudaTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void kiln::registerCudaTransformExtension(DialectRegistry &registry) {
  registerTransformExtension(registry);
  registry.addExtensions<CudaTransformExtension>();
  gpu::registerTransformDialectExtension(registry);
  nvgpu::registerTransformDialectExtension(registry);
}
