#include "kiln/measure/providers/cublas/cublas_library.h"

#include "kiln/measure/providers/gpu_library.h"

namespace kiln::measure {

static constexpr std::string_view kPackage = "nvidia-cublas-cu12";

Result<CublasLibrary> CublasLibrary::load(const std::string &peersFolder, const hal::CudaLibrary &cuda) {
  static constexpr GpuLibraryFile kFiles[] = {
      {13, "nvidia/cu13/lib", "libcublas.so.13", "nvidia/cu13/lib/libcublasLt.so.13"},
      {12, "nvidia/cublas/lib", "libcublas.so.12", "nvidia/cublas/lib/libcublasLt.so.12"},
  };
  CublasLibrary functions;
  KILN_ASSIGN_OR_RETURN(SharedLibrary library, openGpuLibrary("libcublas", kFiles, kPackage, peersFolder, cuda));
#define KILN_CUBLAS_FUNCTION(name, parameters) KILN_RETURN_IF_ERROR(library.find(#name, functions.name));
#include "kiln/measure/providers/cublas/cublas_functions.def"
#undef KILN_CUBLAS_FUNCTION
  return functions;
}

Result<CublasLtLibrary> CublasLtLibrary::load(const std::string &peersFolder, const hal::CudaLibrary &cuda) {
  static constexpr GpuLibraryFile kFiles[] = {
      {13, "nvidia/cu13/lib", "libcublasLt.so.13"},
      {12, "nvidia/cublas/lib", "libcublasLt.so.12"},
  };
  CublasLtLibrary functions;
  KILN_ASSIGN_OR_RETURN(SharedLibrary library, openGpuLibrary("libcublasLt", kFiles, kPackage, peersFolder, cuda));
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

} // namespace kiln::measure
