// Text of PTX: it is refused with a message, or its kernels run and end, whatever they do.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kiln/targets/cuda/sim/machine.h"

using namespace kiln;
using namespace kiln::cudasim;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Memory memory(uint64_t(64) << 20);
  Result<std::unique_ptr<LoadedModule>> loaded =
      LoadedModule::load(std::string(reinterpret_cast<const char *>(data), size), memory);
  if (!loaded.ok()) {
    if (loaded.status().message().empty())
      std::abort();
    return 0;
  }
  const uint64_t address = memory.allocate(4096);
  for (const Function &function : (*loaded)->ptx().functions) {
    const Program *program = (*loaded)->find(function.name);
    if (!program || program->staticSharedBytes > 49152)
      continue;
    Launch launch;
    launch.program = program;
    launch.memory = &memory;
    launch.grid = {2, 1, 1};
    launch.blockSize = {33, 1, 1};
    launch.options.mostInstructions = 100000;
    launch.params.resize(program->parameterBytes);
    for (const Program::Parameter &each : program->parameters)
      if (each.bytes == 8)
        std::copy_n(reinterpret_cast<const uint8_t *>(&address), 8, launch.params.data() + each.offset);
    LaunchRun run(launch);
    while (!run.run(1 << 20)) {
    }
    if (launch.hasFault && launch.fault.text.empty())
      std::abort();
  }
  return 0;
}
