// Loops that do nothing but arithmetic, one for each element type and class of instructions.
#ifndef KILN_MEASURE_MACHINE_PEAK_H
#define KILN_MEASURE_MACHINE_PEAK_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kiln::measure {

struct PeakKernel {
  const char *type;         // of the operands: "f32", "i8"
  const char *instructions; // "avx512_fma"
  double operations;        // of a round; a multiplication and an addition are two
  void (*run)(uint64_t rounds);
};

// Those that a CPU with these features (Provenance::features) can run.
std::vector<PeakKernel> peakKernels(std::span<const std::string> features);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_PEAK_H
