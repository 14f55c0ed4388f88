// What a dispatch is known by in tuning databases, and what one says of it. The texts of operations are made here and
// nowhere else, those of targets by each target once: the lab asks the compiler for them (--dump-tuning-keys-to), so
// what was tuned is found again in any program.
#ifndef KILN_COMPILER_CODEGEN_TUNINGLOOKUP_H
#define KILN_COMPILER_CODEGEN_TUNINGLOOKUP_H

#include <memory>
#include <string>

#include "kiln/compiler/Codegen/DispatchRoot.h"
#include "kiln/compiler/Interfaces/TargetBackend.h"
#include "kiln/schema/tuning_database.h"

namespace kiln {

// "contraction p4 p512 r128: f32(d0, d2) f32(d2, d1) -> f32(d0, d1) by arith.mulf arith.addf": the strategy, the loops
// with their extents (parallel ones as they lie in the result, then reductions), the operands with their element types
// and how they are indexed, and what is done for each element. It says nothing of the op's name, nor of the order in
// which it has its loops, nor of what is fused with it.
std::string tuningOperation(const DispatchRoot &root);

// A database as code generation reads it.
class TuningLookup {
public:
  // An empty path: nothing is ever found. `threads` chooses among entries for the same operation: those that were
  // measured with so many, or with 0 those that were measured with the most. What is wrong with the file is an error at
  // `loc`.
  static mlir::FailureOr<TuningLookup> load(const std::string &path, int64_t threads, mlir::Location loc);

  // The text of a database that a target brings along, as entries of any number of threads; `name` stands for its path.
  static mlir::FailureOr<TuningLookup> parse(llvm::StringRef text, llvm::StringRef name, mlir::Location loc);

  // The lowering for the root of the function on the target, whose text this is; null where there is none, or after a
  // warning that says why it cannot be followed: what `faultOf` says of it, which is empty where it can be.
  HAL::LoweringAttr find(mlir::func::FuncOp function, const DispatchRoot &root, llvm::StringRef target,
                         llvm::function_ref<std::string(HAL::LoweringAttr)> faultOf) const;
  // Of the file; what find() gives comes from it.
  const std::string &source() const { return path; }
  // Warns where there are entries, and all of them are of other targets.
  void warnWithout(llvm::StringRef target, mlir::Location loc) const;

private:
  std::string path;
  int64_t threads = 0;
  std::shared_ptr<const TuningDatabase> database; // null: none
};

// The warning that a configuration of the database `path` cannot be followed.
void warnOfTuning(mlir::func::FuncOp function, llvm::StringRef path, const TileConfig &config, llvm::StringRef fault);

// Writes FOLDER/<function>.json, a TuningKeyRecord.
mlir::LogicalResult dumpTuningKey(llvm::StringRef folder, mlir::func::FuncOp function, const DispatchRoot &root,
                                  llvm::StringRef target, HAL::LoweringAttr chosen, llvm::StringRef source);

// An error at `loc` where the database of the options cannot be read; a warning where it has nothing for the target.
// Asked once for each compilation, by the backend that it is for.
mlir::LogicalResult checkTuning(const TuningOptions &options, llvm::StringRef target, mlir::Location loc);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_TUNINGLOOKUP_H
