#include "kiln/targets/cpu/driver/cpu_device.h"

#include "kiln/runtime/hal/host_allocator.h"
#include "kiln/targets/cpu/driver/cpu_command_buffer.h"
#include "kiln/targets/cpu/driver/cpu_executable.h"

namespace kiln::hal {

CpuDevice::CpuDevice(std::string uri, const DeviceOptions &options)
    : Device(std::move(uri), createHostAllocator(options)), executableFolder(options.executableFolder) {}

Status CpuDevice::checkExecutable(const ExecutableSource &source) const {
  return CpuExecutable::check(source);
}

Result<Ref<Executable>> CpuDevice::createExecutable(const ExecutableSource &source) {
  KILN_ASSIGN_OR_RETURN(Ref<CpuExecutable> executable, CpuExecutable::load(source, executableFolder));
  return Ref<Executable>(std::move(executable));
}

Result<Ref<CommandBuffer>> CpuDevice::createCommandBuffer(CommandBufferMode mode, uint32_t slotCount) {
  KILN_RETURN_IF_ERROR(CommandBuffer::checkSlotCount(slotCount));
  return Ref<CommandBuffer>(makeRef<CpuCommandBuffer>(this, mode, slotCount));
}

} // namespace kiln::hal
