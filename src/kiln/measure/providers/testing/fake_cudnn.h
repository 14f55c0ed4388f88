// A library that takes the place of cuDNN in tests: convolutions as its manual defines them, by a plain kernel in PTX
// that runs on the simulated GPU, one thread for each element of the result. It takes nothing that the manual does not
// allow: attributes of another descriptor, type or number, some that are missing, and descriptors that are not
// finalized, or are already, are errors.
#ifndef KILN_MEASURE_PROVIDERS_TESTING_FAKE_CUDNN_H
#define KILN_MEASURE_PROVIDERS_TESTING_FAKE_CUDNN_H

#include <cstddef>

#include "kiln/measure/providers/cudnn/cudnn_library.h"

namespace kiln::measure::testing {

// Its engines. Those that the lab must not take write nothing, which is fastest.
enum class FakeEngine {
  Refused,        // has no plan
  Large,          // needs more workspace than there is
  NarrowedInputs, // is noted as that, as are the next three
  NarrowSums,
  Winograd,
  Unknown,     // by a note that is not known here
  Slow,        // sums in another order each time, for which it takes longest
  TensorCores, // rounds f32 to tf32; the fastest that computes
  Plain,       // computes in f32
};

// What its heuristics propose: all engines, those of which none may be taken unless it is asked what it falls back on,
// or these alone.
enum class FakeProposals { All, InFallback, None };
inline FakeProposals fakeProposals = FakeProposals::All;

Result<CudnnLibrary> fakeCudnn(const hal::CudaLibrary &cuda);
// Of the last convolution.
FakeEngine lastEngine();
// Descriptors and handles that were made and not destroyed.
size_t fakeCudnnObjects();
// Where a function was called that must not be, why; empty where none was.
std::string fakeCudnnMisuse();

} // namespace kiln::measure::testing

#endif // KILN_MEASURE_PROVIDERS_TESTING_FAKE_CUDNN_H
