#include "kiln/compiler/Codegen/NarrowFloats.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/CudaTarget.h"
#include "kiln/targets/cuda/codegen/KernelInterface.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDACONVERTTOLLVM
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

namespace {

class CudaConvertToLLVMPass : public impl::CudaConvertToLLVMBase<CudaConvertToLLVMPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    options.allocLowering = LowerToLLVMOptions::AllocLowering::None;
    options.dataLayout = llvm::DataLayout(CudaTarget::dataLayout());
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(context, options);
    // Of memory the back end finds out itself where it is.
    converter.addTypeAttributeConversion([](BaseMemRefType, HAL::DescriptorTypeAttr space) {
      return IntegerAttr::get(IntegerType::get(space.getContext(), 64), 0);
    });
    nvgpu::populateCommonGPUTypeAndAttributeConversions(converter);
    converter.addConversion([](nvgpu::DeviceAsyncTokenType type) { return IntegerType::get(type.getContext(), 32); });
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!function.isExternal() && failed(makeKernel(function, converter)))
        return signalPassFailure();

    replaceGpuOps(module);

    LLVMConversionTarget conversion(*context);
    conversion.addLegalDialect<NVVM::NVVMDialect>();
    conversion.addLegalOp<ModuleOp>();
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateNVGPUToNVVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false);
    // Canonicalizing makes these of what came out of mma.sync.
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    vector::populateVectorToElementsUnrollPatterns(patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    if (failed(applyPartialConversion(module, conversion, std::move(patterns))))
      return signalPassFailure();
    SmallVector<UnrealizedConversionCastOp> casts;
    module.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
    reconcileUnrealizedCasts(casts);
    if (failed(checkNothingIsLeft(module)))
      return signalPassFailure();
    storeBF16AsBits(module);
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(), StringAttr::get(context, CudaTarget::dataLayout()));
    module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(), StringAttr::get(context, CudaTarget::triple));
  }

  // Upstream's patterns for these would call CUDA's library for arithmetic as well. Blocks have one dimension.
  static void replaceGpuOps(ModuleOp module) {
    module.walk([&](Operation *op) {
      if (!isa_and_nonnull<gpu::GPUDialect>(op->getDialect()))
        return;
      OpBuilder b(op);
      Location loc = op->getLoc();
      Type i32 = b.getI32Type();
      Value narrow;
      if (isa<gpu::ThreadIdOp>(op))
        narrow = NVVM::ThreadIdXOp::create(b, loc, i32);
      else if (isa<gpu::BlockIdOp>(op))
        narrow = NVVM::BlockIdXOp::create(b, loc, i32);
      else if (isa<gpu::GridDimOp>(op))
        narrow = NVVM::GridDimXOp::create(b, loc, i32);
      else if (isa<gpu::BarrierOp>(op))
        NVVM::Barrier0Op::create(b, loc);
      else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op))
        shuffle.getShuffleResult().replaceAllUsesWith(exchangeLanes(b, shuffle));
      else
        return;
      if (narrow)
        op->replaceAllUsesWith(ValueRange{arith::IndexCastUIOp::create(b, loc, b.getIndexType(), narrow).getResult()});
      op->erase();
    });
  }

  // Of all lanes of a warp, by a distance that is a power of two.
  static Value exchangeLanes(OpBuilder &b, gpu::ShuffleOp op) {
    Location loc = op.getLoc();
    auto word = [&](int32_t value) { return LLVM::ConstantOp::create(b, loc, b.getI32Type(), value).getResult(); };
    return NVVM::ShflOp::create(b, loc, op.getShuffleResult().getType(), word(-1), op.getValue(), op.getOffset(),
                                word(31), NVVM::ShflKind::bfly, UnitAttr());
  }

  static LogicalResult checkNothingIsLeft(ModuleOp module) {
    LogicalResult result = success();
    module.walk([&](Operation *op) {
      auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      if (function && function.isExternal()) {
        op->emitOpError("is a function of a library, and kernels for GPUs have none");
        result = failure();
      }
      if (op == module || isa<UnrealizedConversionCastOp>(op) ||
          isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
        return;
      op->emitOpError("cannot be compiled for GPUs: there is no lowering of it to machine code here");
      result = failure();
    });
    if (succeeded(result)) {
      module.walk([&](UnrealizedConversionCastOp op) {
        op.emitError("a value of type ") << op.getOperandTypes() << " cannot become " << op.getResultTypes()
                                         << "; this is a bug of the compiler";
        result = failure();
      });
    }
    return result;
  }
};

} // namespace
} // namespace kiln
