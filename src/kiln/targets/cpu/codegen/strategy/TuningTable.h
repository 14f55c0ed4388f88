// Configurations as data: the rows of targets/cpu/tuning/*.mlir, which are built into the compiler.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_TUNINGTABLE_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_TUNINGTABLE_H

#include <vector>

#include "kiln/base/tile_config.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace kiln {

// A dispatch as rows see it. An extent that is not constant is kDynamic; one that does not apply is 1.
struct TuningKey {
  llvm::StringRef strategy;
  int64_t m = 1, n = 1, k = 1;
  // Element types: of the inputs, then of the result.
  llvm::SmallVector<mlir::Type> types;
};

class TuningTable {
public:
  // The rows of this build. A file that does not parse is an error that names it.
  static mlir::FailureOr<TuningTable> load(mlir::MLIRContext *context);

  // The first row that fits; null where none does.
  const TileConfig *find(const TuningKey &key, const CpuTarget &target) const;

private:
  struct Range {
    int64_t least = 0, most = -1; // -1: no limit
    bool holds(int64_t extent) const;
  };
  struct Row {
    std::string strategy;
    std::string architecture;            // "x86_64"; empty: any
    std::vector<std::string> features;   // all of which the CPU must have
    llvm::SmallVector<mlir::Type> types; // empty: any
    Range m, n, k;
    TileConfig config;
  };

  static mlir::FailureOr<Row> parseRow(mlir::DictionaryAttr row, mlir::Location loc);

  std::vector<Row> rows;
};

// A tuning file of this build.
struct TuningSource {
  const char *name, *text;
};
llvm::ArrayRef<TuningSource> tuningSources();

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_TUNINGTABLE_H
