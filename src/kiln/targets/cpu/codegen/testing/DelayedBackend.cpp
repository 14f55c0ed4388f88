#include "kiln/targets/cpu/codegen/testing/DelayedBackend.h"

#include "kiln/compiler/testing/Testing.h"
#include "kiln/targets/cpu/codegen/CpuBackend.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {

namespace {
// Moves the delay from the op to its dispatch's function, before code generation takes the op apart.
class TakeDelay : public PassWrapper<TakeDelay, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TakeDelay)

  void runOnOperation() override {
    getOperation().getFunctionBody().walk([&](Operation *op) {
      if (Attribute delay = op->removeAttr(kDelayAttr))
        getOperation()->setAttr(kDelayAttr, delay);
    });
  }
};

class PlantDelay : public PassWrapper<PlantDelay, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlantDelay)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto iterations = func->getAttrOfType<IntegerAttr>(kDelayAttr);
    if (!iterations || func.isExternal())
      return;
    Location loc = func.getLoc();
    OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0), one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value end = arith::ConstantIndexOp::create(builder, loc, iterations.getInt());
    auto loop = scf::ForOp::create(builder, loc, zero, end, one);
    builder.setInsertionPointToStart(loop.getBody());
    // Nothing, which the optimizer must take for something.
    LLVM::InlineAsmOp::create(builder, loc, TypeRange(), ValueRange(), "", "", /*has_side_effects=*/true,
                              /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  }
};

class DelayedBackend final : public CpuBackend {
public:
  void buildConfigurationPipeline(OpPassManager &variantPasses) const override {
    variantPasses.nest<ModuleOp>().nest<func::FuncOp>().addPass(std::make_unique<TakeDelay>());
    CpuBackend::buildConfigurationPipeline(variantPasses);
  }

  void buildTranslationPipeline(OpPassManager &variantPasses) const override {
    variantPasses.nest<ModuleOp>().nest<func::FuncOp>().addPass(std::make_unique<PlantDelay>());
    CpuBackend::buildTranslationPipeline(variantPasses);
  }
};
} // namespace

void registerDelayedBackend(TargetBackendRegistry &registry) {
  registry.add(std::make_unique<DelayedBackend>());
}

} // namespace kiln
