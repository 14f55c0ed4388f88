// NVIDIA's libraries for its GPUs, loaded at run time: where they are looked for, and what their versions are called.
#ifndef KILN_MEASURE_PROVIDERS_GPU_LIBRARY_H
#define KILN_MEASURE_PROVIDERS_GPU_LIBRARY_H

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/shared_library.h"
#include "kiln/targets/cuda/driver/cuda_library.h"

namespace kiln::measure {

// Finds a library's functions for this driver: Library::load, or a test's own.
template <typename Library> using LoadGpuLibrary = std::function<Result<Library>(const hal::CudaLibrary &cuda)>;

// One of the files that a library may be in.
struct GpuLibraryFile {
  int cuda;           // the version of CUDA that it is for
  const char *folder; // where `pip` puts it below the folder of Python's packages
  const char *name;   // "libcublas.so.12"
  // Another file below that folder, without which it cannot be used; may be null. It is loaded first.
  const char *needs = nullptr;
};

// The first file that the driver is for, and that is in the folder of peers or among the system's libraries.
// Unimplemented where there is none, with the package of Python that installs it, and where the GPU is simulated.
Result<SharedLibrary> openGpuLibrary(std::string_view library, std::span<const GpuLibraryFile> files,
                                     std::string_view package, const std::string &peersFolder,
                                     const hal::CudaLibrary &cuda);

// "12.8.4" of 120804.
std::string gpuLibraryVersion(size_t version);

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_GPU_LIBRARY_H
