#include "kiln/runtime/hal/ordered_memory.h"

#include "kiln/runtime/hal/fence_listener.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace kiln::hal {

class OrderedMemory::Held final : public FenceListener {
public:
  Held(Ref<OrderedMemory> memory, Ref<Buffer> buffer, const Fence &after)
      : buffer(std::move(buffer)), memory(std::move(memory)) {
    for (const SemaphorePoint &point : after.points())
      points.push_back({point.semaphore.get(), point.value});
  }

  // Whether what waits for `wait` waits for the last use, too.
  bool isBefore(const Fence &wait) const {
    return std::ranges::all_of(points, [&](const Point &point) {
      return std::ranges::any_of(wait.points(), [&](const SemaphorePoint &awaited) {
        return awaited.semaphore.get() == point.semaphore && awaited.value >= point.value;
      });
    });
  }

  Ref<Buffer> buffer; // guarded by the memory; null where it was taken

private:
  // A listener retains no semaphore. Addresses are compared only: one that is gone had been signalled, or had failed,
  // so that it does not matter which point its successor at this address is taken for.
  struct Point {
    const Semaphore *semaphore;
    uint64_t value;
  };

  void onSignaled(Status) override {
    std::unique_ptr<Held> self(this);
    std::lock_guard lock(memory->mutex);
    std::erase(memory->held, this);
  }

  const Ref<OrderedMemory> memory;
  std::vector<Point> points;
};

Ref<Buffer> OrderedMemory::take(const Fence &wait, BufferUsage usage, uint64_t length) {
  std::lock_guard lock(mutex);
  auto found = std::ranges::find_if(held, [&](const Held *entry) {
    return entry->buffer->byteLength() == length && entry->buffer->usage() == usage && entry->isBefore(wait);
  });
  if (found == held.end())
    return {};
  Ref<Buffer> buffer = std::move((*found)->buffer);
  held.erase(found);
  return buffer;
}

std::vector<Ref<Buffer>> OrderedMemory::takeAll(const Fence &wait) {
  std::vector<Ref<Buffer>> buffers;
  std::lock_guard lock(mutex);
  std::erase_if(held, [&](Held *entry) {
    bool taken = entry->isBefore(wait);
    if (taken)
      buffers.push_back(std::move(entry->buffer));
    return taken;
  });
  return buffers;
}

void OrderedMemory::give(Ref<Buffer> buffer, Fence &after) {
  auto *entry = new Held(Ref<OrderedMemory>::share(this), std::move(buffer), after);
  {
    std::lock_guard lock(mutex);
    held.push_back(entry);
  }
  entry->listen(after);
}

} // namespace kiln::hal
