// Measures a model on Kiln and on other runtimes: the same inputs for all, outputs compared first, rounds by turns.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_COMPARISON_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_COMPARISON_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/calibration.h"
#include "kiln/tools/bench_model/bench_model_flags.h"
#include "kiln/tools/bench_model/model_engine.h"
#include "kiln/tools/bench_model/model_measurement.h"
#include "kiln/tools/bench_model/work_folder.h"

namespace kiln {

// The device that the flags ask for.
std::string deviceOf(const BenchModelFlags &flags);
// How many threads each runtime has.
uint32_t threadsOf(const BenchModelFlags &flags);

// Of one model, which is compiled and loaded once and measured with one length after the other. `flags` must live as
// long.
class ModelComparison {
public:
  ModelComparison(const BenchModelFlags &flags, std::string model) : flags(flags), model(std::move(model)) {}

  // An error is Kiln's; of another runtime it is a row. Without --lengths the length is 0.
  Result<ModelMeasurement> measure(uint64_t length);

private:
  // An engine, or why there is none.
  struct Entry {
    std::string name, failure;
    std::unique_ptr<ModelEngine> engine;
    EngineFacts facts;
  };

  Status openKiln();
  Status openRivals(bool otherLengths);
  Status bindRivals();
  ModelMeasurement described(uint64_t length) const;
  Status compareOutputs(ModelMeasurement &measured);
  Status measureRounds(ModelMeasurement &measured);
  void measureMemory(ModelMeasurement &measured);
  Status timeDispatches(ModelMeasurement &measured);
  Result<measure::Calibration> readRoof() const;
  // Takes an engine that failed out of this and of all later measurements.
  template <typename Value> std::optional<Value> taken(Entry &entry, Result<Value> result);

  const BenchModelFlags &flags;
  std::string model, device;
  uint32_t threads = 1;
  bool isDynamic = false;
  std::optional<WorkFolder> folder;
  std::vector<ModelInput> inputs;
  std::vector<Entry> entries; // Kiln first
};

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_COMPARISON_H
