#include "kiln/runtime/hal/device.h"

namespace kiln::hal {

Device::Device(std::string uri, Ref<Allocator> allocator, std::shared_ptr<DeviceLoss> loss)
    : deviceUri(std::move(uri)), deviceAllocator(std::move(allocator)), loss(std::move(loss)) {}

Result<Ref<Fence>> Device::execute(Fence *wait, CommandBuffer *commands, std::span<const Binding> bindings) {
  if (loss->isSet()) [[unlikely]]
    return loss->status(uri());
  if (!commands)
    return invalidArgument("a null command buffer cannot be executed");
  if (commands->device() != this)
    return invalidArgument("a command buffer of device '{}' cannot be executed on device '{}'",
                           commands->device()->uri(), uri());
  KILN_RETURN_IF_ERROR(commands->checkBindings(bindings));
  KILN_RETURN_IF_ERROR(commands->beginExecution());
  if (kept) [[unlikely]]
    kept->emplace_back(commands, bindings);
  return submit(wait, commands, bindings);
}

} // namespace kiln::hal
