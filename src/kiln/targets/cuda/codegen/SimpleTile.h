// The tile of a dispatch that kiln-cuda-map-to-threads distributes over threads as it is.
#ifndef KILN_TARGETS_CUDA_CODEGEN_SIMPLETILE_H
#define KILN_TARGETS_CUDA_CODEGEN_SIMPLETILE_H

#include "kiln/compiler/Codegen/DispatchRoot.h"

namespace kiln {

// How many elements of the result a block computes: enough for its threads to have some each, in rows that are read and
// written in whole lines of the cache.
TileConfig chooseSimpleTile(DispatchRoot &root);

// Adds a remark that a contraction has such a tile, where tiles in shared memory would be faster. `reason` goes on
// after "since it".
void remarkSimpleContraction(mlir::func::FuncOp function, const llvm::Twine &reason);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_SIMPLETILE_H
