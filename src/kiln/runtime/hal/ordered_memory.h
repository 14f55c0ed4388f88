// Memory that work in queues hands on before it has ended: a submission is given what one before it uses, where the
// queue keeps the two in order.
#ifndef KILN_RUNTIME_HAL_ORDERED_MEMORY_H
#define KILN_RUNTIME_HAL_ORDERED_MEMORY_H

#include "kiln/base/ref.h"
#include "kiln/runtime/hal/buffer.h"
#include "kiln/runtime/hal/fence.h"

#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

namespace kiln::hal {

// Holds a buffer from when it is given until the fence of its last use is signalled, and then drops it, so that the
// allocator has it again. All functions may be called on any thread.
class OrderedMemory final : public RefCounted {
public:
  // A buffer of that usage and length whose last use ends before anything begins that waits for `wait`; else null.
  Ref<Buffer> take(const Fence &wait, BufferUsage usage, uint64_t length);
  // All of them, whatever their length.
  std::vector<Ref<Buffer>> takeAll(const Fence &wait);
  // `after` is of the last use. Holds nothing where that is signalled.
  void give(Ref<Buffer> buffer, Fence &after);

private:
  class Held;

  std::mutex mutex;
  std::list<Held *> held; // guarded; each owns itself until its fence is signalled
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_ORDERED_MEMORY_H
