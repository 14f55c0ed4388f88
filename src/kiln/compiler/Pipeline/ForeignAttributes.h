// Attributes that programs carry for another compiler's code generation.
#ifndef KILN_COMPILER_PIPELINE_FOREIGNATTRIBUTES_H
#define KILN_COMPILER_PIPELINE_FOREIGNATTRIBUTES_H

#include "mlir/IR/DialectRegistry.h"

namespace kiln {

// Lets programs hold attributes of iree_codegen, iree_cpu and iree_gpu, each of which is read as a string, with a
// warning that says that it has no effect.
void registerForeignAttributes(mlir::DialectRegistry &registry);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_FOREIGNATTRIBUTES_H
