// How the work of a dispatch is spread over workgroups: from an scf.forall, whose dimensions are mapped to #gpu.block,
// to the count that the export computes and the ids that the function reads. Errors are diagnostics at the op.
#ifndef KILN_COMPILER_TRANSFORMOPS_WORKGROUPDISTRIBUTION_H
#define KILN_COMPILER_TRANSFORMOPS_WORKGROUPDISTRIBUTION_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace kiln {

// The export of a dispatch's function; null where there is none.
HAL::ExecutableExportOp findExport(mlir::FunctionOpInterface function);

// The mapping of `rank` loops to the grid, from the outside to the inside: x varies fastest.
llvm::SmallVector<mlir::Attribute> workgroupMapping(mlir::MLIRContext *context, unsigned rank);

// Fills in the count region of the function's export from the loop's bounds. The bounds may depend on push constants,
// on extents of bindings and on arithmetic; anything else is an error at that op. A region that is filled is raised to
// the maximum of what it returns and this loop's bounds.
mlir::LogicalResult populateWorkgroupCount(mlir::RewriterBase &rewriter, mlir::scf::ForallOp loop);

// One workgroup does it all.
void populateSingleWorkgroup(mlir::RewriterBase &rewriter, HAL::ExecutableExportOp exportOp);

// Replaces the function's loops over workgroups by their bodies, run for the iteration that the workgroup's id names.
// The function must be bufferized, and the count region filled. Where workgroups would race the error says what to
// fuse.
mlir::LogicalResult forallToWorkgroup(mlir::RewriterBase &rewriter, mlir::FunctionOpInterface function);

// Whether `value` is computed from `index`, which is defined in the same function. `visited` are values known not to
// be.
bool dependsOn(mlir::Value value, mlir::Value index, llvm::DenseSet<mlir::Value> &visited);

// What keeps the loops of a bufferized function from running one iteration in each workgroup: a store into a binding
// outside of them, or a loop that needs what another one has stored.
mlir::LogicalResult verifyNoWorkgroupRaces(mlir::FunctionOpInterface function);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMOPS_WORKGROUPDISTRIBUTION_H
