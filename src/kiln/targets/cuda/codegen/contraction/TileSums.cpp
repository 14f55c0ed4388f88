#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace kiln {

TileSums::TileSums(const TileKernel &kernel, ArrayRef<Value> sums) : kernel(kernel), sums(sums) {
  if (!kernel.part)
    return;
  kernel.barrier(); // The stages are read.
  for (auto [i, sum] : llvm::enumerate(sums))
    LLVM::StoreOp::create(kernel.b, sum, placeOf(int64_t(i)), sum.getType().getIntOrFloatBitWidth() / 8);
  clusterBarrier();
}

void TileSums::finish(int64_t first, int64_t count, Value m, Value n) {
  ImplicitLocOpBuilder &b = kernel.b;
  if (!kernel.part)
    return finishElements(kernel, ArrayRef(sums).slice(first, count), m, n);
  Value number = kernel.i32.constant(turn++ % kernel.config.clusterK);
  kernel.where(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, kernel.part, number), [&] {
    auto pointer =
        LLVM::LLVMPointerType::get(b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    SmallVector<Value> totals;
    for (int64_t i = first; i < first + count; ++i) {
      Type type = sums[i].getType();
      Value total;
      // In the order of k, whoever adds.
      for (int64_t part = 0; part < kernel.config.clusterK; ++part) {
        Value remote = NVVM::MapaOp::create(b, pointer, placeOf(i), kernel.i32.constant(part));
        Value sum = LLVM::LoadOp::create(b, type, remote, type.getIntOrFloatBitWidth() / 8);
        total = !total             ? sum
                : type.isInteger() ? arith::AddIOp::create(b, total, sum).getResult()
                                   : arith::AddFOp::create(b, total, sum).getResult();
      }
      totals.push_back(total);
    }
    finishElements(kernel, totals, m, n);
  });
}

void TileSums::end() {
  if (kernel.part)
    clusterBarrier();
}

// Threads have neighbouring places, in each block the same.
Value TileSums::placeOf(int64_t sum) const {
  int64_t bytes = sums[sum].getType().getIntOrFloatBitWidth() / 8;
  return kernel.sharedAt(kernel.i32.add(kernel.i32.mul(kernel.thread, bytes), sum * kernel.threads * bytes));
}

void TileSums::clusterBarrier() {
  NVVM::ClusterArriveOp::create(kernel.b, UnitAttr());
  NVVM::ClusterWaitOp::create(kernel.b, UnitAttr());
}

} // namespace kiln
