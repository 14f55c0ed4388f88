// The structs in which libraries hand tensors to each other, as version 1 of DLPack lays them out in memory. Names of
// the two managed tensors are those of DLPack's own header, which programs include; this one is for the library.
#ifndef KILN_RUNTIME_CAPI_DLPACK_ABI_H
#define KILN_RUNTIME_CAPI_DLPACK_ABI_H

#include <cstdint>

namespace kiln::capi::dlpack {

constexpr uint32_t kMajorVersion = 1, kMinorVersion = 1;

enum DeviceType : int32_t { kCpu = 1, kCudaHost = 3, kRocmHost = 11 }; // the ones that are host memory

enum TypeCode : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBFloat = 4,
  kBool = 6,
  kFloat8E3M4 = 7,
  kFloat8E4M3 = 8,
  kFloat8E4M3B11FNUZ = 9,
  kFloat8E4M3FN = 10,
  kFloat8E4M3FNUZ = 11,
  kFloat8E5M2 = 12,
  kFloat8E5M2FNUZ = 13,
  kFloat8E8M0FNU = 14,
};

struct DataType {
  uint8_t code; // a TypeCode, or one that is not known here
  uint8_t bits;
  uint16_t lanes; // of a vector type; 1 for all others
};

struct Tensor {
  void *data;
  int32_t deviceType;
  int32_t deviceId;
  int32_t rank;
  DataType type;
  int64_t *shape;
  int64_t *strides; // in elements; null, from older libraries, where the tensor is dense and row-major
  uint64_t byteOffset;
};

enum Flags : uint64_t { kReadOnly = 1 };

} // namespace kiln::capi::dlpack

struct DLManagedTensor {
  kiln::capi::dlpack::Tensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *self); // may be null
};

struct DLManagedTensorVersioned {
  uint32_t majorVersion, minorVersion;
  void *context;
  void (*deleter)(DLManagedTensorVersioned *self); // may be null
  uint64_t flags;                                  // up to here all major versions are alike
  kiln::capi::dlpack::Tensor tensor;
};

static_assert(sizeof(kiln::capi::dlpack::Tensor) == 48 && sizeof(DLManagedTensor) == 64 &&
                  sizeof(DLManagedTensorVersioned) == 80,
              "the layout is a contract with other libraries");

#endif // KILN_RUNTIME_CAPI_DLPACK_ABI_H
