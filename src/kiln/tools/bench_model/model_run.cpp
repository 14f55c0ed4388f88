#include "kiln/tools/bench_model/model_run.h"

#include "kiln/measure/machine/provenance.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/tools/bench_model/model_comparison.h"
#include "kiln/tools/bench_model/model_inputs.h"
#include "kiln/tools/dispatch/sweep/machine_facts.h"
#include "kiln/tools/version.h"

namespace kiln {

static std::string flagsJson(const BenchModelFlags &flags) {
  const std::string device = deviceOf(flags);
  const Result<std::vector<uint64_t>> lengths = parseLengths(flags.lengths);
  report::Json json = {{"hal_device", device},
                       {"threads", threadsOf(flags)},
                       {"rounds", flags.rounds},
                       {"seconds", flags.seconds},
                       {"contest_seconds", flags.contestSeconds},
                       {"tolerance", flags.tolerance},
                       {"against", flags.against},
                       {"inputs", flags.runtime.inputs},
                       {"lengths", lengths.ok() ? *lengths : std::vector<uint64_t>()},
                       {"largest_integer", flags.largest},
                       {"function", flags.runtime.function},
                       {"parameters", flags.runtime.parameters},
                       {"batch", flags.batch},
                       {"items", flags.items},
                       {"item_name", flags.itemName},
                       {"per_dispatch", flags.perDispatch},
                       {"compile_flags", flags.compileFlags}};
  // How many problems a run has, and a device that is no CPU, as the lab's reports read them.
  json["problems"] = flags.models.size() * (lengths.ok() && !lengths->empty() ? lengths->size() : 1);
  if (device.starts_with("cuda"))
    json["device"] = device;
  return report::dumpJson(json);
}

ModelRun describeRun(const BenchModelFlags &flags, const std::string &commandLine,
                     const std::map<std::string, std::string> &hashes) {
  ModelRun described;
  described.machine = machineFacts(measure::Provenance::detect());
  store::Run &run = described.run;
  run.flags = flagsJson(flags);
  run.commandLine = commandLine;
  run.seed = flags.seed;
  run.cacheMode = "warm";
  run.dataDistribution = "floats of mean 0 and deviation 1, integers from 0 to " + std::to_string(flags.largest);
  run.kilnVersion = kVersion;
  run.machine = described.machine.keys();
  run.started = store::unixNanoseconds();
  std::string models;
  for (const std::string &model : flags.models)
    models += hashes.at(model) + "\n";
  run.sweep = store::contentKey({"models", run.kilnVersion, run.flags, models, std::to_string(run.seed)});
  return described;
}

} // namespace kiln
