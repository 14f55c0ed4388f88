// A transform-dialect file that a user gives to drive code generation.
#ifndef KILN_COMPILER_TRANSFORMOPS_TRANSFORMSPEC_H
#define KILN_COMPILER_TRANSFORMOPS_TRANSFORMSPEC_H

#include <memory>
#include <string>

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln {

// Why what a spec leaves cannot become a kernel.
struct SpecFault {
  mlir::Location loc;   // of the program
  std::string what;     // an op and why it must not be there
  bool isLimit = false; // the spec has done all, and the device has no room for it
};

// Immutable once loaded, so that one spec is applied to many dispatches from several threads.
class TransformSpec {
public:
  // Reads the file, brings old spellings up to date (SpecUpdater.h), parses it, and finds where it starts: the first of
  // the named sequences `entries` that it has, or else its one top-level transform.sequence. Errors name the file
  // and the line. Loads dialects, so it must not run inside a pass.
  static mlir::FailureOr<std::shared_ptr<const TransformSpec>> load(mlir::MLIRContext *context, llvm::StringRef path,
                                                                    llvm::ArrayRef<llvm::StringRef> entries = {
                                                                        "__kiln_codegen", "__transform_main"});

  // Applies the spec to `root`, a hal.executable.variant or a whole program. A failure is one error at the failing line
  // of the spec that names its op and the dispatch.
  mlir::LogicalResult apply(mlir::Operation *root) const;

  // The same for code generation: no configuration of the dispatches stays, and what the spec leaves on tensors, in an
  // scf.forall or without a workgroup count is an error. `finish` is given what is no longer on tensors, before its
  // workgroup count is asked for.
  using Finish = llvm::function_ref<std::optional<SpecFault>(mlir::func::FuncOp)>;
  mlir::LogicalResult applyInsteadOfStrategy(HAL::ExecutableVariantOp variant, Finish finish = {}) const;

  // The first transform.structured.match whose op names do not occur in `root`: what a spec that leaves a dispatch
  // untouched most likely meant. Null where each matches something.
  mlir::Operation *findMatchWithoutPayload(mlir::Operation *root) const;

  const std::string &path() const { return file; }

private:
  TransformSpec() = default;

  // The op's name as the file has it, which may be an older one than the op's.
  std::string spelling(mlir::Operation *op) const;

  std::string file, text; // path and content
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::transform::TransformOpInterface entry; // in `module`
};

// The names of the dispatches in a variant, for messages: '@a', '@b'.
std::string dispatchNames(mlir::Operation *variant);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMOPS_TRANSFORMSPEC_H
