#include "kiln/measure/providers/device_tensors.h"

#include <algorithm>

namespace kiln::measure {

// A copy goes through as much memory of the host.
static constexpr uint64_t kPiece = uint64_t(32) << 20;

// Tensors of one file and stride share a buffer.
void DeviceTensors::add(Copies &copies, const SharedTensor &tensor, uint8_t *host) {
  auto found = std::ranges::find_if(
      copies, [&](const Copy &copy) { return copy.path == tensor.path && copy.stride == tensor.stride; });
  if (found == copies.end()) {
    copies.push_back({tensor.path, host, tensor.offset, tensor.bytes, tensor.stride, nullptr});
    return;
  }
  const uint64_t end = std::max(found->offset + found->bytesOfSet, tensor.offset + tensor.bytes);
  if (tensor.offset < found->offset) {
    found->host = host;
    found->offset = tensor.offset;
  }
  found->bytesOfSet = end - found->offset;
}

Result<DeviceTensors> DeviceTensors::create(hal::Allocator &allocator, TensorMemory &memory) {
  DeviceTensors device;
  device.tensors = &memory;
  for (size_t i = 0; i < memory.inputs().size(); ++i)
    add(device.inputs, memory.inputs()[i], const_cast<uint8_t *>(memory.input(i, 0)));
  for (size_t i = 0; i < memory.outputs().size(); ++i)
    add(device.outputs, memory.outputs()[i], memory.output(i, 0));
  for (Copies *copies : {&device.inputs, &device.outputs})
    for (Copy &copy : *copies) {
      const uint64_t bytes = copy.stride * (memory.sets() - 1) + copy.bytesOfSet;
      // One byte more than any range has: a range is never the buffer itself.
      KILN_ASSIGN_OR_RETURN(copy.buffer, allocator.allocate(hal::BufferUsage::External, bytes + 1));
    }
  KILN_RETURN_IF_ERROR(device.upload({0, memory.sets()}, /*outputsOnly=*/false));
  return device;
}

Result<Ref<hal::Buffer>> DeviceTensors::range(const Copies &copies, const SharedTensor &tensor, uint32_t set) {
  auto copy = std::ranges::find_if(
      copies, [&](const Copy &each) { return each.path == tensor.path && each.stride == tensor.stride; });
  return hal::Buffer::subspan(copy->buffer, tensor.offset - copy->offset + set * copy->stride, tensor.bytes);
}

template <typename Function>
Status DeviceTensors::forEachRun(const Copy &copy, SetRange sets, const Function &function) const {
  uint32_t set = sets.first;
  for (uint32_t left = sets.count; left > 0;) {
    const uint32_t count = std::min(left, tensors->sets() - set);
    const uint64_t end = (set + count - 1) * copy.stride + copy.bytesOfSet;
    for (uint64_t offset = set * copy.stride; offset < end; offset += kPiece)
      KILN_RETURN_IF_ERROR(function(
          offset, std::span(reinterpret_cast<std::byte *>(copy.host + offset), std::min(kPiece, end - offset))));
    left -= count;
    set = nextTimingSet(set + count - 1, tensors->sets());
  }
  return okStatus();
}

Status DeviceTensors::upload(SetRange sets, bool outputsOnly) {
  for (const Copies *copies : {&inputs, &outputs})
    for (const Copy &copy : outputsOnly &&copies == &inputs ? Copies() : *copies)
      KILN_RETURN_IF_ERROR(forEachRun(
          copy, sets, [&](uint64_t offset, std::span<std::byte> bytes) { return copy.buffer->write(offset, bytes); }));
  return okStatus();
}

Status DeviceTensors::fetch(SetRange sets) {
  for (const Copy &copy : outputs)
    KILN_RETURN_IF_ERROR(forEachRun(
        copy, sets, [&](uint64_t offset, std::span<std::byte> bytes) { return copy.buffer->read(offset, bytes); }));
  return okStatus();
}

} // namespace kiln::measure
