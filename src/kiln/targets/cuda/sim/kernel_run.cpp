#include "kiln/targets/cuda/sim/kernel_run.h"

namespace kiln::cudasim {

KernelRun::KernelRun(std::string text) {
  if (!text.starts_with(".version"))
    text = ".version 8.0 .target sm_90a .address_size 64\n" + text;
  Result<std::unique_ptr<LoadedModule>> loaded = LoadedModule::load(std::move(text), memory);
  if (loaded.ok())
    module = *std::move(loaded);
  else
    error = loaded.status().message();
}

std::string KernelRun::run(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
                           const std::vector<uint64_t> &params, uint64_t seed) {
  if (!module)
    return error;
  launch = Launch();
  for (const Function &function : module->ptx().functions)
    if (function.isEntry)
      launch.program = module->find(function.name);
  launch.memory = &memory;
  launch.grid = grid;
  launch.blockSize = block;
  launch.dynamicSharedBytes = dynamicSharedBytes;
  launch.options = options;
  launch.options.seed = seed;
  launch.params.resize(launch.program->parameterBytes);
  std::memcpy(launch.params.data(), params.data(), std::min(launch.params.size(), params.size() * 8));
  if (std::string problem = launch.takeClusters({}); !problem.empty())
    return problem;
  LaunchRun running(launch);
  while (!running.run(uint64_t(1) << 30)) {
  }
  return launch.hasFault ? launch.fault.text : "";
}

} // namespace kiln::cudasim
