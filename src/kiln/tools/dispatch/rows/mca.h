// What llvm-mca says of a loop: how many cycles an iteration takes where all data are in the nearest cache.
#ifndef KILN_TOOLS_DISPATCH_ROWS_MCA_H
#define KILN_TOOLS_DISPATCH_ROWS_MCA_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/tools/dispatch/rows/hot_loop.h"

namespace kiln {

struct McaInstruction {
  std::string text;
  double throughput = 0; // cycles from one to the next of its kind
  double latency = 0;    // cycles
};

struct McaReport {
  double cycles = 0;          // of an iteration, simulated
  double blockThroughput = 0; // the least that the busiest resource allows
  std::string bottleneck;     // in words
  std::vector<McaInstruction> instructions;
  // Of the multiply-adds that this CPU's model could do in these cycles; nothing where the loop has none.
  std::optional<double> peakPercent;
};

// Runs llvm-mca. `cpu` and `triple` as LLVM knows them.
Result<McaReport> analyzeLoop(const HotLoop &loop, std::string_view cpu, std::string_view triple);

// The same of what llvm-mca has printed as JSON, with a region `loop` and, where there is a peak, a region `peak`.
Result<McaReport> parseMca(std::string_view json, const HotLoop &loop);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_ROWS_MCA_H
