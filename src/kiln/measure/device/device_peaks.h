// The kernels of a calibration on a device, counted and ready to be timed.
#ifndef KILN_MEASURE_DEVICE_DEVICE_PEAKS_H
#define KILN_MEASURE_DEVICE_DEVICE_PEAKS_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/measure/kernels/device_code.h"

namespace kiln::measure {

// Work whose length is chosen by a number of rounds.
struct PeakWork {
  // What it measures: arithmetic with operands of a type by a class of instructions, or a transfer at a level.
  std::string what, how; // "f16", "tensorcore_wgmma"; "memory", "copy"
  bool isArithmetic = true;
  uint64_t bytes = 0;       // that a transfer works on
  double amountOfRound = 0; // multiplications and additions, or bytes: counted by the kernel itself
  hal::Submission launch;
  Ref<hal::Buffer> task;                      // PeakTask
  uint64_t vectors = 0;                       // of it
  std::vector<Ref<hal::Buffer>> buffers = {}; // that the launch uses besides

  Status setRounds(uint64_t rounds) const;
};

class DevicePeaks {
public:
  // Loads what the device runs. It outlives the result.
  static Result<DevicePeaks> create(hal::Device &device, uint32_t multiprocessors);

  // Everything that can be measured. A kernel that does not do what it should is an error.
  Result<std::vector<PeakWork>> works();
  // One of them, which takes as long each time, whatever its numbers: f32 without tensor cores.
  Result<PeakWork> steadyWork();
  // A launch that does nothing.
  Result<hal::Submission> nothing();

private:
  struct Kernel;
  explicit DevicePeaks(hal::Device &device) : device(&device) {}

  Result<Ref<hal::Buffer>> allocate(uint64_t bytes);
  uint64_t blocksOf(uint32_t perMultiprocessor) const;
  // That all threads of such a launch load at once.
  uint64_t vectorsOfTurn(uint32_t perMultiprocessor) const;
  Result<PeakWork> prepare(const Kernel &kernel, uint32_t perMultiprocessor, Ref<hal::Buffer> operands,
                           Ref<hal::Buffer> &results);
  // What the results say of so many rounds, all in all.
  Result<double> count(const PeakWork &work, hal::Buffer &results, uint64_t rounds);
  Result<PeakWork> arithmetic(const Kernel &kernel);
  Result<PeakWork> sharedMemory(const Kernel &kernel);
  Result<PeakWork> transfer(const Kernel &kernel, std::string level, uint64_t aboutBytes, bool isCopy, uint32_t blocks);
  Status fill(hal::Buffer &buffer, uint64_t vectors, uint64_t seed);

  hal::Device *device;
  uint32_t multiprocessors = 1;
  bool isSimulated = false;
  Ref<hal::Executable> common, warpgroup; // the second one may be null
};

} // namespace kiln::measure

#endif // KILN_MEASURE_DEVICE_DEVICE_PEAKS_H
