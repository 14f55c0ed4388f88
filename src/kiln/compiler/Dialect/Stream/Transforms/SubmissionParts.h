// What of the work between two points where the host waits is one submission each, because it runs in one place.
#ifndef KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_SUBMISSIONPARTS_H
#define KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_SUBMISSIONPARTS_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "llvm/ADT/SetVector.h"

namespace kiln::Stream {

struct SubmissionPart {
  HAL::AffinityAttr place; // may be null
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<unsigned> after; // the parts that it waits for, which come before it in the list
};

// Each part has operations of one place, and as many of them as can be without two parts that wait for each other.
std::vector<SubmissionPart> partsOf(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace kiln::Stream

#endif // KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_SUBMISSIONPARTS_H
