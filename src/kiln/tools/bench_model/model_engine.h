// What runs a model: Kiln in this process, or another runtime in one of its own.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_ENGINE_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_ENGINE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/worker_process.h"
#include "kiln/tools/bench_model/dispatch_times.h"
#include "kiln/tools/bench_model/model_inputs.h"
#include "kiln/tools/bench_model/rival_settings.h"
#include "kiln/tools/call_arguments.h"
#include "kiln/tools/runtime_flags.h"

namespace kiln {

struct EngineFacts {
  std::string version;
  std::string setting; // the one of several that was taken; empty where there is one
  uint32_t threads = 1;
  int64_t loadNanoseconds = 0, compileNanoseconds = 0;
};

struct PeakMemory {
  uint64_t host = 0;   // bytes that the process held; 0 where that is not known
  uint64_t device = 0; // bytes of the device's own memory; 0 where it has none
};

class ModelEngine {
public:
  virtual ~ModelEngine() = default;

  // Takes other inputs from now on.
  virtual Status bind(const std::vector<ModelInput> &inputs) = 0;
  // Calls once, and gives the outputs as .npy files in the folder.
  virtual Result<std::vector<std::string>> call(const std::string &folder) = 0;
  // Calls one after the other for so long, at least three times, and gives the nanoseconds of each.
  virtual Result<std::vector<int64_t>> time(double seconds) = 0;
  // Stands still until it is asked again.
  virtual void pause() {}
  // The most since it was started.
  virtual Result<PeakMemory> peakMemory() = 0;

  EngineFacts facts;
};

// A module of Kiln's.
class KilnEngine final : public ModelEngine {
public:
  static Result<std::unique_ptr<KilnEngine>> create(const RuntimeFlags &flags, Ref<vm::Module> compiled);
  const vm::Function &function() const { return *callee; }

  Status bind(const std::vector<ModelInput> &inputs) override;
  Result<std::vector<std::string>> call(const std::string &folder) override;
  Result<std::vector<int64_t>> time(double seconds) override;
  Result<PeakMemory> peakMemory() override;
  Result<DispatchTimes> timeDispatches(double seconds);

private:
  explicit KilnEngine(Program program) : program(std::move(program)) {}

  Program program;
  std::unique_ptr<vm::Session> session;
  std::optional<vm::Function> callee;
  CallArguments arguments;
};

// Another runtime, which python/kiln_model_worker.py knows.
class RivalEngine final : public ModelEngine {
public:
  struct Options {
    std::string name, python, script, model, function, device = "cpu"; // or "cuda"
    std::vector<ModelInput> inputs;
    bool otherLengths = false; // it will be bound to inputs of other shapes
    RivalSetting setting;
    double timeoutSeconds = 600; // for each answer
  };
  static Result<std::unique_ptr<RivalEngine>> create(const Options &options);
  // With each of the settings in turn, which are at least one: the one whose calls took least is kept. Each is tried
  // for so many seconds. An error where the first does not load; others that do not are passed over.
  static Result<std::unique_ptr<RivalEngine>> createBest(Options options, std::span<const RivalSetting> settings,
                                                         double seconds);

  Status bind(const std::vector<ModelInput> &inputs) override;
  Result<std::vector<std::string>> call(const std::string &folder) override;
  Result<std::vector<int64_t>> time(double seconds) override;
  void pause() override { worker->pause(); }
  Result<PeakMemory> peakMemory() override;

private:
  RivalEngine(const Options &options, std::unique_ptr<measure::WorkerProcess> worker)
      : timeoutSeconds(options.timeoutSeconds), worker(std::move(worker)) {}

  Result<std::vector<int64_t>> timeOnce(double seconds);

  double timeoutSeconds;
  std::unique_ptr<measure::WorkerProcess> worker;
};

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_ENGINE_H
