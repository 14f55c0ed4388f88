#include "kiln/measure/providers/cublas/cublas_provider.h"

#include "kiln/measure/providers/cublas/cublas_gemm.h"
#include "kiln/measure/providers/gpu_provider.h"

namespace kiln::measure {

namespace {

class CublasProvider final : public GpuProvider {
public:
  CublasProvider(LoadGpuLibrary<CublasLibrary> load, bool tf32) : loadLibrary(std::move(load)), tf32(tf32) {}
  ~CublasProvider() override {
    if (!handle)
      return;
    hal::CudaContext::Scope scope(gpu().context());
    library.cublasDestroy_v2(handle);
  }
  std::string version() const override { return description; }
  std::string note() const override {
    return tf32 ? "products in tf32; split-k problems as plain products" : "split-k problems as plain products";
  }

protected:
  Status openLibrary(const hal::CudaLibrary &cuda) override {
    KILN_ASSIGN_OR_RETURN(library, loadLibrary(cuda));
    KILN_RETURN_IF_ERROR(checkCublas(library.cublasCreate_v2(&handle), "start cuBLAS"));
    KILN_RETURN_IF_ERROR(checkCublas(library.cublasSetStream_v2(handle, stream()), "choose a stream"));
    int version = 0;
    KILN_RETURN_IF_ERROR(checkCublas(library.cublasGetVersion_v2(handle, &version), "tell its version"));
    description = gpuLibraryVersion(size_t(version));
    return okStatus();
  }

  Status prepareProblem(const LoadRequest &request) override {
    KILN_ASSIGN_OR_RETURN(MatmulShape shape, matmulShape(request));
    KILN_ASSIGN_OR_RETURN(gemm, CublasGemm::of(shape, tf32));
    types = shape.typesText();
    return checkCublas(library.cublasSetWorkspace_v2(handle, workspace(), kWorkspaceBytes), "use a workspace");
  }

  Status enqueue(uint32_t set) override {
    const CublasScalar one(gemm.scaleType, 1), zero(gemm.scaleType, 0);
    auto transposition = [](const CublasGemm::Operand &operand) {
      return operand.transposed ? cublas::kTranspose : cublas::kKeep;
    };
    const CublasGemm::Operand &a = gemm.a, &b = gemm.b;
    const int status =
        gemm.batch == 1
            ? library.cublasGemmEx(handle, transposition(a), transposition(b), int(gemm.m), int(gemm.n), int(gemm.k),
                                   one.data(), input(a.input, set), a.type, int(a.rows), input(b.input, set), b.type,
                                   int(b.rows), zero.data(), output(set), gemm.resultType, int(gemm.m),
                                   gemm.computeType, cublas::kDefaultAlgorithm)
            : library.cublasGemmStridedBatchedEx(
                  handle, transposition(a), transposition(b), int(gemm.m), int(gemm.n), int(gemm.k), one.data(),
                  input(a.input, set), a.type, int(a.rows), a.batchStride, input(b.input, set), b.type, int(b.rows),
                  b.batchStride, zero.data(), output(set), gemm.resultType, int(gemm.m), gemm.resultBatchStride,
                  int(gemm.batch), gemm.computeType, cublas::kDefaultAlgorithm);
    if (status == cublas::kSuccess) [[likely]]
      return okStatus();
    return checkCublas(status, fmt::format("multiply {} in these sizes and layouts", types));
  }

private:
  const LoadGpuLibrary<CublasLibrary> loadLibrary;
  const bool tf32;
  CublasLibrary library;
  CublasHandle handle = nullptr;
  std::string description, types;
  CublasGemm gemm;
};

} // namespace

std::unique_ptr<Provider> createCublasProvider(LoadGpuLibrary<CublasLibrary> load, bool tf32) {
  return std::make_unique<CublasProvider>(std::move(load), tf32);
}

} // namespace kiln::measure
