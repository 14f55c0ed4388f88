#include "kiln/measure/providers/cublas/cublas_library.h"

#include "kiln/measure/machine/shared_library.h"

namespace kiln::measure {

namespace {

// Of a version of CUDA: where `pip` puts its libraries below the folder of Python's packages.
struct CudaRelease {
  int major;
  const char *folder;
};
constexpr CudaRelease kReleases[] = {{13, "nvidia/cu13/lib"}, {12, "nvidia/cublas/lib"}};

// The newest that the driver is for, in the folder of peers or among the system's libraries.
Result<SharedLibrary> openLibrary(const char *name, const std::string &peersFolder, const hal::CudaLibrary &cuda) {
  if (cuda.isSimulated())
    return unimplemented("{} computes on NVIDIA's GPUs, and not on simulated ones", name);
  std::string tried;
  for (const CudaRelease &release : kReleases) {
    if (cuda.version() / 1000 < release.major)
      continue;
    const std::string file = fmt::format("{}.so.{}", name, release.major);
    const std::string path = fmt::format("python/{}/{}", release.folder, file);
    const std::string needed = fmt::format("python/{}/libcublasLt.so.{}", release.folder, release.major);
    const char *needs[] = {needed.c_str()};
    if (SharedLibrary::isThere(peersFolder, {path.c_str()}))
      return SharedLibrary::open(peersFolder, {path.c_str(), needs});
    if (Result<SharedLibrary> library = SharedLibrary::openSystems(file); library.ok())
      return library;
    tried += (tried.empty() ? "" : " or ") + file;
  }
  return unimplemented("cannot load {}: not among the system's libraries, and not in {}; `pip install "
                       "nvidia-cublas-cu12` into an environment that --peers-dir names provides it",
                       tried.empty() ? fmt::format("{}: NVIDIA's driver is too old", name) : tried, peersFolder);
}

} // namespace

Result<CublasLibrary> CublasLibrary::load(const std::string &peersFolder, const hal::CudaLibrary &cuda) {
  CublasLibrary functions;
  KILN_ASSIGN_OR_RETURN(SharedLibrary library, openLibrary("libcublas", peersFolder, cuda));
#define KILN_CUBLAS_FUNCTION(name, parameters) KILN_RETURN_IF_ERROR(library.find(#name, functions.name));
#include "kiln/measure/providers/cublas/cublas_functions.def"
#undef KILN_CUBLAS_FUNCTION
  return functions;
}

Result<CublasLtLibrary> CublasLtLibrary::load(const std::string &peersFolder, const hal::CudaLibrary &cuda) {
  CublasLtLibrary functions;
  KILN_ASSIGN_OR_RETURN(SharedLibrary library, openLibrary("libcublasLt", peersFolder, cuda));
#define KILN_CUBLAS_FUNCTION(name, parameters) KILN_RETURN_IF_ERROR(library.find(#name, functions.name));
#include "kiln/measure/providers/cublas/cublaslt_functions.def"
#undef KILN_CUBLAS_FUNCTION
  KILN_RETURN_IF_ERROR(library.find("cublasLtGetVersion", functions.cublasLtGetVersion));
  return functions;
}

Status checkCublas(int status, std::string_view what) {
  if (status == cublas::kSuccess) [[likely]]
    return okStatus();
  if (status == cublas::kNotSupported)
    return unimplemented("the library does not {}", what);
  return internalError("cannot {}: the library's error {}", what, status);
}

std::string cublasVersion(size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

} // namespace kiln::measure
