// What a dispatch is known by in tuning databases, and what one says of it. The texts are made here and nowhere else:
// the lab asks the compiler for them (--dump-tuning-keys-to), so what was tuned is found again in any program.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_TUNINGLOOKUP_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_TUNINGLOOKUP_H

#include <memory>
#include <string>

#include "kiln/compiler/Codegen/DispatchRoot.h"
#include "kiln/schema/tuning_database.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"

namespace kiln {

// "contraction p4 p512 r128: f32(d0, d2) f32(d2, d1) -> f32(d0, d1) by arith.mulf arith.addf": the strategy, the loops
// with their extents (parallel ones as they lie in the result, then reductions), the operands with their element types
// and how they are indexed, and what is done for each element. It says nothing of the op's name, nor of the order in
// which it has its loops, nor of what is fused with it.
std::string tuningOperation(const DispatchRoot &root);

// "llvm-cpu x86_64 znver4 +avx,+avx2": all that code generation knows of the CPU.
std::string tuningTarget(const CpuTarget &target);

// A database as code generation reads it.
class TuningLookup {
public:
  // An empty path: nothing is ever found. `threads` chooses among entries for the same operation: those that were
  // measured with so many, or with 0 those that were measured with the most. What is wrong with the file is an error at
  // `loc`.
  static mlir::FailureOr<TuningLookup> load(const std::string &path, int64_t threads, mlir::Location loc);

  // The lowering for the root of the function; null where there is none, or after a warning that says why it cannot be
  // followed.
  HAL::LoweringAttr find(mlir::func::FuncOp function, const DispatchRoot &root, const CpuTarget &target) const;

private:
  std::string path;
  int64_t threads = 0;
  std::shared_ptr<const TuningDatabase> database; // null: none
};

// Writes FOLDER/<function>.json, a TuningKeyRecord.
mlir::LogicalResult dumpTuningKey(llvm::StringRef folder, mlir::func::FuncOp function, const DispatchRoot &root,
                                  const CpuTarget &target, HAL::LoweringAttr chosen, llvm::StringRef source);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_TUNINGLOOKUP_H
