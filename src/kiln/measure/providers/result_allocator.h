// Puts the results of a program where the lab wants them: into the outputs of a set, which all workers share.
#ifndef KILN_MEASURE_PROVIDERS_RESULT_ALLOCATOR_H
#define KILN_MEASURE_PROVIDERS_RESULT_ALLOCATOR_H

#include <mutex>
#include <span>
#include <vector>

#include "kiln/runtime/hal/allocator.h"

namespace kiln::measure {

class ResultAllocator final : public hal::Allocator {
public:
  explicit ResultAllocator(Ref<hal::Allocator> inner) : inner(std::move(inner)) {}

  // From now on the first result of each of these lengths lies in that memory: of the host, which outlives its buffer,
  // or a range of a buffer of the device. Everything else comes from the wrapped allocator.
  void place(std::span<const std::span<uint8_t>> outputs);
  void place(std::span<const Ref<hal::Buffer>> outputs);

  void trim() override { inner->trim(); }
  Status verify() override { return inner->verify(); }

protected:
  Result<Ref<hal::Buffer>> allocateBuffer(hal::BufferUsage usage, uint64_t length) override;
  Result<Ref<hal::Buffer>> importBuffer(hal::HostMemory &memory, hal::BufferUsage usage) override {
    return importThrough(*inner, memory, usage);
  }
  void reclaim(hal::Buffer *buffer) override;

private:
  Ref<hal::Allocator> inner;
  std::mutex mutex;
  std::vector<std::span<uint8_t>> places;     // guarded; empty ones are taken
  std::vector<Ref<hal::Buffer>> devicePlaces; // guarded; null ones are taken
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_RESULT_ALLOCATOR_H
