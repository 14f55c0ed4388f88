// The one ordered table of phases. --compile-to and --compile-from, the dumps of kiln-compile, kiln-opt's pipelines and
// docs/generated/phases.md all read it.
#ifndef KILN_COMPILER_PIPELINE_PHASES_H
#define KILN_COMPILER_PIPELINE_PHASES_H

#include "kiln/compiler/Interfaces/CompilerContext.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

struct Phase {
  const char *name;     // as in --compile-to=
  const char *pipeline; // kiln-opt's flag that runs it, without dashes; null for `end`, which only serializes
  // The first phase that this flag runs: the documents' flags `flow` and `hal` stand for several phases.
  int pipelineFrom;
  const char *summary; // what it does that no other phase does
  void (*build)(mlir::OpPassManager &passes, const CompilerContext &context);
  // What may not be left when the phase is done: names of dialects ("flow"), or of ops ("scf.forall").
  std::vector<const char *> gone;
};

llvm::ArrayRef<Phase> phases();

// The index of a phase in the table, or -1.
int findPhase(llvm::StringRef name);

// Adds the passes of phases `from` to `to`, both included, each followed by a pass that verifies the program and checks
// what must be gone.
void buildPhases(mlir::OpPassManager &passes, const CompilerContext &context, int from, int to);

// The executables configured, as the documents' two-step form wants them: --kiln-hal-configuration-pipeline.
void buildHALConfigurationPipeline(mlir::OpPassManager &passes, const CompilerContext &context);

// A pass that verifies the program, and reports each op that phase `phase` must not leave behind.
std::unique_ptr<mlir::Pass> createVerifyPhasePass(const Phase &phase);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_PHASES_H
