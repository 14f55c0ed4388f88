// The flow phase: from tensor operations to dispatches of executables.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_FLOWPASSES_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_FLOWPASSES_H

#include "kiln/compiler/Interfaces/CompilerContext.h"

namespace kiln::Flow {

void buildFlowPhase(mlir::OpPassManager &passes, const CompilerContext &context);

std::unique_ptr<mlir::Pass> createFuseElementwisePass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createMergeReductionsPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createSplitReductionsPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createChannelsLastPass(const CompilerContext &context, bool always = false);
std::unique_ptr<mlir::Pass> createSplitBatchesPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createSplitColumnsPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createWinogradPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createJoinProductsPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createGatherWindowsPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createFormDispatchesPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createPackConstantsPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createHoistConstantsPass(const CompilerContext &context);
std::unique_ptr<mlir::Pass> createDumpDispatchBenchmarksPass(const CompilerContext &context);

void registerFlowPasses(const CompilerContext &context);

#define GEN_PASS_DECL
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_FLOWPASSES_H
