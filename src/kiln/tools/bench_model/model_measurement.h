// What was measured of a model: facts alone, as they are stored. What follows from them is computed by model_report.h.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_MEASUREMENT_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_MEASUREMENT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/store/facts.h"
#include "kiln/tools/bench_model/dispatch_times.h"

namespace kiln {

// The calls of a runtime while the others stood still.
struct ModelRound {
  uint64_t index = 0;
  int64_t started = 0;        // nanoseconds since 1970
  double load = 0;            // of the machine, as in /proc/loadavg
  std::vector<int64_t> calls; // nanoseconds of each
};

struct EngineMeasurement {
  std::string engine, version;
  std::string setting; // of several that were tried, the one that was taken; empty where there was one
  std::string failure; // why there are no numbers; empty where there are
  std::string flags;   // of Kiln's compiler
  uint32_t threads = 1;
  int64_t loadNanoseconds = 0, compileNanoseconds = 0;
  uint64_t peakBytes = 0, devicePeakBytes = 0; // 0: not known
  std::optional<double> difference;            // from the reference's outputs, of the largest of them
  std::vector<ModelRound> rounds;              // the one that warms up is left out
};

// A model with inputs of some shapes, and all runtimes that ran it.
struct ModelMeasurement {
  std::string model;  // its file's name
  std::string hash;   // of its file's content
  std::string inputs; // "1x3x224x224xf32, ..."
  std::string types;  // of the inputs: "i64+f32"
  std::string device;
  bool isDynamic = false; // the call decides extents
  uint64_t length = 0;    // of --lengths; 0: none
  uint64_t batch = 1;
  uint64_t items = 0; // that a call is about, 0: not known
  std::string itemName, itemsBecause;
  uint32_t threads = 1;
  std::string reference; // whose outputs the others' are compared with; empty: nobody's
  double tolerance = 0;
  int64_t started = 0;                     // nanoseconds since 1970
  std::vector<EngineMeasurement> engines;  // Kiln first
  std::optional<DispatchTimes> dispatches; // of Kiln, where they were asked for

  // Whether they are of one model with two of its lengths.
  bool isSameModel(const ModelMeasurement &other) const {
    return length != 0 && other.length != 0 && model == other.model && hash == other.hash;
  }
  // Whether an engine's outputs differ by more than the tolerance.
  bool differs(const EngineMeasurement &engine) const {
    return engine.difference && !(*engine.difference <= tolerance);
  }
};

// One call of the tool: where it ran, and how. What it measured is stored under it.
struct ModelRun {
  store::Run run;
  store::Machine machine;
};

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_MEASUREMENT_H
