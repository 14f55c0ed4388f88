// The phases input, abi and preprocessing.
#ifndef KILN_COMPILER_TRANSFORMS_TRANSFORMS_H
#define KILN_COMPILER_TRANSFORMS_TRANSFORMS_H

#include "kiln/compiler/Interfaces/CompilerContext.h"

namespace kiln {

void buildInputPhase(mlir::OpPassManager &passes, const CompilerContext &context);
void buildAbiPhase(mlir::OpPassManager &passes, const CompilerContext &context);
void buildPreprocessingPhase(mlir::OpPassManager &passes, const CompilerContext &context);

// What the phase input does to a program, without what the options ask it to write into files.
void buildInputConversion(mlir::OpPassManager &passes, const CompilerContext &context);

std::unique_ptr<mlir::Pass> createReplaceSubgraphsPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createRunPreprocessingPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createExportParametersPass(const CompilerContext &context);

void registerTransformsPasses(const CompilerContext &context);

#define GEN_PASS_DECL
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMS_TRANSFORMS_H
