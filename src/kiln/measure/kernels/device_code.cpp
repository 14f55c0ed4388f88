#include "kiln/measure/kernels/device_code.h"

#include <string>
#include <vector>

#include "kiln/schema/gpu_executable.h"
#include "kiln/schema/gpu_executable_generated.h"

namespace kiln::measure {

Result<Ref<hal::Executable>> loadDeviceCode(hal::Device &device, std::string_view purpose, const DeviceCode &code,
                                            std::span<const hal::ExpectedExport> kernels, uint32_t threads) {
  if (code.ptx.empty())
    return unimplemented("this build has no kernels for {} on devices: clang was not there to make them", purpose);
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<schema::GpuKernel>> table;
  for (const hal::ExpectedExport &entry : kernels) {
    const std::string name(entry.name);
    table.push_back(schema::CreateGpuKernelDirect(builder, fmt::format("{}'s {}", purpose, name).c_str(), name.c_str(),
                                                  0, entry.bindingCount, 0, threads));
  }
  const std::vector<flatbuffers::Offset<flatbuffers::String>> codes{
      builder.CreateString(code.ptx.data(), code.ptx.size())};
  schema::FinishGpuExecutableBuffer(builder,
                                    schema::CreateGpuExecutableDirect(builder, kGpuExecutableVersion, &table, &codes));
  hal::ExecutableSource source;
  source.name = purpose;
  source.format = "ptx";
  source.cpu = code.architecture;
  source.bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  if (!device.checkExecutable(source).ok())
    return unimplemented("the device {} does not run the kernels for {}, which are PTX for {}", device.uri(), purpose,
                         source.cpu);
  return device.createExecutable(source);
}

Result<hal::Submission> makeLaunch(hal::Device &device, hal::Executable &executable, uint32_t kernel, uint64_t blocks,
                                   std::span<hal::Buffer *const> buffers, hal::CommandBufferMode mode) {
  std::vector<hal::Binding> bindings;
  std::vector<hal::SlotRange> ranges;
  for (hal::Buffer *buffer : buffers) {
    ranges.push_back({uint32_t(ranges.size()), 0, buffer->byteLength()});
    bindings.push_back({buffer, 0, buffer->byteLength()});
  }
  KILN_ASSIGN_OR_RETURN(Ref<hal::CommandBuffer> commands, device.createCommandBuffer(mode, uint32_t(bindings.size())));
  hal::Dispatch dispatch;
  dispatch.executable = &executable;
  dispatch.exportOrdinal = kernel;
  dispatch.workgroupCount[0] = blocks;
  dispatch.bindings = ranges;
  KILN_RETURN_IF_ERROR(commands->dispatch(dispatch));
  KILN_RETURN_IF_ERROR(commands->finalize());
  return hal::Submission(commands.get(), bindings);
}

Status runLaunch(hal::Device &device, const hal::Submission &launch) {
  KILN_ASSIGN_OR_RETURN(Ref<hal::Fence> done, device.execute(nullptr, launch.commands.get(), launch.bindings));
  return done->wait(Deadline::infinite());
}

} // namespace kiln::measure
