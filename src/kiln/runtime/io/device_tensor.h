// Tensors between the host and a device.
#ifndef KILN_RUNTIME_IO_DEVICE_TENSOR_H
#define KILN_RUNTIME_IO_DEVICE_TENSOR_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::io {

// The tensor as an input of programs. A device that shares the host's memory uses the tensor's in place, and
// frees it with the last reference; every page has memory of its own.
Result<Ref<hal::BufferView>> toDevice(hal::Device &device, HostTensor tensor);

// The elements of a buffer view, visible to the host for as long as this lives. The work that writes them must have
// been awaited.
class MappedTensor {
public:
  static Result<MappedTensor> map(hal::BufferView &view);
  TensorSpan span() const;

private:
  MappedTensor(Ref<hal::BufferView> view, hal::MappedMemory memory)
      : view(std::move(view)), memory(std::move(memory)) {}

  Ref<hal::BufferView> view;
  hal::MappedMemory memory;
};

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_DEVICE_TENSOR_H
