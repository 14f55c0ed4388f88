#include "kiln/compiler/Codegen/NarrowFloats.h"
#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/DispatchInterface.h"
#include "kiln/targets/cpu/codegen/math/LibraryFunctions.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CONVERTTOLLVM
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

namespace {

// What depends on a target's data layout, and on whether sums of floats may be in any order. To make it takes longer
// than to convert a small kernel.
struct Lowering {
  Lowering(MLIRContext *context, StringRef dataLayout, bool reassociates)
      : dataLayout(dataLayout), reassociates(reassociates), converter(context, optionsFor(context, dataLayout)) {
    // What strategies did not erase already: on the CPU a binding is memory like any other.
    converter.addTypeAttributeConversion([](BaseMemRefType, HAL::DescriptorTypeAttr space) {
      return IntegerAttr::get(IntegerType::get(space.getContext(), 64), 0);
    });
    RewritePatternSet set(context);
    arith::populateArithToLLVMConversionPatterns(converter, set);
    cf::populateControlFlowToLLVMConversionPatterns(converter, set);
    index::populateIndexToLLVMConversionPatterns(converter, set);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, set);
    populateFuncToLLVMConversionPatterns(converter, set);
    populateMathToLLVMConversionPatterns(converter, set, /*approximateLog1p=*/false);
    populateVectorToLLVMConversionPatterns(converter, set, reassociates);
    ub::populateUBToLLVMConversionPatterns(converter, set);
    patterns = std::move(set);
  }
  Lowering(const Lowering &) = delete; // patterns refer to the converter
  Lowering &operator=(const Lowering &) = delete;

  static LowerToLLVMOptions optionsFor(MLIRContext *context, StringRef dataLayout) {
    LowerToLLVMOptions options(context);
    options.allocLowering = LowerToLLVMOptions::AllocLowering::None;
    options.dataLayout = llvm::DataLayout(dataLayout);
    options.overrideIndexBitwidth(64);
    return options;
  }

  std::string dataLayout;
  bool reassociates;
  LLVMTypeConverter converter;
  FrozenRewritePatternSet patterns;
};

class ConvertToLLVM : public impl::ConvertToLLVMBase<ConvertToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    CpuTarget target = CpuTarget::of(module);
    if (!lowering || lowering->dataLayout != target.dataLayout || lowering->reassociates != target.reassociates)
      lowering = std::make_shared<const Lowering>(context, target.dataLayout, target.reassociates);

    SmallVector<std::string> bodies;
    if (failed(prefixPrivateSymbols(module)) || failed(splitDispatches(module, lowering->converter, bodies)))
      return signalPassFailure();

    LLVMConversionTarget conversion(*context);
    conversion.addLegalOp<ModuleOp>();
    if (failed(applyPartialConversion(module, conversion, lowering->patterns)))
      return signalPassFailure();
    SmallVector<UnrealizedConversionCastOp> casts;
    module.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
    reconcileUnrealizedCasts(casts);
    if (failed(checkNothingIsLeft(module)))
      return signalPassFailure();
    // Where there are registers for bf16, LLVM 22 mistakes some of these bits for a conversion to it.
    if (!target.has("avx512bf16"))
      storeBF16AsBits(module);

    for (StringRef body : bodies)
      module.lookupSymbol<LLVM::LLVMFuncOp>(body).setAlwaysInline(true);
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(), StringAttr::get(context, target.dataLayout));
    module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(), StringAttr::get(context, target.triple));
  }

  LogicalResult splitDispatches(ModuleOp module, const LLVMTypeConverter &converter,
                                SmallVectorImpl<std::string> &bodies) {
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!isDispatch(func))
        continue;
      if (failed(splitDispatch(func, converter)))
        return failure();
      bodies.push_back(func.getName().str());
    }
    return success();
  }

  // Constants and helper functions get names that no other executable has, and are seen by this one only.
  LogicalResult prefixPrivateSymbols(ModuleOp module) {
    auto executable = module->getParentOfType<HAL::ExecutableOp>();
    std::string prefix = executable ? executable.getSymName().str() + "_" : "";
    for (Operation &op : llvm::make_early_inc_range(module.getOps())) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (!symbol || symbol.isDeclaration())
        continue;
      if (auto func = dyn_cast<func::FuncOp>(op)) {
        if (isDispatch(func))
          continue;
        op.setAttr("llvm.linkage", LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
      }
      auto name = StringAttr::get(&getContext(), prefix + symbol.getName());
      if (failed(SymbolTable::replaceAllSymbolUses(&op, name, module)))
        return op.emitError("cannot be renamed: a use of it is not understood");
      symbol.setName(name);
      symbol.setPrivate();
    }
    return success();
  }

  LogicalResult checkNothingIsLeft(ModuleOp module) {
    LogicalResult result = success();
    // Casts between converted and unconverted values are there because of the ops that are reported.
    module.walk([&](Operation *op) {
      if (op == module || isa<UnrealizedConversionCastOp>(op) || isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
        return;
      op->emitOpError("cannot be compiled for the CPU: there is no lowering of it to machine code here");
      result = failure();
    });
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      if (!function.isExternal() || isLibraryFunction(function.getName()))
        continue;
      std::optional<SymbolTable::UseRange> uses = function.getSymbolUses(module);
      for (const SymbolTable::SymbolUse &use : *uses) {
        use.getUser()->emitError("a kernel cannot call '")
            << function.getName() << "': of other libraries it may use the C library's mathematics only";
        result = failure();
      }
    }
    if (succeeded(result)) {
      module.walk([&](UnrealizedConversionCastOp op) {
        op.emitError("a value of type ") << op.getOperandTypes() << " cannot become " << op.getResultTypes()
                                         << "; this is a bug of the compiler";
        result = failure();
      });
    }
    return result;
  }

  // Of the last variant; shared with the copies of this pass that run in other threads.
  std::shared_ptr<const Lowering> lowering;
};

} // namespace
} // namespace kiln
