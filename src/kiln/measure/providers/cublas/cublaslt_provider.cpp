#include <algorithm>
#include <limits>

#include "kiln/measure/providers/cublas/cublas_gemm.h"
#include "kiln/measure/providers/cublas/cublas_provider.h"
#include "kiln/measure/providers/gpu_provider.h"

namespace kiln::measure {

namespace {

constexpr int kProposals = 8;

class CublasLtProvider final : public GpuProvider {
public:
  CublasLtProvider(LoadGpuLibrary<CublasLtLibrary> load, bool tf32) : loadLibrary(std::move(load)), tf32(tf32) {}
  ~CublasLtProvider() override {
    for (CublasLtLayout layout : {layoutA, layoutB, layoutC})
      if (layout)
        library.cublasLtMatrixLayoutDestroy(layout);
    if (description)
      library.cublasLtMatmulDescDestroy(description);
    if (!handle)
      return;
    hal::CudaContext::Scope scope(gpu().context());
    library.cublasLtDestroy(handle);
  }
  std::string version() const override { return gpuLibraryVersion(library.cublasLtGetVersion()); }
  std::string note() const override {
    return fmt::format("{}the fastest of the {} algorithms that it proposes; split-k problems as plain products",
                       tf32 ? "products in tf32, " : "", kProposals);
  }

protected:
  Status openLibrary(const hal::CudaLibrary &cuda) override {
    KILN_ASSIGN_OR_RETURN(library, loadLibrary(cuda));
    return checkCublas(library.cublasLtCreate(&handle), "start cuBLASLt");
  }

  Status prepareProblem(const LoadRequest &request) override {
    KILN_ASSIGN_OR_RETURN(shape, matmulShapeWithEpilogue(request));
    KILN_ASSIGN_OR_RETURN(gemm, CublasGemm::of(shape, tf32));
    KILN_RETURN_IF_ERROR(describe());
    KILN_RETURN_IF_ERROR(describeEpilogue());
    return choose();
  }

  Status enqueue(uint32_t set) override {
    const CublasScalar one(gemm.scaleType, 1), zero(gemm.scaleType, 0);
    if (shape.epilogue != Epilogue::None)
      KILN_RETURN_IF_ERROR(setAttribute(cublas::kBiasPointer, input(2, set)));
    const int status =
        library.cublasLtMatmul(handle, description, one.data(), input(gemm.a.input, set), layoutA,
                               input(gemm.b.input, set), layoutB, zero.data(), output(set), layoutC, output(set),
                               layoutC, chosen.algorithm, workspace(), chosen.workspaceBytes, stream());
    if (status == cublas::kSuccess) [[likely]]
      return okStatus();
    return checkCublas(status, fmt::format("multiply {} in these sizes and layouts", shape.typesText()));
  }

private:
  template <typename T> Status setAttribute(int attribute, T value) {
    return checkCublas(library.cublasLtMatmulDescSetAttribute(description, attribute, static_cast<const void *>(&value),
                                                              sizeof(value)),
                       "describe a product");
  }

  Status makeLayout(CublasLtLayout &layout, int type, int64_t rows, int64_t columns, int64_t batchStride) {
    constexpr std::string_view kWhat = "describe a matrix";
    KILN_RETURN_IF_ERROR(
        checkCublas(library.cublasLtMatrixLayoutCreate(&layout, type, uint64_t(rows), uint64_t(columns), rows), kWhat));
    if (gemm.batch == 1)
      return okStatus();
    const auto count = int32_t(gemm.batch);
    KILN_RETURN_IF_ERROR(checkCublas(
        library.cublasLtMatrixLayoutSetAttribute(layout, cublas::kBatchCount, &count, sizeof(count)), kWhat));
    return checkCublas(
        library.cublasLtMatrixLayoutSetAttribute(layout, cublas::kBatchStride, &batchStride, sizeof(batchStride)),
        kWhat);
  }

  Status describe() {
    KILN_RETURN_IF_ERROR(checkCublas(library.cublasLtMatmulDescCreate(&description, gemm.computeType, gemm.scaleType),
                                     "describe a product"));
    KILN_RETURN_IF_ERROR(
        setAttribute(cublas::kTransposeA, int32_t(gemm.a.transposed ? cublas::kTranspose : cublas::kKeep)));
    KILN_RETURN_IF_ERROR(
        setAttribute(cublas::kTransposeB, int32_t(gemm.b.transposed ? cublas::kTranspose : cublas::kKeep)));
    KILN_RETURN_IF_ERROR(makeLayout(layoutA, gemm.a.type, gemm.a.rows, gemm.a.columns, gemm.a.batchStride));
    KILN_RETURN_IF_ERROR(makeLayout(layoutB, gemm.b.type, gemm.b.rows, gemm.b.columns, gemm.b.batchStride));
    return makeLayout(layoutC, gemm.resultType, gemm.m, gemm.n, gemm.resultBatchStride);
  }

  // The bias is one for each row of what the library computes, which is the transpose.
  Status describeEpilogue() {
    if (shape.epilogue == Epilogue::None)
      return okStatus();
    if (shape.epilogue == Epilogue::BiasGelu)
      return unimplemented("its gelu is the one by tanh");
    if (shape.result.columnMajor)
      return unimplemented("its bias is one for each row of a column-major result");
    const int epilogue = shape.epilogue == Epilogue::Bias       ? cublas::kBias
                         : shape.epilogue == Epilogue::BiasRelu ? cublas::kReluBias
                                                                : cublas::kGeluBias;
    KILN_RETURN_IF_ERROR(setAttribute(cublas::kEpilogue, int32_t(epilogue)));
    KILN_RETURN_IF_ERROR(setAttribute(cublas::kBiasType, int32_t(gemm.resultType)));
    return setAttribute(cublas::kBiasPointer, input(2, 0));
  }

  // Its proposals, of which those that the library can run are timed.
  Status choose() {
    CublasLtPreference preference = nullptr;
    KILN_RETURN_IF_ERROR(checkCublas(library.cublasLtMatmulPreferenceCreate(&preference), "choose an algorithm"));
    const size_t most = kWorkspaceBytes;
    CublasLtHeuristic proposals[kProposals] = {};
    int found = 0;
    int status = library.cublasLtMatmulPreferenceSetAttribute(preference, cublas::kMostWorkspace, &most, sizeof(most));
    if (status == cublas::kSuccess)
      status = library.cublasLtMatmulAlgoGetHeuristic(handle, description, layoutA, layoutB, layoutC, layoutC,
                                                      preference, kProposals, proposals, &found);
    library.cublasLtMatmulPreferenceDestroy(preference);
    KILN_RETURN_IF_ERROR(checkCublas(status, fmt::format("multiply {} in these sizes and layouts", shape.typesText())));
    double fastest = std::numeric_limits<double>::infinity();
    CublasLtHeuristic best = {};
    Status failure = unimplemented("the library proposes no algorithm for {}", shape.typesText());
    for (const CublasLtHeuristic &proposal : std::span(proposals).first(size_t(std::clamp(found, 0, kProposals)))) {
      if (proposal.state != cublas::kSuccess)
        continue;
      chosen = proposal;
      Result<double> took = timeCalls();
      if (!took.ok())
        failure = std::move(took).status();
      else if (*took < fastest) {
        fastest = *took;
        best = proposal;
      }
    }
    chosen = best;
    return fastest < std::numeric_limits<double>::infinity() ? okStatus() : failure;
  }

  const LoadGpuLibrary<CublasLtLibrary> loadLibrary;
  const bool tf32;
  CublasLtLibrary library;
  CublasLtHandle handle = nullptr;
  CublasLtMatmul description = nullptr;
  CublasLtLayout layoutA = nullptr, layoutB = nullptr, layoutC = nullptr;
  CublasLtHeuristic chosen = {};
  MatmulShape shape;
  CublasGemm gemm;
};

} // namespace

std::unique_ptr<Provider> createCublasLtProvider(LoadGpuLibrary<CublasLtLibrary> load, bool tf32) {
  return std::make_unique<CublasLtProvider>(std::move(load), tf32);
}

} // namespace kiln::measure
