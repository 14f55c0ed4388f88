// What one compilation is given: its options and the backends. Passes that need more than their IR take it by
// reference; it outlives them.
#ifndef KILN_COMPILER_INTERFACES_COMPILERCONTEXT_H
#define KILN_COMPILER_INTERFACES_COMPILERCONTEXT_H

#include <functional>

#include "kiln/compiler/Interfaces/TargetBackend.h"

namespace kiln {

// Folders that receive the executables in a form each; empty: none.
struct DumpOptions {
  std::string sources;        // as code generation gets them
  std::string configurations; // with strategy and configuration chosen
  std::string benchmarks;     // programs that launch one dispatch each
  std::string intermediates;  // the backend's steps: .ll, .bc, .s, .o
  std::string binaries;       // what is put into the module: .so
  std::string files;          // all of these
};

struct CompilerOptions {
  std::vector<std::string> targetBackends;
  // The devices that programs will run on, which choose backends as well; and which backends of local ones, empty: all.
  std::vector<std::string> targetDevices, localTargetDeviceBackends;
  std::string preprocessingPassPipeline; // run in the preprocessing phase
  std::string preprocessingSpec;         // a transform-dialect file that is applied to the program then; empty: none
  std::string configurationSpec;         // one that configures each dispatch, FILE or FILE@SEQUENCE; empty: none
  int64_t dispatchRepeatCount = 1;       // how often each dispatch is launched, for benchmarks
  bool optimizeBytecodeModule = true;    // CSE, canonicalization and the like on the VM's program
  int optimizationLevel = 3;
  bool widenFloats = false; // see the pass kiln-widen-floats
  bool zeroFillElided = false;
  bool channelsLast = true;      // see the pass kiln-flow-channels-last
  bool joinProducts = true;      // see the pass kiln-flow-join-products
  bool dataTiling = true;        // see the pass kiln-flow-pack-constants
  bool winograd = true;          // see the pass kiln-flow-winograd
  bool evaluateConstants = true; // see the pass kiln-flow-hoist-constants
  std::string parameterExport;   // [scope=]file, empty: constants stay in the program
  int64_t parameterExportMinimumSize = 256;
  TuningOptions tuning;
  DumpOptions dump;
};

struct CompilerContext {
  CompilerOptions options;
  TargetBackendRegistry backends;
  // Adds passes of a program that tests other programs near the end of the input phase; null in the product.
  std::function<void(mlir::OpPassManager &)> extendInput;

  // The backends of options.targetBackends and of options.targetDevices; an error at `loc` names one that is unknown,
  // or says that none was given.
  mlir::FailureOr<llvm::SmallVector<TargetBackend *>> selectedBackends(mlir::Location loc) const;
  // What a dispatch can hold on all of them; reductions are split as the first one says. Programs of tests need not
  // have a target.
  mlir::FailureOr<DispatchLimits> dispatchLimits(mlir::Location loc) const;
};

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_COMPILERCONTEXT_H
