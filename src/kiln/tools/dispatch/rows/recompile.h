// A stored row of Kiln's, compiled once more: for `show`, which wants what the compiler did, and for `repro`.
#ifndef KILN_TOOLS_DISPATCH_ROWS_RECOMPILE_H
#define KILN_TOOLS_DISPATCH_ROWS_RECOMPILE_H

#include <memory>
#include <string>
#include <vector>

#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/rows/run_program.h"

namespace kiln {

// What a row was compiled from, and how.
struct DispatchSource {
  std::unique_ptr<measure::Problem> problem;
  std::string dispatch; // the function's name
  std::string kernels;  // what the names of its kernels start with
  std::string program;  // MLIR
  std::string compiler; // a path
  bool foreign = false; // the row is of another compiler than the one beside this tool
  std::vector<std::string> flags;
};

// FailedPrecondition for rows of other providers, which were not compiled. The family writes the program again, as it
// did for the sweep; what no family knows is taken from the generated folder.
// What a store says of a compiler is data: it names no program that is run, and no file that is written. A row of
// another compiler than the one beside this tool takes `compiler`, which the user has named, and is an error without.
Result<DispatchSource> sourceOf(const Lab &lab, const report::Row &row, const std::string &compiler);

// A compilation with all that the compiler can dump of it, in a folder that lives as long as this.
class Dumps {
public:
  static Result<Dumps> make(const DispatchSource &source);

  std::string module() const { return folder.path() + "/module.vmfb"; }
  // The IR after a stage: a phase's name, "configured" (the executable with its configuration), "llvm", or
  // "llvm-optimized". NotFound lists the stages.
  Result<std::string> ir(const std::string &stage) const;
  Result<std::string> assembly(std::string_view ending = ".s") const;

  // What code was generated for.
  struct Target {
    std::string cpu, triple;
    uint32_t vectorBits = 128;
  };
  Result<Target> target() const;

private:
  explicit Dumps(TemporaryFolder folder) : folder(std::move(folder)) {}

  TemporaryFolder folder;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_ROWS_RECOMPILE_H
