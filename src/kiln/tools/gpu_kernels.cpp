#include "kiln/tools/gpu_kernels.h"

#include <algorithm>
#include <cstring>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "kiln/schema/gpu_executable_generated.h"

namespace kiln {

namespace {

// The checked table, in a copy that is aligned.
class Table {
public:
  explicit Table(std::span<const std::byte> executable) : copy((executable.size() + 7) / 8) {
    if (executable.empty())
      return;
    std::memcpy(copy.data(), executable.data(), executable.size());
    const auto *bytes = reinterpret_cast<const uint8_t *>(copy.data());
    flatbuffers::Verifier verifier(bytes, executable.size());
    if (schema::VerifyGpuExecutableBuffer(verifier))
      table = schema::GetGpuExecutable(bytes);
  }
  const schema::GpuExecutable *get() const { return table; }

private:
  std::vector<uint64_t> copy;
  const schema::GpuExecutable *table = nullptr;
};

} // namespace

std::string GpuKernelInfo::text() const {
  std::string text = fmt::format("block {}x{}x{}", threads[0], threads[1], threads[2]);
  if (clusterBlocks > 1)
    text += fmt::format(", cluster of {}", clusterBlocks);
  text += fmt::format(", subgroups of {}", subgroupThreads);
  if (blocksPerMultiprocessor)
    text += fmt::format(", {} for each multiprocessor", blocksPerMultiprocessor);
  text += fmt::format(", shared memory {} + {} bytes", staticSharedBytes, dynamicSharedBytes);
  if (scratchBytes)
    text += fmt::format(", scratch {} bytes", scratchBytes);
  for (const GpuTensorMapInfo &map : tensorMaps)
    text += fmt::format(", tensor map of binding {}: {} elements of {} bytes", map.binding, fmt::join(map.box, "x"),
                        map.elementBytes);
  return text;
}

std::vector<GpuKernelInfo> gpuKernelsOf(std::span<const std::byte> executable) {
  const Table table(executable);
  std::vector<GpuKernelInfo> kernels;
  if (!table.get() || !table.get()->kernels())
    return kernels;
  for (const schema::GpuKernel *kernel : *table.get()->kernels()) {
    GpuKernelInfo info{{kernel->threads_x(), kernel->threads_y(), kernel->threads_z()},
                       kernel->cluster_blocks(),
                       kernel->subgroup_threads(),
                       kernel->blocks_per_multiprocessor(),
                       kernel->static_shared_bytes(),
                       kernel->dynamic_shared_bytes(),
                       kernel->scratch_bytes(),
                       {}};
    if (kernel->tensor_maps())
      for (const schema::GpuTensorMap *map : *kernel->tensor_maps()) {
        GpuTensorMapInfo shown{map->binding(), map->element_bytes(), {}};
        if (map->box())
          shown.box.assign(map->box()->begin(), map->box()->end());
        info.tensorMaps.push_back(std::move(shown));
      }
    kernels.push_back(std::move(info));
  }
  return kernels;
}

std::string gpuCodeOf(std::span<const std::byte> executable) {
  const Table table(executable);
  std::string text;
  if (table.get() && table.get()->codes())
    for (const flatbuffers::String *code : *table.get()->codes())
      text += code->string_view();
  return text;
}

} // namespace kiln
