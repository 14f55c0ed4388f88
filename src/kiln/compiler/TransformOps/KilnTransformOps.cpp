#include "kiln/compiler/TransformOps/KilnTransformOps.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/TransformOps/DispatchBufferization.h"
#include "kiln/compiler/TransformOps/SubgraphOps.h"
#include "kiln/compiler/TransformOps/WorkgroupDistribution.h"

#include "mlir/Dialect/Affine/TransformOps/AffineTransformOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/TransformOps/BufferizationTransformOps.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/TransformOps/FuncTransformOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/TransformOps/GPUTransformOps.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/MemRef/TransformOps/MemRefTransformOps.h"
#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/Tensor/TransformOps/TensorTransformOps.h"
#include "mlir/Dialect/Transform/LoopExtension/LoopExtension.h"
#include "mlir/Dialect/Transform/PDLExtension/PDLExtension.h"
#include "mlir/Dialect/Vector/TransformOps/VectorTransformOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace kiln::TransformOps;
using transform::ApplyToEachResultList;
using transform::TransformRewriter;
using transform::TransformState;

#define GET_OP_CLASSES
#include "kiln/compiler/TransformOps/KilnTransformOps.cpp.inc"

// For ops whose work has said at the payload what is wrong: the failure is the spec's, at this line.
static DiagnosedSilenceableFailure failedOn(Operation *transform, Operation *target) {
  auto failure = mlir::emitDefiniteFailure(transform) << "could not be applied";
  failure.attachNote(target->getLoc()) << "to this op";
  return failure;
}

// For ops that are given something else than they are for.
static DiagnosedSilenceableFailure wrongTarget(Operation *transform, Operation *target, StringRef wanted) {
  auto failure = mlir::emitDefiniteFailure(transform)
                 << "is for " << wanted << ", but is given a '" << target->getName() << "'";
  failure.attachNote(target->getLoc()) << "this op";
  return failure;
}

DiagnosedSilenceableFailure PopulateWorkgroupCountRegionUsingNumThreadsSliceOp::applyToOne(TransformRewriter &rewriter,
                                                                                           Operation *target,
                                                                                           ApplyToEachResultList &,
                                                                                           TransformState &) {
  auto loop = dyn_cast<scf::ForallOp>(target);
  if (!loop)
    return wrongTarget(*this, target, "an scf.forall (the loop that tile_using_forall returns)");
  if (failed(kiln::populateWorkgroupCount(rewriter, loop)))
    return failedOn(*this, target);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure ApplyLicmOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                                    ApplyToEachResultList &, TransformState &) {
  // Only moves ops, so that handles stay valid. Inner loops first.
  target->walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure ApplyCseOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                                   ApplyToEachResultList &, TransformState &) {
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, target);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure EliminateEmptyTensorsOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                                                ApplyToEachResultList &, TransformState &) {
  if (failed(kiln::eliminateEmptyTensors(rewriter, target)))
    return failedOn(*this, target);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure BufferizeOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                                    ApplyToEachResultList &results, TransformState &) {
  if (failed(kiln::bufferizeDispatch(rewriter, target)))
    return failedOn(*this, target);
  results.push_back(target);
  return DiagnosedSilenceableFailure::success();
}

void BufferizeOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getTargetMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure EraseHalDescriptorTypeFromMemrefOp::applyToOne(TransformRewriter &, Operation *target,
                                                                           ApplyToEachResultList &, TransformState &) {
  auto function = dyn_cast<FunctionOpInterface>(target);
  if (!function)
    return wrongTarget(*this, target, "a function");
  kiln::eraseHALDescriptorTypes(function);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure ForallToWorkgroupOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                                            ApplyToEachResultList &, TransformState &) {
  auto function = dyn_cast<FunctionOpInterface>(target);
  if (!function)
    return wrongTarget(*this, target, "a function");
  if (failed(kiln::forallToWorkgroup(rewriter, function)))
    return failedOn(*this, target);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure ApplyBufferOptimizationsOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                                                   ApplyToEachResultList &, TransformState &) {
  kiln::optimizeBuffers(rewriter, target);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure HoistStaticAllocOp::applyToOne(TransformRewriter &rewriter, Operation *target,
                                                           ApplyToEachResultList &, TransformState &) {
  target->walk([&](memref::AllocOp alloc) {
    if (!alloc.getType().hasStaticShape() || !alloc.getSymbolOperands().empty() ||
        llvm::any_of(alloc->getUsers(), llvm::IsaPred<memref::DeallocOp>))
      return;
    Operation *outermost = nullptr;
    for (Operation *parent = alloc->getParentOp(); isa<LoopLikeOpInterface>(parent) && parent != target;
         parent = parent->getParentOp())
      outermost = parent;
    if (outermost)
      rewriter.moveOpBefore(alloc, outermost);
  });
  return DiagnosedSilenceableFailure::success();
}

// Upstream's op gives a launch that is mapped already another block, which its threads do not know of.
static DiagnosedSilenceableFailure checkMapping(Operation *next, TransformState &state) {
  if (!isa<transform::MapNestedForallToThreads>(next))
    return DiagnosedSilenceableFailure::success();
  for (Operation *target : state.getPayloadOps(next->getOperand(0)))
    if (isa<gpu::LaunchOp>(target) &&
        !target->walk([](scf::ForallOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return mlir::emitDefiniteFailure(next)
             << "finds no scf.forall to map: the loops of this launch are mapped already, "
                "or have no mapping to #gpu.thread or #gpu.warp";
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure TraceOp::apply(TransformRewriter &, transform::TransformResults &, TransformState &state) {
  if (auto *extension = state.getExtension<kiln::TraceExtension>())
    extension->enter(getOperation()->getNextNode());
  return checkMapping(getOperation()->getNextNode(), state);
}

void TraceOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsPayload(effects);
}

void ApplyFoldReshapeIntoTensorHalInterfacePatternsOp::populatePatterns(RewritePatternSet &patterns) {
  kiln::populateFoldReshapeIntoInterfacePatterns(patterns);
}

void ApplyFoldFillIntoPadPatternsOp::populatePatterns(RewritePatternSet &patterns) {
  kiln::populateFoldFillIntoPadPatterns(patterns);
}

namespace {
class KilnTransformExtension : public transform::TransformDialectExtension<KilnTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KilnTransformExtension)
  void init() {
    declareGeneratedDialect<affine::AffineDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<bufferization::BufferizationDialect>();
    declareGeneratedDialect<kiln::HAL::HALDialect>();
    declareGeneratedDialect<memref::MemRefDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    declareGeneratedDialect<vector::VectorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "kiln/compiler/TransformOps/KilnTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void kiln::registerTransformExtension(DialectRegistry &registry) {
  registry.insert<transform::TransformDialect>();
  registry.addExtensions<KilnTransformExtension>();
  registerSubgraphOps(registry);
  affine::registerTransformDialectExtension(registry);
  bufferization::registerTransformDialectExtension(registry);
  func::registerTransformDialectExtension(registry);
  linalg::registerTransformDialectExtension(registry);
  memref::registerTransformDialectExtension(registry);
  scf::registerTransformDialectExtension(registry);
  tensor::registerTransformDialectExtension(registry);
  transform::registerLoopExtension(registry);
  transform::registerPDLExtension(registry);
  vector::registerTransformDialectExtension(registry);
}
