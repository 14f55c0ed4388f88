// The compiler as tools see it: one object that owns the backends and the options, declares the flags, and knows the
// phases.
#ifndef KILN_COMPILER_PIPELINE_COMPILER_H
#define KILN_COMPILER_PIPELINE_COMPILER_H

#include "kiln/compiler/Interfaces/CompilerContext.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"
#include "kiln/compiler/Pipeline/ForeignSwitches.h"

namespace kiln {

class Compiler {
public:
  // With the backends that `registerBackends` adds (kiln/targets/backends.h).
  explicit Compiler(void (*registerBackends)(TargetBackendRegistry &));

  // Declares the flags that kiln-compile and kiln-opt share.
  void bindOptions(OptionBinder &binder);

  // Every dialect, interface and extension that a program, a spec or a phase may need.
  void registerDialects(mlir::DialectRegistry &registry) const;

  // Every pass and every phase's pipeline by name, for kiln-opt and for pipelines in options; once per process. The
  // compiler must outlive their use.
  void registerPasses() const;

  // What to say of flags that were given, after parsing.
  std::vector<std::string> notes() const { return foreign.notes(shared.options); }

  CompilerContext &context() { return shared; }
  const CompilerContext &context() const { return shared; }

private:
  CompilerContext shared;
  ForeignSwitches foreign;
};

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_COMPILER_H
