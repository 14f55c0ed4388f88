// Which operations depend on what their outputs held before.
#ifndef KILN_COMPILER_INTERFACES_INITUSE_H
#define KILN_COMPILER_INTERFACES_INITUSE_H

#include "mlir/IR/PatternMatch.h"

namespace kiln {

// Whether the places that a structured operation stores to, each of its loops having a step, are all elements of the
// result that belongs to this init.
bool reachesWholeResult(mlir::OpOperand &init);

// Whether the result depends on what the init holds: the body reads it, or some of it stays as it was. An operation
// that is not structured is taken to need its inits.
bool needsInit(mlir::OpOperand &init);

// Gives each generic an empty tensor in place of an init that it does not need, and drops results that nobody uses
// although the body reads their init.
void populateDropUnneededInitsPatterns(mlir::RewritePatternSet &patterns);

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_INITUSE_H
