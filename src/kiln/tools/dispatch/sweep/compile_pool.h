// Compiles programs in parallel on resident compilers, and never the same content twice.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_COMPILE_POOL_H
#define KILN_TOOLS_DISPATCH_SWEEP_COMPILE_POOL_H

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"

namespace kiln {

struct CompileJob {
  std::string source;               // the path of the program
  std::vector<std::string> outputs; // paths that become links to the module
};

struct CompileResult {
  std::string key;                    // of the program's text, the flags and the compiler
  std::optional<double> milliseconds; // nothing: it was there already
  std::string error;                  // what the compiler says; empty where it worked
  bool damaged = false;               // it was there, but not as it had been written
  bool late = false;                  // never begun, since it would have been after CompileSettings::beginUntil

  bool ok() const { return error.empty(); }
};

struct CompileSettings {
  std::string compiler;           // a path; empty: the kiln-compile beside this tool
  std::string cache;              // the folder of modules by key
  std::vector<std::string> flags; // of kiln-compile
  uint32_t workers = 1;
  bool force = false; // compiles even what is there
  // For one program; a compiler that takes longer is ended.
  uint64_t timeout = uint64_t(600) * 1'000'000'000;
  // monotonicNanoseconds() after which no program is begun; what is under way ends.
  uint64_t beginUntil = UINT64_MAX;
};

// Called as each job ends, on whatever thread, one at a time.
using CompileProgress = std::function<void(size_t job, const CompileResult &result)>;

// A program that does not compile, or that brings its compiler down, is a result with an error; only what keeps all of
// them from being compiled fails.
Result<std::vector<CompileResult>> compileAll(std::span<const CompileJob> jobs, const CompileSettings &settings,
                                              const CompileProgress &progress);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_COMPILE_POOL_H
