#include "kiln/measure/providers/openblas_provider.h"

#include <optional>

#include "kiln/measure/providers/matmul_shape.h"
#include "kiln/measure/providers/shared_library.h"
#include "kiln/measure/providers/thread_binding.h"

namespace kiln::measure {

namespace {

using io::ElementType;

// Numbers and signatures of the CBLAS standard; no header is needed to build this.
constexpr int kRowMajor = 101, kColumnMajor = 102, kNoTranspose = 111, kTranspose = 112;
template <typename T>
using Gemm = void(int order, int lhsTranspose, int rhsTranspose, int m, int n, int k, T alpha, const T *lhs,
                  int lhsStride, const T *rhs, int rhsStride, T beta, T *result, int resultStride);

class OpenBlasProvider final : public Provider {
public:
  Status start(uint32_t threads) override {
    KILN_ASSIGN_OR_RETURN(SharedLibrary library, SharedLibrary::open("libopenblas.so.0", "libopenblas0"));
    void (*setThreads)(int);
    const char *(*config)();
    KILN_RETURN_IF_ERROR(library.find("openblas_set_num_threads", setThreads));
    KILN_RETURN_IF_ERROR(library.find("openblas_get_config", config));
    KILN_RETURN_IF_ERROR(library.find("cblas_sgemm", sgemm));
    KILN_RETURN_IF_ERROR(library.find("cblas_dgemm", dgemm));
    setThreads(int(threads));
    description = config();
    // Its threads are there from now on, and were never told where to run.
    return bindAll(threads);
  }
  std::string note() const override { return "a batch as a loop; split-k problems as plain products"; }
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... SkylakeX MAX_THREADS=64"
  std::string version() const override {
    std::string_view text = description;
    text = text.starts_with("OpenBLAS ") ? text.substr(9) : text;
    return std::string(text);
  }

  Status load(const LoadRequest &request, TensorMemory &memory) override {
    KILN_ASSIGN_OR_RETURN(shape, matmulShape(request));
    ElementType type = shape.result.type;
    if ((type != ElementType::F32 && type != ElementType::F64) || shape.lhs.type != type || shape.rhs.type != type)
      return unimplemented("OpenBLAS multiplies f32 and f64, not {}", shape.typesText());
    tensors = &memory;
    return okStatus();
  }

  Status call(uint32_t set) override { return multiplyTo(set, tensors->output(0, set)); }

private:
  Status multiplyTo(uint32_t set, uint8_t *result) {
    if (shape.result.type == ElementType::F32)
      multiply(*sgemm, set, reinterpret_cast<float *>(result));
    else
      multiply(*dgemm, set, reinterpret_cast<double *>(result));
    return okStatus();
  }

  template <typename T> void multiply(Gemm<T> &gemm, uint32_t set, T *result) {
    const T *lhs = reinterpret_cast<const T *>(tensors->input(0, set));
    const T *rhs = reinterpret_cast<const T *>(tensors->input(1, set));
    // The order is the result's; an operand of the other one is its transpose.
    bool columnMajor = shape.result.columnMajor;
    auto transpose = [&](const MatmulOperand &operand) {
      return operand.columnMajor == columnMajor ? kNoTranspose : kTranspose;
    };
    int m = int(shape.m), n = int(shape.n), k = int(shape.k);
    for (uint64_t b = 0; b < shape.batch; ++b)
      gemm(columnMajor ? kColumnMajor : kRowMajor, transpose(shape.lhs), transpose(shape.rhs), m, n, k, T(1),
           lhs + b * shape.m * shape.k, shape.lhs.columnMajor ? m : k, rhs + b * shape.k * shape.n,
           shape.rhs.columnMajor ? k : n, T(0), result + b * shape.m * shape.n, columnMajor ? m : n);
  }

  std::string description;
  Gemm<float> *sgemm = nullptr;
  Gemm<double> *dgemm = nullptr;
  MatmulShape shape;
  TensorMemory *tensors = nullptr;
};

} // namespace

std::unique_ptr<Provider> createOpenBlasProvider() {
  return std::make_unique<OpenBlasProvider>();
}

} // namespace kiln::measure
