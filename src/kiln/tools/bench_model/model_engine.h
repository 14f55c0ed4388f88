// What runs a model: Kiln in this process, or another runtime in one of its own.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_ENGINE_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_ENGINE_H

#include <memory>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/worker_process.h"
#include "kiln/tools/bench_model/dispatch_times.h"
#include "kiln/tools/call_arguments.h"
#include "kiln/tools/runtime_flags.h"

namespace kiln {

struct EngineFacts {
  std::string version;
  double loadSeconds = 0, compileSeconds = 0;
};

class ModelEngine {
public:
  virtual ~ModelEngine() = default;
  const std::string &name() const { return engineName; }

  // Calls once, and gives the outputs as .npy files in the folder.
  virtual Result<std::vector<std::string>> call(const std::string &folder) = 0;
  // Calls one after the other for so long, and gives the milliseconds of each.
  virtual Result<std::vector<double>> time(double seconds) = 0;
  // Stands still until it is asked again.
  virtual void pause() {}
  // The most bytes that its process held; 0 where that is not known.
  virtual uint64_t peakBytes() = 0;

  EngineFacts facts;

protected:
  explicit ModelEngine(std::string name) : engineName(std::move(name)) {}

private:
  std::string engineName;
};

// A module of Kiln's.
class KilnEngine final : public ModelEngine {
public:
  static Result<std::unique_ptr<KilnEngine>> create(const RuntimeFlags &flags, Ref<vm::Module> compiled);
  const vm::Function &function() const { return *callee; }
  Status bind(const std::vector<std::string> &inputs);

  Result<std::vector<std::string>> call(const std::string &folder) override;
  Result<std::vector<double>> time(double seconds) override;
  uint64_t peakBytes() override;
  Result<DispatchTimes> timeDispatches(double seconds);

private:
  explicit KilnEngine(Program program) : ModelEngine("kiln"), program(std::move(program)) {}

  Program program;
  std::unique_ptr<vm::Session> session;
  std::optional<vm::Function> callee;
  CallArguments arguments;
};

// Another runtime, which python/kiln_model_worker.py knows.
class RivalEngine final : public ModelEngine {
public:
  struct Options {
    std::string name, python, script, model, device = "cpu"; // or "cuda"
    std::vector<std::string> inputs;
    uint32_t threads = 1;
    double timeoutSeconds = 600; // for each answer
  };
  static Result<std::unique_ptr<RivalEngine>> create(const Options &options);

  Result<std::vector<std::string>> call(const std::string &folder) override;
  Result<std::vector<double>> time(double seconds) override;
  void pause() override { worker->pause(); }
  uint64_t peakBytes() override;

private:
  RivalEngine(const Options &options, std::unique_ptr<measure::WorkerProcess> worker)
      : ModelEngine(options.name), timeoutSeconds(options.timeoutSeconds), worker(std::move(worker)) {}

  double timeoutSeconds;
  std::unique_ptr<measure::WorkerProcess> worker;
};

// The runtimes that there are rivals for.
std::vector<std::string> knownRivals();

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_ENGINE_H
