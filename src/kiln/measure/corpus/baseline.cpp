#include "kiln/measure/corpus/baseline.h"

#include <algorithm>

#include "kiln/measure/workers/shared_tensors.h"
#include "kiln/measure/workers/worker_process.h"

namespace kiln::measure::corpus {

static Status run(const CorpusProblem &problem, const BaselineOptions &options, measure::Tensors inputs,
                  measure::MutableTensors outputs) {
  std::vector<TensorType> inputTypes = problem.inputs(), outputTypes = problem.outputs();
  KILN_ASSIGN_OR_RETURN(SharedTensors given,
                        SharedTensors::create("kiln-inputs", inputTypes, 1, SharedTensors::Pages::Reserved));
  KILN_ASSIGN_OR_RETURN(SharedTensors got,
                        SharedTensors::create("kiln-outputs", outputTypes, 1, SharedTensors::Pages::Reserved));
  std::vector<MutableTensor> copies = given.set(0);
  for (size_t i = 0; i < copies.size(); ++i)
    std::ranges::copy(inputs[i].bytes, copies[i].bytes.begin());

  WorkerOptions worker;
  worker.command = options.command;
  worker.threads = options.threads;
  worker.memoryLimit = options.memoryLimit;
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> process, WorkerProcess::start(worker));
  KILN_RETURN_IF_ERROR(
      process->ask(HelloRequest{kProtocolVersion, options.threads}, Deadline::after(options.timeout)).status());
  LoadRequest load;
  load.problem = problemText(problem);
  load.module = options.module;
  load.function = options.function;
  load.sets = 1;
  load.inputs = given.describe();
  load.outputs = got.describe();
  KILN_RETURN_IF_ERROR(process->ask(load, Deadline::after(options.timeout)).status());
  KILN_RETURN_IF_ERROR(process->ask(RunRequest{0}, Deadline::after(options.timeout)).status());
  std::vector<io::TensorSpan> results = std::as_const(got).view(0);
  for (size_t i = 0; i < results.size(); ++i)
    std::ranges::copy(results[i].bytes, outputs[i].bytes.begin());
  (void)process->quit(Deadline::after(options.timeout)); // the results are there already
  return okStatus();
}

Baseline makeBaseline(const CorpusProblem &problem, BaselineOptions options) {
  return [&problem, options = std::move(options)](measure::Tensors inputs, measure::MutableTensors outputs) {
    return run(problem, options, inputs, outputs);
  };
}

} // namespace kiln::measure::corpus
