// Tensors in memory that worker processes map: sets of the same tensors, one set after the other. The process that made
// them fills and reads them; workers find them by path.
#ifndef KILN_MEASURE_WORKERS_SHARED_TENSORS_H
#define KILN_MEASURE_WORKERS_SHARED_TENSORS_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/protocol.h"
#include "kiln/measure/workload.h"
#include "kiln/runtime/io/file.h"

namespace kiln::measure {

// How many sets are timed in turn, besides set 0, which is for verification.
struct SetPlan {
  uint32_t timingSets = 1;
  uint64_t timingBytes = 0; // of all of them
  // Whether their data is more than twice the last-level cache, so that none of it is left there when a set's turn
  // comes again. Not so for tiny problems, and where the budget is too small; then data comes from the last-level
  // cache.
  bool exceedsCache = false;

  uint32_t sets() const { return 1 + timingSets; }
};

// For a cold cache: as few sets as make their data exceed the cache twice, or as many as `budget` bytes allow.
// `problemBytes` is what one set holds.
SetPlan planColdSets(uint64_t problemBytes, uint64_t lastLevelCacheBytes, uint64_t budget);
// For a warm cache: one.
SetPlan planWarmSets(uint64_t problemBytes);

class SharedTensors {
public:
  enum class Pages {
    Reserved, // all memory is there from the start, or creating fails
    OnDemand, // memory that is never written is never allocated
  };
  // Each tensor starts at a multiple of 64 bytes, and at one of the page size where it is a page or longer. All bytes
  // are zero. The memory cannot be shrunk or grown: reading it never faults.
  static Result<SharedTensors> create(const char *name, TensorTypes types, uint32_t sets, Pages pages);
  SharedTensors(SharedTensors &&other) noexcept;
  SharedTensors &operator=(SharedTensors &&other) noexcept;
  ~SharedTensors();

  // From now on no process can get write access to the memory but through this object.
  Status forbidWriting();
  // From now on no process can forbid others anything of that kind.
  Status forbidSealing();

  uint32_t sets() const { return setCount; }
  // Valid as long as this object.
  std::vector<MutableTensor> set(uint32_t index);
  std::vector<io::TensorSpan> view(uint32_t index) const;
  // Of all its tensors, and what lies between them.
  std::span<uint8_t> bytes(uint32_t index) { return {memory + index * stride, stride}; }

  // As a request says them. The path is one below /proc/<pid> and opens as long as this object lives.
  std::vector<SharedTensor> describe() const;

private:
  SharedTensors() = default;

  io::FileDescriptor file;
  uint8_t *memory = nullptr;
  uint64_t length = 0;
  uint64_t stride = 0;
  uint32_t setCount = 0;
  std::vector<TensorType> types;
  std::vector<uint64_t> offsets, sizes; // of each tensor in a set
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_SHARED_TENSORS_H
