#include "kiln/compiler/Codegen/ExpandMath.h"

#include "kiln/compiler/Codegen/Polynomials.h"

#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_EXPANDMATH
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

// Blocks that compute functions of several vectors.
static SmallVector<Block *> blocksWithFunctions(func::FuncOp func) {
  llvm::MapVector<Block *, int64_t> counts;
  func.walk([&](Operation *op) {
    if (findPolynomialFunction(op->getName().getStringRef()) && isa<VectorType>(op->getResult(0).getType()))
      ++counts[op->getBlock()];
  });
  SmallVector<Block *> blocks;
  for (auto [block, count] : counts)
    if (count > 1)
      blocks.push_back(block);
  return blocks;
}

// Between two writes to memory, first whatever needs nothing else, then what needs only that, and so on. A function is
// one long chain, of which a CPU looks a few dozen operations ahead: it finds more to do at a time where chains take
// turns.
static void interleave(Block &block) {
  llvm::DenseMap<Operation *, unsigned> depths;
  SmallVector<SmallVector<Operation *>> byDepth;
  auto flush = [&](Operation *before) {
    for (ArrayRef<Operation *> ops : byDepth)
      for (Operation *op : ops)
        op->moveBefore(before);
    byDepth.clear();
    depths.clear();
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // Intrinsics are functions of numbers here.
    const bool mayMove = op.getNumRegions() == 0 && !op.hasTrait<OpTrait::IsTerminator>() &&
                         (isMemoryEffectFree(&op) || hasSingleEffect<MemoryEffects::Read>(&op) ||
                          isa<LLVM::CallIntrinsicOp, memref::PrefetchOp>(op));
    if (!mayMove) {
      flush(&op);
      continue;
    }
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      if (auto found = depths.find(operand.getDefiningOp()); found != depths.end())
        depth = std::max(depth, found->second + 1);
    depths[&op] = depth;
    byDepth.resize(std::max<size_t>(byDepth.size(), depth + 1));
    byDepth[depth].push_back(&op);
  }
}

namespace {

class ExpandMath : public impl::ExpandMathBase<ExpandMath> {
public:
  using ExpandMathBase::ExpandMathBase;

private:
  void runOnOperation() override {
    CpuTarget target = CpuTarget::of(getOperation());
    if (!features.empty())
      target.features = features;
    bool isArm = StringRef(target.triple).starts_with("aarch64");
    FloatSupport support;
    support.fma = target.has("fma") || target.has("avx512f") || isArm;
    support.scales = target.has("avx512f") && target.has("avx512vl");
    support.convertsF16 = target.has("f16c") || target.has("avx512f") || isArm;
    support.computesF16 = target.has("avx512fp16") || target.has("fullfp16");
    SmallVector<Block *> blocks = blocksWithFunctions(getOperation());
    if (failed(expandMath(getOperation(), support)))
      return signalPassFailure();
    for (Block *block : blocks)
      interleave(*block);
  }
};

} // namespace
} // namespace kiln
