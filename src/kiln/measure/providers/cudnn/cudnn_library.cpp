#include "kiln/measure/providers/cudnn/cudnn_library.h"

#include "kiln/measure/providers/gpu_library.h"

namespace kiln::measure {

// It opens its parts itself, by their names and from its own folder, and what it takes of CUDA from the folders of
// other packages. Without cuBLASLt it ends the process when it is started.
Result<CudnnLibrary> CudnnLibrary::load(const std::string &peersFolder, const hal::CudaLibrary &cuda) {
  static constexpr GpuLibraryFile kFiles[] = {
      {13, "nvidia/cudnn/lib", "libcudnn.so.9", "nvidia/cu13/lib/libcublasLt.so.13"},
      {12, "nvidia/cudnn/lib", "libcudnn.so.9", "nvidia/cublas/lib/libcublasLt.so.12"},
  };
  CudnnLibrary functions;
  KILN_ASSIGN_OR_RETURN(SharedLibrary library,
                        openGpuLibrary("libcudnn", kFiles, "nvidia-cudnn-cu12", peersFolder, cuda));
#define KILN_CUDNN_FUNCTION(name, parameters) KILN_RETURN_IF_ERROR(library.find(#name, functions.name));
#include "kiln/measure/providers/cudnn/cudnn_functions.def"
#undef KILN_CUDNN_FUNCTION
  KILN_RETURN_IF_ERROR(library.find("cudnnGetVersion", functions.cudnnGetVersion));
  return functions;
}

Status checkCudnn(int status, std::string_view what) {
  if (status == cudnn::kSuccess) [[likely]]
    return okStatus();
  // Its numbers for reasons of one kind lie together.
  if (status >= cudnn::kNotSupported && status < cudnn::kInternalError)
    return unimplemented("the library does not {}: its reason {}", what, status);
  return internalError("cannot {}: the library's error {}", what, status);
}

Result<CudnnObject> CudnnObject::create(const CudnnLibrary &library, int kind) {
  CudnnDescriptor made = nullptr;
  KILN_RETURN_IF_ERROR(
      checkCudnn(library.cudnnBackendCreateDescriptor(kind, &made), fmt::format("make a descriptor of kind {}", kind)));
  CudnnObject object;
  object.node = std::make_shared<Node>(library);
  object.node->descriptor = made;
  return object;
}

Status CudnnObject::setValues(int attribute, int type, int64_t count, const void *values) {
  const int status = node->library.cudnnBackendSetAttribute(get(), attribute, type, count, values);
  return status == cudnn::kSuccess ? okStatus() : checkCudnn(status, fmt::format("take attribute {}", attribute));
}

Result<int64_t> CudnnObject::readValues(int attribute, int type, int64_t wanted, void *values) const {
  int64_t count = 0;
  const int status = node->library.cudnnBackendGetAttribute(get(), attribute, type, wanted, &count, values);
  if (status != cudnn::kSuccess)
    return checkCudnn(status, fmt::format("tell attribute {}", attribute));
  return count;
}

Status CudnnObject::finalize() {
  return checkCudnn(node->library.cudnnBackendFinalize(get()), "compute this");
}

} // namespace kiln::measure
