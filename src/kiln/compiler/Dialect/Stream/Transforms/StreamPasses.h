// The stream phase: from tensors to scheduled commands on planned memory.
#ifndef KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_STREAMPASSES_H
#define KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_STREAMPASSES_H

#include "kiln/compiler/Interfaces/CompilerContext.h"

namespace kiln::Stream {

void buildStreamPhase(mlir::OpPassManager &passes, const CompilerContext &context);

void registerStreamPasses(const CompilerContext &context);

#define GEN_PASS_DECL
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h.inc"

} // namespace kiln::Stream

#endif // KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_STREAMPASSES_H
