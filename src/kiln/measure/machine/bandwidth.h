// Loops that do nothing but move data.
#ifndef KILN_MEASURE_MACHINE_BANDWIDTH_H
#define KILN_MEASURE_MACHINE_BANDWIDTH_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/provenance.h"

namespace kiln::measure {

enum class Transfer {
  Read,  // sums up what it reads
  Copy,  // b = a
  Triad, // c = a + 3 * b
};
inline constexpr Transfer kTransfers[] = {Transfer::Read, Transfer::Copy, Transfer::Triad};
const char *transferName(Transfer transfer); // "read"

// Memory of one thread, in large pages where the system gives them. Touched first, and thus placed, by whoever touches
// it.
class TransferBuffer {
public:
  static Result<TransferBuffer> create(uint64_t bytes);
  TransferBuffer(TransferBuffer &&other) noexcept;
  TransferBuffer &operator=(TransferBuffer &&) = delete;
  ~TransferBuffer();

  std::span<std::byte> bytes() const { return {memory, size}; }

private:
  TransferBuffer(std::byte *memory, uint64_t size) : memory(memory), size(size) {}
  std::byte *memory;
  uint64_t size;
};

// Goes `passes` times through the memory: one array for Read, two for Copy, three for Triad, which share it. The bytes
// that a pass reads and writes as the program sees it; lines that stores fetch first do not count.
uint64_t transferBytes(Transfer transfer, uint64_t workingSet);
void runTransfer(Transfer transfer, std::span<std::byte> memory, uint64_t passes,
                 std::span<const std::string> features);

// A place in the memory hierarchy, and how many bytes each of `threads` threads works on to be measured there.
struct MemoryLevel {
  std::string name; // "L1", "L2", "memory"
  uint64_t bytesPerThread;
};
std::vector<MemoryLevel> memoryLevels(const Provenance &machine, unsigned threads);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_BANDWIDTH_H
