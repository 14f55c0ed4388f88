// Computes the body of a linalg operation on scalars and one-dimensional vectors.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_PAYLOADEMITTER_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_PAYLOADEMITTER_H

#include <map>
#include <vector>

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace kiln {

class PayloadEmitter {
public:
  // `fma`: the CPU has fused multiply-add, which a sum of products then uses. `rowLoads`: see KernelPlan.
  PayloadEmitter(mlir::OpBuilder &builder, mlir::linalg::LinalgOp op, llvm::ArrayRef<mlir::Operation *> rowLoads,
                 bool fma);

  // The values that the body yields, at the builder's insertion point. Each of `arguments` is a scalar or a vector of
  // `lanes`; what depends on scalars only stays scalar. Operations that were computed from the same values before,
  // and are still in `memory`, are not computed again. `index` gives the value of linalg.index.
  llvm::SmallVector<mlir::Value> compute(llvm::ArrayRef<mlir::Value> arguments, int64_t lanes,
                                         llvm::function_ref<mlir::Value(unsigned loop)> index);

  // `combiner`, an op of the body with two operands, applied to these.
  mlir::Value combine(mlir::Operation *combiner, mlir::Value a, mlir::Value b);

  // A vector of `lanes` copies, or the value itself where it is a vector or `lanes` is 1.
  mlir::Value broadcast(mlir::Value value, int64_t lanes);

  // What has been computed is remembered until it goes out of scope.
  using Memory = std::map<std::pair<mlir::Operation *, std::vector<void *>>, llvm::SmallVector<mlir::Value>>;
  Memory &memory() { return computed; }

private:
  llvm::SmallVector<mlir::Value> computeOp(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands, int64_t lanes);
  mlir::Value loadRow(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands, int64_t lanes);
  mlir::Value loadLanes(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands, int64_t lanes);

  mlir::OpBuilder &builder;
  mlir::linalg::LinalgOp op;
  llvm::ArrayRef<mlir::Operation *> rowLoads;
  // Additions of a product to an init, with the multiplication that becomes part of them.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> fused;
  Memory computed;
};

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_PAYLOADEMITTER_H
