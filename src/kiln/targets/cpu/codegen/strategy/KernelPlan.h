// How one linalg operation on memory becomes loops over vectors: which loop runs along vectors, what is kept in
// registers, in which order the loops are, what is packed. The plan is made from the operation's indexing maps, the
// layouts of its memory and the configuration; KernelEmitter.h carries it out.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELPLAN_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELPLAN_H

#include "kiln/base/tile_config.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

struct CpuTarget;

// What plans need to know of a CPU.
struct KernelTarget {
  int64_t vectorBits = 128;
  int64_t vectorRegisters = 16;
  // The narrowest element that masked loads and stores have an instruction for; 0: there are none.
  int64_t maskedBits = 0;
  bool maskedBF16 = false; // LLVM takes masked loads of bf16 apart where the CPU does not know the type
  bool fma = false;
  bool vectorMath = false;  // the C library has its functions for vectors, too
  bool reassociates = true; // sums of floats

  static KernelTarget of(const CpuTarget &target);
};

struct KernelPlan {
  // The loop that runs along vectors, and how many elements a vector has; -1: element by element.
  int vectorLoop = -1;
  int64_t lanes = 1;
  // The vector loop is a reduction: lanes hold partial results, which are combined at the end.
  bool reduceLanes = false;
  // Tails of the vector loop are masked; otherwise they run element by element.
  bool masked = false;
  // Inputs whose elements are a few apart along the vector loop are loaded as whole vectors, of which these are picked.
  bool shuffles = false;
  // A loop of few steps that are all done with a vector, as with bytes of which each holds several numbers; -1: none.
  int stepLoop = -1;
  int64_t steps = 1;
  llvm::SmallVector<unsigned> interleaved; // inputs whose vectors for the steps are taken apart
  // The register tile: `rows` iterations of the row loop by `vectors` vectors. rowLoop -1: one row.
  int rowLoop = -1;
  int64_t rows = 1, vectors = 1;
  bool storesLast = false; // all of a tile is computed before any of it is stored, so that functions of it take turns
  // A multiplication of the body by an input that is the same for all that the lanes sum up: sums are multiplied by it
  // instead. Null: none.
  mlir::Operation *scaling = nullptr;
  int factor = -1; // that input
  // From the outside to the inside. Reductions are innermost.
  llvm::SmallVector<unsigned> parallelLoops, reductionLoops;
  // The reduction loop that is cut into blocks which are the outermost of all loops that `packedOperand` does not need;
  // -1: none.
  int blockedLoop = -1;
  int64_t block = 0;
  // The input that is copied into panels as wide as the register tile, for one block at a time; -1: none.
  int packedOperand = -1;
  int64_t packedExtent = 0; // an upper bound of the vector loop's extent
  int panelOperand = -1;    // lies in panels as it is, and is read ahead
  // Inputs that others have read before and this operation is the last to read. While it computes, those of the next
  // tile are asked for, for which their first reader would wait.
  llvm::SmallVector<unsigned> lastReads;
  // The input whose rows are copied in the body's wider type for one block at a time, since each of its elements would
  // be converted for each register tile; -1: none.
  int widenedOperand = -1;
  int64_t widenedRows = 0; // an upper bound of the row loop's extent
  // Loads in the body whose elements lie together along the vector loop, as those of a row that was looked up.
  llvm::SmallVector<mlir::Operation *> rowLoads;
  // Operations of the body that take one element after the other where the rest works on vectors.
  llvm::SmallVector<mlir::Operation *> elementByElement;
};

// The distance in elements between neighbours along a loop; 0 where the operand does not depend on the loop, kDynamic
// where it is not known or not constant. The operand must be a memref.
int64_t strideAlong(mlir::linalg::LinalgOp op, mlir::OpOperand &operand, unsigned loop);

// The type that the body converts an input to before it does anything else with it; null: it uses it as it is.
mlir::FloatType widerTypeOf(mlir::linalg::LinalgOp op, mlir::OpOperand &input);

// `config` may be null: defaults.
KernelPlan planKernel(mlir::linalg::LinalgOp op, const KernelTarget &target, const TileConfig *config);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELPLAN_H
