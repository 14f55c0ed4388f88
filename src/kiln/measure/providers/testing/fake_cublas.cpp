#include "kiln/measure/providers/testing/fake_cublas.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string>

#include "fmt/format.h"
#include "kiln/measure/providers/testing/fake_kernels.h"

namespace kiln::measure::testing {

namespace {

constexpr int kInvalidValue = 7, kExecutionFailed = 13;
constexpr uint64_t kRefused = 3, kSlow = 5;

FakeKernels kernels;
uint64_t algorithm = 0;

//===--- The kernel ----------------------------------------------------------------------------------------------===//

const ElementText &typeText(int type) {
  static const std::map<int, io::ElementType> kTypes = {
      {cublas::kF16, io::ElementType::F16}, {cublas::kBF16, io::ElementType::BF16},
      {cublas::kF32, io::ElementType::F32}, {cublas::kF64, io::ElementType::F64},
      {cublas::kI8, io::ElementType::I8},   {cublas::kI32, io::ElementType::I32}};
  return elementText(kTypes.at(type));
}

// c[i + j * strideC] = sum over p of a[i * rowA + p * stepA] * b[p * stepB + j * columnB], then a bias for each i, and
// relu.
std::string kernelText(int operands, int result, bool tf32, bool cuts) {
  const ElementText &in = typeText(operands), &out = typeText(result);
  const std::string type = in.accumulator;
  std::string multiply = (type == "s32" ? "mad.lo.s32" : "fma.rn." + type) + " %sum, %x, %y, %sum;";
  if (cuts && type == "f32")
    multiply = "cvt.u32.u64 %t, %k; and.b32 %t, %t, 3; setp.eq.u32 %p, %t, 0; @%p fma.rz.f32 %sum, %x, %y, %sum; "
               "@!%p fma.rn.f32 %sum, %x, %y, %sum;";
  const char *names[] = {"a",      "b",      "c",      "rowA", "stepA", "stepB", "columnB", "strideC",
                         "batchA", "batchB", "batchC", "m",    "k",     "bias",  "relu"};
  std::string text = kernelHead("gemm", names);
  text += fmt::format(".reg .{} %x, %y, %sum;\n.reg .u64 %j, %z, %q, %pa, %pb, %pc, %da, %db;\n", type);
  text += "setp.ge.u64 %p, %i, %m;\n@%p bra done;\n"
          "mov.u32 %t, %ctaid.y; cvt.u64.u32 %j, %t;\nmov.u32 %t, %ctaid.z; cvt.u64.u32 %z, %t;\n";
  text += fmt::format("mul.lo.u64 %q, %i, %rowA; mad.lo.u64 %q, %z, %batchA, %q; mad.lo.u64 %pa, %q, {0}, %a;\n"
                      "mul.lo.u64 %q, %j, %columnB; mad.lo.u64 %q, %z, %batchB, %q; mad.lo.u64 %pb, %q, {0}, %b;\n"
                      "mad.lo.u64 %q, %j, %strideC, %i; mad.lo.u64 %q, %z, %batchC, %q; mad.lo.u64 %pc, %q, {1}, %c;\n"
                      "mul.lo.u64 %da, %stepA, {0}; mul.lo.u64 %db, %stepB, {0};\n",
                      in.bytes, out.bytes);
  text += fmt::format("mov.{} %sum, {};\n", type,
                      type == "s32"   ? "0"
                      : type == "f64" ? "0d0000000000000000"
                                      : "0f00000000");
  text += fmt::format("next:\nsetp.eq.u64 %p, %k, 0;\n@%p bra summed;\n{}\n{}\n{}\n{}\n"
                      "add.u64 %pa, %pa, %da; add.u64 %pb, %pb, %db; sub.u64 %k, %k, 1;\nbra next;\nsummed:\n",
                      in.load("%x", "%pa"), in.load("%y", "%pb"), tf32 ? narrowToTF32("%x", "%y") : "", multiply);
  if (type == "f32")
    text += fmt::format("setp.eq.u64 %p, %bias, 0;\n@%p bra store;\nmad.lo.u64 %pa, %i, {}, %bias;\n{}\n"
                        "add.rn.f32 %sum, %sum, %x;\nsetp.eq.u64 %p, %relu, 0;\n@%p bra store;\n"
                        "mov.f32 %y, 0f00000000; max.f32 %sum, %sum, %y;\nstore:\n",
                        out.bytes, out.load("%x", "%pa"));
  return text + out.store("%sum", "%pc") + "\ndone:\nret;\n}\n";
}

struct Product {
  int transposeA = 0, transposeB = 0, typeA = 0, typeB = 0, typeC = 0, computeType = 0;
  uint64_t m = 0, n = 0, k = 0, strideA = 0, strideB = 0, strideC = 0, batchA = 0, batchB = 0, batchC = 0, batch = 1;
  const void *a = nullptr, *b = nullptr, *bias = nullptr;
  void *c = nullptr;
  bool relu = false;
};

int launch(const Product &product, hal::CUstream stream) {
  const bool isA = product.transposeA == cublas::kTranspose, isB = product.transposeB == cublas::kTranspose;
  if (product.strideA < (isA ? product.k : product.m) || product.strideB < (isB ? product.n : product.k) ||
      product.strideC < product.m || product.typeA != product.typeB)
    return kInvalidValue;
  uint64_t values[] = {uint64_t(product.a),
                       uint64_t(product.b),
                       uint64_t(product.c),
                       isA ? product.strideA : 1,
                       isA ? 1 : product.strideA,
                       isB ? product.strideB : 1,
                       isB ? 1 : product.strideB,
                       product.strideC,
                       product.batchA,
                       product.batchB,
                       product.batchC,
                       product.m,
                       product.k,
                       uint64_t(product.bias),
                       product.relu};
  const std::string text =
      kernelText(product.typeA, product.typeC, product.computeType == cublas::kComputeTf32, cutsSums);
  const bool launched = kernels.launch(
      text, "gemm", {unsigned(product.m + 31) / 32, unsigned(product.n), unsigned(product.batch)}, values, stream);
  return launched ? cublas::kSuccess : kExecutionFailed;
}

//===--- cuBLAS --------------------------------------------------------------------------------------------------===//

struct Handle {
  hal::CUstream stream = nullptr;
};
Handle &of(CublasHandle handle) {
  return *reinterpret_cast<Handle *>(handle);
}

int cublasCreate_v2(CublasHandle *handle) {
  *handle = reinterpret_cast<CublasHandle>(new Handle());
  return cublas::kSuccess;
}
int cublasDestroy_v2(CublasHandle handle) {
  delete &of(handle);
  kernels.unload();
  return cublas::kSuccess;
}
int cublasGetVersion_v2(CublasHandle, int *version) {
  *version = 120804;
  return cublas::kSuccess;
}
int cublasSetStream_v2(CublasHandle handle, hal::CUstream stream) {
  of(handle).stream = stream;
  return cublas::kSuccess;
}
int cublasSetWorkspace_v2(CublasHandle, void *, size_t) {
  return cublas::kSuccess;
}
int cublasGemmStridedBatchedEx(CublasHandle handle, int transposeA, int transposeB, int m, int n, int k, const void *,
                               const void *a, int typeA, int strideA, long long batchStrideA, const void *b, int typeB,
                               int strideB, long long batchStrideB, const void *, void *c, int typeC, int strideC,
                               long long batchStrideC, int batchCount, int computeType, int) {
  Product product;
  product.transposeA = transposeA, product.transposeB = transposeB;
  product.typeA = typeA, product.typeB = typeB, product.typeC = typeC, product.computeType = computeType;
  product.m = uint64_t(m), product.n = uint64_t(n), product.k = uint64_t(k), product.batch = uint64_t(batchCount);
  product.strideA = uint64_t(strideA), product.strideB = uint64_t(strideB), product.strideC = uint64_t(strideC);
  product.batchA = uint64_t(batchStrideA), product.batchB = uint64_t(batchStrideB);
  product.batchC = uint64_t(batchStrideC);
  product.a = a, product.b = b, product.c = c;
  return launch(product, of(handle).stream);
}
int cublasGemmEx(CublasHandle handle, int transposeA, int transposeB, int m, int n, int k, const void *alpha,
                 const void *a, int typeA, int strideA, const void *b, int typeB, int strideB, const void *beta,
                 void *c, int typeC, int strideC, int computeType, int algorithm) {
  return cublasGemmStridedBatchedEx(handle, transposeA, transposeB, m, n, k, alpha, a, typeA, strideA, 0, b, typeB,
                                    strideB, 0, beta, c, typeC, strideC, 0, 1, computeType, algorithm);
}

//===--- cuBLASLt ------------------------------------------------------------------------------------------------===//

// What attributes say, by their numbers.
struct Description {
  int computeType = 0;
  std::map<int, uint64_t> attributes;
};
struct Layout {
  int type = 0;
  uint64_t rows = 0, columns = 0, stride = 0;
  std::map<int, uint64_t> attributes;
};
Description &of(CublasLtMatmul description) {
  return *reinterpret_cast<Description *>(description);
}
Layout &of(CublasLtLayout layout) {
  return *reinterpret_cast<Layout *>(layout);
}
int setAttribute(std::map<int, uint64_t> &attributes, int attribute, const void *value, size_t bytes) {
  if (bytes > sizeof(uint64_t))
    return kInvalidValue;
  uint64_t &kept = attributes[attribute] = 0;
  std::memcpy(&kept, value, bytes);
  return cublas::kSuccess;
}

int cublasLtCreate(CublasLtHandle *handle) {
  *handle = reinterpret_cast<CublasLtHandle>(new Handle());
  return cublas::kSuccess;
}
int cublasLtDestroy(CublasLtHandle handle) {
  delete reinterpret_cast<Handle *>(handle);
  kernels.unload();
  return cublas::kSuccess;
}
size_t cublasLtGetVersion() {
  return 120804;
}
int cublasLtMatmulDescCreate(CublasLtMatmul *description, int computeType, int) {
  *description = reinterpret_cast<CublasLtMatmul>(new Description{computeType, {}});
  return cublas::kSuccess;
}
int cublasLtMatmulDescDestroy(CublasLtMatmul description) {
  delete &of(description);
  return cublas::kSuccess;
}
int cublasLtMatmulDescSetAttribute(CublasLtMatmul description, int attribute, const void *value, size_t bytes) {
  return setAttribute(of(description).attributes, attribute, value, bytes);
}
int cublasLtMatrixLayoutCreate(CublasLtLayout *layout, int type, uint64_t rows, uint64_t columns, int64_t stride) {
  *layout = reinterpret_cast<CublasLtLayout>(new Layout{type, rows, columns, uint64_t(stride), {}});
  return cublas::kSuccess;
}
int cublasLtMatrixLayoutDestroy(CublasLtLayout layout) {
  delete &of(layout);
  return cublas::kSuccess;
}
int cublasLtMatrixLayoutSetAttribute(CublasLtLayout layout, int attribute, const void *value, size_t bytes) {
  return setAttribute(of(layout).attributes, attribute, value, bytes);
}
int cublasLtMatmulPreferenceCreate(CublasLtPreference *preference) {
  *preference = nullptr;
  return cublas::kSuccess;
}
int cublasLtMatmulPreferenceDestroy(CublasLtPreference) {
  return cublas::kSuccess;
}
int cublasLtMatmulPreferenceSetAttribute(CublasLtPreference, int, const void *, size_t) {
  return cublas::kSuccess;
}
int cublasLtMatmulAlgoGetHeuristic(CublasLtHandle, CublasLtMatmul, CublasLtLayout, CublasLtLayout, CublasLtLayout,
                                   CublasLtLayout, CublasLtPreference, int wanted, CublasLtHeuristic *results,
                                   int *found) {
  const uint64_t proposals[] = {kRefused, kSlow, kGoodAlgorithm};
  *found = std::min(wanted, int(std::size(proposals)));
  for (int i = 0; i < *found; ++i)
    results[i].algorithm[0] = proposals[i];
  return cublas::kSuccess;
}
int cublasLtMatmul(CublasLtHandle, CublasLtMatmul description, const void *, const void *a, CublasLtLayout layoutA,
                   const void *b, CublasLtLayout layoutB, const void *, const void *, CublasLtLayout, void *d,
                   CublasLtLayout layoutD, const uint64_t *chosen, void *, size_t, hal::CUstream stream) {
  algorithm = chosen[0];
  if (algorithm == kRefused)
    return cublas::kNotSupported;
  std::map<int, uint64_t> &said = of(description).attributes;
  Product product;
  product.transposeA = int(said[cublas::kTransposeA]), product.transposeB = int(said[cublas::kTransposeB]);
  product.typeA = of(layoutA).type, product.typeB = of(layoutB).type, product.typeC = of(layoutD).type;
  product.computeType = of(description).computeType;
  product.m = of(layoutD).rows, product.n = of(layoutD).columns;
  product.k = product.transposeA == cublas::kTranspose ? of(layoutA).rows : of(layoutA).columns;
  product.strideA = of(layoutA).stride, product.strideB = of(layoutB).stride, product.strideC = of(layoutD).stride;
  product.batchA = of(layoutA).attributes[cublas::kBatchStride];
  product.batchB = of(layoutB).attributes[cublas::kBatchStride];
  product.batchC = of(layoutD).attributes[cublas::kBatchStride];
  product.batch = std::max<uint64_t>(of(layoutD).attributes[cublas::kBatchCount], 1);
  product.a = a, product.b = b, product.c = d;
  if (const uint64_t epilogue = said[cublas::kEpilogue]) {
    if (int(said[cublas::kBiasType]) != product.typeC || epilogue == uint64_t(cublas::kGeluBias))
      return cublas::kNotSupported;
    product.bias = reinterpret_cast<const void *>(said[cublas::kBiasPointer]);
    product.relu = epilogue == uint64_t(cublas::kReluBias);
  }
  for (uint64_t i = algorithm == kSlow ? 0 : 1; i < 2; ++i)
    if (int status = launch(product, stream))
      return status;
  return cublas::kSuccess;
}

} // namespace

Result<CublasLibrary> fakeCublas(const hal::CudaLibrary &cuda) {
  kernels.use(cuda);
  CublasLibrary library;
#define KILN_CUBLAS_FUNCTION(name, parameters) library.name = &testing::name;
#include "kiln/measure/providers/cublas/cublas_functions.def"
#undef KILN_CUBLAS_FUNCTION
  return library;
}

Result<CublasLtLibrary> fakeCublasLt(const hal::CudaLibrary &cuda) {
  kernels.use(cuda);
  CublasLtLibrary library;
#define KILN_CUBLAS_FUNCTION(name, parameters) library.name = &testing::name;
#include "kiln/measure/providers/cublas/cublaslt_functions.def"
#undef KILN_CUBLAS_FUNCTION
  library.cublasLtGetVersion = &testing::cublasLtGetVersion;
  return library;
}

uint64_t lastAlgorithm() {
  return algorithm;
}

} // namespace kiln::measure::testing
