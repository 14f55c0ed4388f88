#include "kiln/targets/cuda/codegen/contraction/ContractionKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace kiln {

void clusterBarrier(ImplicitLocOpBuilder &b) {
  NVVM::ClusterArriveOp::create(b, UnitAttr());
  NVVM::ClusterWaitOp::create(b, UnitAttr());
}

Value addUpParts(ImplicitLocOpBuilder &b, Value place, Type type, int64_t parts) {
  auto pointer =
      LLVM::LLVMPointerType::get(b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  Type element = getElementTypeOrSelf(type);
  auto vector = dyn_cast<VectorType>(type);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8 * (vector ? vector.getNumElements() : 1);
  Value total;
  for (int64_t part = 0; part < parts; ++part) {
    Value rank = arith::ConstantIntOp::create(b, part, 32);
    Value remote = NVVM::MapaOp::create(b, pointer, place, rank);
    Value sum = LLVM::LoadOp::create(b, type, remote, unsigned(bytes));
    total = !total                ? sum
            : element.isInteger() ? arith::AddIOp::create(b, total, sum).getResult()
                                  : arith::AddFOp::create(b, total, sum).getResult();
  }
  return total;
}

TileSums::TileSums(const TileKernel &kernel, ArrayRef<Value> sums) : kernel(kernel), sums(sums) {
  if (!kernel.part)
    return;
  kernel.barrier(); // The stages are read.
  for (auto [i, sum] : llvm::enumerate(sums))
    LLVM::StoreOp::create(kernel.b, sum, placeOf(int64_t(i)), sum.getType().getIntOrFloatBitWidth() / 8);
  clusterBarrier(kernel.b);
}

void TileSums::finish(int64_t first, int64_t count, Value m, Value n) {
  ImplicitLocOpBuilder &b = kernel.b;
  if (!kernel.part)
    return finishElements(kernel, ArrayRef(sums).slice(first, count), m, n);
  Value number = kernel.i32.constant(turn++ % kernel.config.clusterK);
  kernel.where(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, kernel.part, number), [&] {
    SmallVector<Value> totals;
    for (int64_t i = first; i < first + count; ++i)
      totals.push_back(addUpParts(b, placeOf(i), sums[i].getType(), kernel.config.clusterK));
    finishElements(kernel, totals, m, n);
  });
}

void TileSums::end() {
  if (kernel.part)
    clusterBarrier(kernel.b);
}

// Threads have neighbouring places, in each block the same.
Value TileSums::placeOf(int64_t sum) const {
  int64_t bytes = sums[sum].getType().getIntOrFloatBitWidth() / 8;
  return kernel.sharedAt(kernel.i32.add(kernel.i32.mul(kernel.thread, bytes), sum * kernel.threads * bytes));
}

} // namespace kiln
