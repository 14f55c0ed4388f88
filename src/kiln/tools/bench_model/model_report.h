// What was found out about a model and the runtimes that ran it: as a table, as CSV with the columns of SHARK's runner,
// and as lines of JSON.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_REPORT_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_REPORT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/tools/bench_model/dispatch_times.h"

namespace kiln {

struct ModelRow {
  std::string engine, version;
  std::string failure;                           // why there are no numbers; empty where there are
  double milliseconds = 0, low = 0, high = 0;    // of a call: the rounds' location, and its interval
  double ratio = 0, ratioLow = 0, ratioHigh = 0; // this engine's time over Kiln's, round by round
  double fastest = 0, slowest = 0;               // the 5th and the 95th of a hundred calls
  uint64_t calls = 0;
  double loadSeconds = 0, compileSeconds = 0;
  uint64_t peakBytes = 0;
  std::optional<double> difference; // from the first rival's outputs, of the largest of them
};

struct ModelReport {
  std::string model, device, inputs; // "1x3x224x224xf32, ..."
  std::string types;                 // of the inputs: "i64+f32"
  bool isDynamic = false;            // the call decides extents
  uint32_t threads = 0;
  uint32_t rounds = 0;
  uint64_t batch = 1;
  double tokens = 0;     // of a call, 0: not asked for
  std::string reference; // whose outputs the others' are compared with; empty: nobody's
  double tolerance = 0;
  std::string time; // now, as ISO 8601
  std::vector<ModelRow> rows;
  std::optional<DispatchTimes> dispatches; // of Kiln, where they were asked for

  // Whether an engine's outputs differ by more than the tolerance.
  bool differs(const ModelRow &row) const { return row.difference && !(*row.difference <= tolerance); }

  std::string table() const;
  std::string csv(bool withHeader) const;
  std::string json() const;
};

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_REPORT_H
