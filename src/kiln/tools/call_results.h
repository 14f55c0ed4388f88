// What becomes of the results of a call: printed, written to files, compared.
#ifndef KILN_TOOLS_CALL_RESULTS_H
#define KILN_TOOLS_CALL_RESULTS_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/tools/cli.h"

namespace kiln {

struct OutputFlags {
  std::vector<std::string> outputs;  // one for each result, or none
  std::vector<std::string> expected; // likewise
  std::string equalityMode = "approximate";
  uint64_t maxElements = 1024;

  void add(FlagParser &parser);
  // Whether the flags fit a function; said before it is called.
  Status check(const vm::Function &function) const;
};

// Writes what --output names, prints on standard output what it does not, and compares with --expected_output, which
// prints instead of the results whether they matched. Returns false where they did not.
Result<bool> handleResults(const vm::Function &function, std::span<const vm::Value> results, const OutputFlags &flags);

} // namespace kiln

#endif // KILN_TOOLS_CALL_RESULTS_H
