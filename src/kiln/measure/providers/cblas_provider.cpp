#include "kiln/measure/providers/cblas_provider.h"

#include "kiln/measure/machine/libraries.h"
#include "kiln/measure/providers/matmul_shape.h"
#include "kiln/measure/providers/thread_binding.h"

namespace kiln::measure {

namespace {

using io::ElementType;

// Numbers and signatures of the CBLAS standard; no header is needed to build this.
constexpr int kRowMajor = 101, kColumnMajor = 102, kNoTranspose = 111, kTranspose = 112;
// Alpha and beta are of type T; what matrices hold depends on the function.
template <typename T>
using Gemm = void(int order, int lhsTranspose, int rhsTranspose, int m, int n, int k, T alpha, const void *lhs,
                  int lhsStride, const void *rhs, int rhsStride, T beta, void *result, int resultStride);

// A function, and the types of its operands and result.
struct GemmEntry {
  const char *name;
  ElementType operands, result;
};

struct CblasLibrary {
  const char *name;
  const LibraryFile &file;
  std::span<const GemmEntry> functions;
  // Tells the library how many threads it has, and returns its version.
  Result<std::string> (*configure)(const SharedLibrary &library, uint32_t threads);
};

//===--- The libraries -------------------------------------------------------------------------------------------===//

constexpr GemmEntry kOpenBlasFunctions[] = {{"scipy_cblas_sgemm", ElementType::F32, ElementType::F32},
                                            {"scipy_cblas_dgemm", ElementType::F64, ElementType::F64}};
constexpr GemmEntry kMklFunctions[] = {{"cblas_sgemm", ElementType::F32, ElementType::F32},
                                       {"cblas_dgemm", ElementType::F64, ElementType::F64},
                                       {"cblas_gemm_bf16bf16f32", ElementType::BF16, ElementType::F32},
                                       {"cblas_gemm_f16f16f32", ElementType::F16, ElementType::F32}};

Result<std::string> configureOpenBlas(const SharedLibrary &library, uint32_t threads) {
  void (*setThreads)(int);
  const char *(*config)();
  KILN_RETURN_IF_ERROR(library.find("scipy_openblas_set_num_threads", setThreads));
  KILN_RETURN_IF_ERROR(library.find("scipy_openblas_get_config", config));
  setThreads(int(threads));
  // "OpenBLAS 0.3.34 NO_LAPACKE DYNAMIC_ARCH ... SkylakeX MAX_THREADS=64"
  std::string_view text = config();
  text = text.starts_with("OpenBLAS ") ? text.substr(9) : text;
  // The library has started its threads, which are bound to no processor yet.
  KILN_RETURN_IF_ERROR(bindAll(threads));
  return std::string(text);
}

// GNU's OpenMP, whose threads can be told to spin for 50 microseconds, as all others do; Intel's counts milliseconds.
Result<std::string> configureMkl(const SharedLibrary &library, uint32_t threads) {
  constexpr int kInterfaceLp64 = 0, kSequential = 1, kGnuThreads = 3;
  int (*setInterface)(int), (*setThreading)(int);
  void (*setThreads)(int), (*setDynamic)(int);
  KILN_RETURN_IF_ERROR(library.find("MKL_Set_Interface_Layer", setInterface));
  KILN_RETURN_IF_ERROR(library.find("MKL_Set_Threading_Layer", setThreading));
  KILN_RETURN_IF_ERROR(library.find("MKL_Set_Num_Threads", setThreads));
  KILN_RETURN_IF_ERROR(library.find("MKL_Set_Dynamic", setDynamic));
  setInterface(kInterfaceLp64);
  setThreading(threads == 1 ? kSequential : kGnuThreads);
  setDynamic(0); // else it may take fewer threads than it is given
  setThreads(int(threads));
  return mklVersion(library);
}

const CblasLibrary kOpenBlas = {"OpenBLAS", kOpenBlasFile, kOpenBlasFunctions, configureOpenBlas};
const CblasLibrary kMkl = {"MKL", kMklFile, kMklFunctions, configureMkl};

//===--- The provider --------------------------------------------------------------------------------------------===//

class CblasProvider final : public Provider {
public:
  CblasProvider(const CblasLibrary &kind, std::string peersFolder) : kind(kind), peersFolder(std::move(peersFolder)) {}

  Status start(uint32_t threads) override {
    KILN_ASSIGN_OR_RETURN(library, SharedLibrary::open(peersFolder, kind.file));
    KILN_ASSIGN_OR_RETURN(description, kind.configure(library, threads));
    return okStatus();
  }
  std::string note() const override { return "a batch as a loop; split-k problems as plain products"; }
  std::string version() const override { return description; }

  Status load(const LoadRequest &request, TensorMemory &memory) override {
    KILN_ASSIGN_OR_RETURN(shape, matmulShape(request));
    tensors = &memory;
    for (const GemmEntry &entry : kind.functions)
      if (shape.lhs.type == entry.operands && shape.rhs.type == entry.operands && shape.result.type == entry.result)
        return entry.result == ElementType::F64 ? library.find(entry.name, doubleGemm)
                                                : library.find(entry.name, floatGemm);
    return unimplemented("this provider has no function of {} for {}", kind.name, shape.typesText());
  }

  Status call(uint32_t set) override {
    if (doubleGemm)
      multiply(*doubleGemm, set);
    else
      multiply(*floatGemm, set);
    return okStatus();
  }

private:
  template <typename T> void multiply(Gemm<T> &gemm, uint32_t set) {
    // The order is the result's; an operand of the other one is its transpose.
    bool columnMajor = shape.result.columnMajor;
    auto transpose = [&](const MatmulOperand &operand) {
      return operand.columnMajor == columnMajor ? kNoTranspose : kTranspose;
    };
    auto part = [&](auto *matrices, uint64_t index, const MatmulOperand &operand, uint64_t elements) {
      return matrices + index * elements * hal::elementTypeByteSize(operand.type);
    };
    int m = int(shape.m), n = int(shape.n), k = int(shape.k);
    for (uint64_t b = 0; b < shape.batch; ++b)
      gemm(columnMajor ? kColumnMajor : kRowMajor, transpose(shape.lhs), transpose(shape.rhs), m, n, k, T(1),
           part(tensors->input(0, set), b, shape.lhs, shape.m * shape.k), shape.lhs.columnMajor ? m : k,
           part(tensors->input(1, set), b, shape.rhs, shape.k * shape.n), shape.rhs.columnMajor ? k : n, T(0),
           part(tensors->output(0, set), b, shape.result, shape.m * shape.n), columnMajor ? m : n);
  }

  const CblasLibrary &kind;
  const std::string peersFolder;
  SharedLibrary library;
  std::string description;
  // One of them is null.
  Gemm<float> *floatGemm = nullptr;
  Gemm<double> *doubleGemm = nullptr;
  MatmulShape shape;
  TensorMemory *tensors = nullptr;
};

} // namespace

std::unique_ptr<Provider> createOpenBlasProvider(const std::string &peersFolder) {
  return std::make_unique<CblasProvider>(kOpenBlas, peersFolder);
}

std::unique_ptr<Provider> createMklProvider(const std::string &peersFolder) {
  return std::make_unique<CblasProvider>(kMkl, peersFolder);
}

} // namespace kiln::measure
