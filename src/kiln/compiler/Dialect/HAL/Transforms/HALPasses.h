// The phases executable-sources, executable-targets and hal.
#ifndef KILN_COMPILER_DIALECT_HAL_TRANSFORMS_HALPASSES_H
#define KILN_COMPILER_DIALECT_HAL_TRANSFORMS_HALPASSES_H

#include "kiln/compiler/Interfaces/CompilerContext.h"

namespace kiln::HAL {

void buildExecutableSourcesPhase(mlir::OpPassManager &passes, const CompilerContext &context);
// The first half of executable-targets.
void buildConfigurationPipeline(mlir::OpPassManager &passes, const CompilerContext &context);
void buildExecutableTargetsPhase(mlir::OpPassManager &passes, const CompilerContext &context);
void buildHALPhase(mlir::OpPassManager &passes, const CompilerContext &context);

std::unique_ptr<mlir::Pass> createMaterializeExecutablesPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createConfigureBySpecPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createConfigureExecutablePass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createTranslateExecutablePass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createLinkExecutablesPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createConvertToHALPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createSerializeExecutablesPass(const CompilerContext &context);

void registerHALPasses(const CompilerContext &context);

#define GEN_PASS_DECL
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

} // namespace kiln::HAL

#endif // KILN_COMPILER_DIALECT_HAL_TRANSFORMS_HALPASSES_H
