#include "kiln/runtime/io/device_tensor.h"

#include <memory>

namespace kiln::io {

Result<Ref<hal::BufferView>> toDevice(hal::Device &device, HostTensor tensor) {
  tensor.touchPages();
  // Shared, since a std::function must be copyable.
  auto owner = std::make_shared<HostTensor>(std::move(tensor));
  hal::HostMemory memory;
  memory.data = owner->bytes().data();
  memory.length = owner->bytes().size();
  memory.release = [owner] {};
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, device.allocator().importHost(std::move(memory)));
  return hal::BufferView::create(std::move(buffer), owner->type(), owner->shape());
}

Result<MappedTensor> MappedTensor::map(hal::BufferView &view) {
  KILN_ASSIGN_OR_RETURN(hal::MappedMemory memory, view.buffer()->map(hal::MemoryAccess::Read));
  return MappedTensor(Ref<hal::BufferView>::share(&view), std::move(memory));
}

TensorSpan MappedTensor::span() const {
  return {view->elementType(),
          view->shape(),
          {reinterpret_cast<const uint8_t *>(memory.data()), static_cast<size_t>(memory.size())}};
}

} // namespace kiln::io
