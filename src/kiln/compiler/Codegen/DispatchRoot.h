// What a dispatch is mainly about, and how a configuration's M and N lie on its loops.
#ifndef KILN_COMPILER_CODEGEN_DISPATCHROOT_H
#define KILN_COMPILER_CODEGEN_DISPATCHROOT_H

#include "kiln/base/tile_config.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace kiln {

struct DispatchRoot {
  mlir::TilingInterface op;
  // The strategy that its kind asks for: contraction, reduction, elementwise, or default for what is neither.
  llvm::StringRef strategy;
};

// The most expensive operation at the top of the function: contractions before other reductions before the rest, larger
// ones before smaller ones. nullopt where nothing can be tiled.
std::optional<DispatchRoot> findRoot(mlir::func::FuncOp function);

// The loops of an operation and their extents, kDynamic where these are not constant. Loops that
// kiln-codegen-prepare-dispatch makes one are one already.
struct LoopShape {
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<bool> parallel;
  // The parallel loops as they are in the first result, innermost first: N lies on the first, M on the others.
  llvm::SmallVector<unsigned> resultLoops;
  // The place in resultLoops of the loop that has a register tile's rows. Of a convolution it is the innermost one that
  // leaves as they are the vectors that are loaded along the innermost; 1 where there is none.
  unsigned rowPlace = 1;
  // How many loops from there on are rows of one block of columns.
  unsigned rowCount = 1;

  static LoopShape of(mlir::TilingInterface op);
};

// The tile of each loop, 0 for all of it. M is used up from the inside to the outside: a loop takes as much of it as it
// has iterations, and the next one what is left. Of a loop that is not known, between N's and the rows, one iteration.
llvm::SmallVector<int64_t> tileSizes(const LoopShape &shape, const TileConfig &config);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_DISPATCHROOT_H
