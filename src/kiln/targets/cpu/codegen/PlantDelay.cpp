#include "kiln/targets/cpu/codegen/CpuPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_PLANTDELAY
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

namespace {
class PlantDelay : public impl::PlantDelayBase<PlantDelay> {
public:
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto iterations = func->getAttrOfType<IntegerAttr>("kiln.delay");
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
} // namespace
} // namespace kiln
