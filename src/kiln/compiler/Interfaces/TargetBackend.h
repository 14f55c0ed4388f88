// What a target implements on the compiler's side. A backend owns its options; nothing in it is global, so that two
// compilations with different options may run in one process.
#ifndef KILN_COMPILER_INTERFACES_TARGETBACKEND_H
#define KILN_COMPILER_INTERFACES_TARGETBACKEND_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Interfaces/DispatchLimits.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

class OptionBinder;

// What serialization leaves beside the module; empty paths leave nothing.
struct SerializationOptions {
  std::string intermediatesPath; // folder for .ll, .bc, .s and .o files
  std::string binariesPath;      // folder for .so, .cubin and the like
  std::string baseName;          // how those files' names start: <module>_<executable>_<variant>
  int optimizationLevel = 3;     // 0 to 3
};

// How tuning databases are asked (docs/tuning.md), by all backends alike.
struct TuningOptions {
  std::string database; // a path; empty: none
  int64_t threads = 0;  // takes what was measured with so many threads of a CPU; 0: with the most
  std::string keys;     // folder for what tuning databases know dispatches by; empty: not written
};

class TargetBackend {
public:
  virtual ~TargetBackend();

  // What the compiler's flags say of tuning databases; outlives the backend. Said before anything else is asked.
  void shareTuning(const TuningOptions &options) { shared = &options; }

  // As in --kiln-hal-target-backends: "llvm-cpu".
  virtual llvm::StringRef name() const = 0;
  virtual llvm::StringRef description() const = 0;

  // The runtime's devices that its code is for, as in --kiln-hal-target-device: "local".
  virtual llvm::ArrayRef<llvm::StringRef> devices() const = 0;

  // Declares the backend's flags; they set the backend's own options.
  virtual void bindOptions(OptionBinder &binder) = 0;

  // Dialects and interfaces that its passes and specs may make.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  // Registers its passes under their names, each made with this backend's options; for kiln-opt and --pass-pipeline.
  // The backend must outlive every use.
  virtual void registerPasses() const = 0;

  // The targets that its options describe, each a variant of every executable; a device takes the first that it can
  // run. An error at `loc` says which option is wrong.
  virtual mlir::FailureOr<llvm::SmallVector<HAL::ExecutableTargetAttr>> getTargets(mlir::MLIRContext *context,
                                                                                   mlir::Location loc) const = 0;

  // An error where a file that an option names cannot be used. Runs outside of passes, as reading one may load
  // dialects.
  virtual mlir::LogicalResult checkFiles(mlir::MLIRContext *context) const { return mlir::success(); }

  // Three pipelines on `hal.executable.variant`. Configuration: choose the strategy and the configuration of each
  // dispatch, without changing it. Lowering: one pass, kiln-<backend>-lower-executable-target, that applies the
  // strategy or the user's spec, and fills in the workgroup count. Translation: from there to what `serialize` takes.
  virtual void buildConfigurationPipeline(mlir::OpPassManager &variantPasses) const = 0;
  virtual void buildLoweringPipeline(mlir::OpPassManager &variantPasses) const = 0;
  virtual void buildTranslationPipeline(mlir::OpPassManager &variantPasses) const = 0;

  // True where all executables of a module are merged into one before they are serialized.
  virtual bool linksExecutables() const = 0;

  // The variant as bytes that a driver loads.
  virtual mlir::LogicalResult serialize(HAL::ExecutableVariantOp variant, const SerializationOptions &options,
                                        llvm::SmallVectorImpl<char> &bytes) const = 0;

  // Asked before dispatches are formed.
  virtual DispatchLimits dispatchLimits(mlir::Location loc) const { return {}; }

protected:
  const TuningOptions &tuning() const { return *shared; }

private:
  const TuningOptions *shared = nullptr;
};

// The backends of this build, in the order of registration.
class TargetBackendRegistry {
public:
  void add(std::unique_ptr<TargetBackend> backend);
  TargetBackend *find(llvm::StringRef name) const;
  llvm::ArrayRef<std::unique_ptr<TargetBackend>> backends() const { return all; }

private:
  std::vector<std::unique_ptr<TargetBackend>> all;
};

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_TARGETBACKEND_H
