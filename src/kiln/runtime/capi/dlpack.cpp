// Tensors that come from other libraries, and go to them.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include "kiln/runtime/capi/dlpack_abi.h"
#include "kiln/runtime/capi/release_call.h"
#include "kiln/runtime/capi/view_argument.h"
#include "kiln/schema/executable_abi.h"

using namespace kiln;
using namespace kiln::capi;
using hal::ElementType;

namespace {

struct TypePair {
  ElementType element;
  dlpack::TypeCode code;
  uint8_t bits;
};
// Of two element types that are one to DLPack, a tensor becomes the first.
constexpr TypePair kTypes[] = {
    {ElementType::I1, dlpack::kBool, 8},
    {ElementType::I8, dlpack::kInt, 8},
    {ElementType::I16, dlpack::kInt, 16},
    {ElementType::I32, dlpack::kInt, 32},
    {ElementType::I64, dlpack::kInt, 64},
    {ElementType::SI8, dlpack::kInt, 8},
    {ElementType::SI16, dlpack::kInt, 16},
    {ElementType::SI32, dlpack::kInt, 32},
    {ElementType::SI64, dlpack::kInt, 64},
    {ElementType::UI8, dlpack::kUInt, 8},
    {ElementType::UI16, dlpack::kUInt, 16},
    {ElementType::UI32, dlpack::kUInt, 32},
    {ElementType::UI64, dlpack::kUInt, 64},
    {ElementType::F16, dlpack::kFloat, 16},
    {ElementType::BF16, dlpack::kBFloat, 16},
    {ElementType::F32, dlpack::kFloat, 32},
    {ElementType::F64, dlpack::kFloat, 64},
    {ElementType::F8E4M3FN, dlpack::kFloat8E4M3FN, 8},
    {ElementType::F8E5M2, dlpack::kFloat8E5M2, 8},
    {ElementType::F8E4M3, dlpack::kFloat8E4M3, 8},
    {ElementType::F8E3M4, dlpack::kFloat8E3M4, 8},
    {ElementType::F8E4M3FNUZ, dlpack::kFloat8E4M3FNUZ, 8},
    {ElementType::F8E5M2FNUZ, dlpack::kFloat8E5M2FNUZ, 8},
    {ElementType::F8E4M3B11FNUZ, dlpack::kFloat8E4M3B11FNUZ, 8},
    {ElementType::F8E8M0FNU, dlpack::kFloat8E8M0FNU, 8},
};

// ---- To other libraries ----

// What stands behind a tensor that was given away. The deleter destroys it.
template <typename Managed> struct Export {
  Managed managed = {};
  Ref<hal::BufferView> view;
  int64_t shape[hal::BufferView::kMaxRank];
  int64_t strides[hal::BufferView::kMaxRank];

  static void destroy(Managed *self) { delete static_cast<Export *>(self->context); }
};

template <typename Managed> Status exportView(kiln_ref_t ref, Managed **out) {
  KILN_RETURN_IF_ERROR(needed(out, "out_tensor"));
  KILN_ASSIGN_OR_RETURN(Ref<hal::BufferView> view, viewArgument(ref));
  hal::Buffer *buffer = view->buffer();
  if (!buffer->hostPointer() && buffer->byteLength())
    return unimplemented("the host cannot address the memory of this {} in place; copy it with kiln_buffer_view_read",
                         view->typeText());
  bool readOnly = !hal::allows(buffer->access(), hal::MemoryAccess::Write);
  auto type = std::ranges::find(kTypes, view->elementType(), &TypePair::element);
  if (type == std::end(kTypes))
    return unimplemented("DLPack has no type for a {}", view->typeText());
  auto made = std::make_unique<Export<Managed>>();
  uint64_t stride = 1;
  for (uint32_t i = view->rank(); i-- > 0;) {
    if (view->dimension(i) > INT64_MAX)
      return outOfRange("dimension {} of a {} is more than DLPack can say", i, view->typeText());
    made->shape[i] = static_cast<int64_t>(view->dimension(i));
    made->strides[i] = static_cast<int64_t>(stride);
    stride *= view->dimension(i); // overflows only where there is no element
  }
  Managed &managed = made->managed;
  managed.context = made.get();
  managed.deleter = Export<Managed>::destroy;
  managed.tensor.data = buffer->byteLength() ? buffer->hostPointer() : nullptr;
  managed.tensor.deviceType = dlpack::kCpu;
  managed.tensor.rank = static_cast<int32_t>(view->rank());
  managed.tensor.type = {type->code, type->bits, 1};
  managed.tensor.shape = made->shape;
  managed.tensor.strides = made->strides;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    managed.majorVersion = dlpack::kMajorVersion;
    managed.minorVersion = dlpack::kMinorVersion;
    managed.flags = readOnly ? uint64_t(dlpack::kReadOnly) : 0;
  } else if (readOnly) {
    return permissionDenied(
        "the memory of this {} is read-only, which an unversioned tensor cannot say: export it as a "
        "versioned one, or copy it with kiln_buffer_view_read",
        view->typeText());
  }
  made->view = std::move(view);
  *out = &made.release()->managed;
  return okStatus();
}

// ---- From other libraries ----

template <typename Managed> void deleteTensor(void *context) {
  auto *managed = static_cast<Managed *>(context);
  managed->deleter(managed);
}

Result<ElementType> importedType(const dlpack::DataType &type, kiln_element_type_t asked) {
  if (type.lanes != 1)
    return unimplemented("elements of the tensor are vectors of {}; only scalars are possible", type.lanes);
  auto known = std::ranges::find_if(
      kTypes, [&](const TypePair &pair) { return pair.code == type.code && pair.bits == type.bits; });
  if (known == std::end(kTypes))
    return unimplemented("the tensor's type, code {} of DLPack with {} bits, is not supported", type.code, type.bits);
  if (asked == 0)
    return known->element;
  std::optional<ElementType> element = hal::elementTypeFromNumber(static_cast<uint32_t>(asked));
  if (!element)
    return invalidArgument("there is no element type {}", static_cast<int>(asked));
  if (hal::isPacked(*element))
    return unimplemented("elements of the tensor cannot be understood as {}, of which several share a byte: create the "
                         "view with kiln_buffer_view_create or kiln_buffer_view_wrap",
                         hal::elementTypeName(*element));
  if (hal::elementTypeBits(*element) != type.bits)
    return invalidArgument("elements of the tensor are {}, which cannot be understood as {}: their sizes differ",
                           hal::elementTypeName(known->element), hal::elementTypeName(*element));
  return *element;
}

struct Layout {
  std::span<const int64_t> shape;
  std::span<const int64_t> strides; // empty: dense
  uint64_t elementBytes;
};

bool isDense(const Layout &layout) {
  int64_t expected = 1;
  for (size_t i = layout.strides.size(); i-- > 0; expected *= layout.shape[i])
    if (layout.shape[i] != 1 && layout.strides[i] != expected)
      return false;
  return true;
}

// Copies the elements, row by row, from dimension `outer` on. Returns where the next one goes.
std::byte *gather(std::byte *target, uintptr_t source, const Layout &layout, size_t outer = 0) {
  size_t rank = layout.shape.size();
  bool isRow = outer + 1 == rank && layout.strides[outer] == 1;
  if (outer == rank || isRow) {
    size_t bytes = layout.elementBytes * static_cast<uint64_t>(isRow ? layout.shape[outer] : 1);
    std::memcpy(target, reinterpret_cast<const void *>(source), bytes);
    return target + bytes;
  }
  uintptr_t step = static_cast<uintptr_t>(layout.strides[outer]) * layout.elementBytes; // may go backwards
  for (int64_t i = 0; i < layout.shape[outer]; ++i, source += step)
    target = gather(target, source, layout, outer + 1);
  return target;
}

// A dense copy of the elements, to be freed.
Result<void *> gathered(uintptr_t source, const Layout &layout, uint64_t bytes) {
  uint64_t rounded = bytes <= PTRDIFF_MAX ? (bytes + KILN_BINDING_ALIGNMENT - 1) / KILN_BINDING_ALIGNMENT : 0;
  void *copy = std::aligned_alloc(KILN_BINDING_ALIGNMENT, rounded * KILN_BINDING_ALIGNMENT);
  if (!copy || !rounded) {
    std::free(copy);
    return resourceExhausted("there is no memory for a copy of the tensor, which takes {} bytes", bytes);
  }
  gather(static_cast<std::byte *>(copy), source, layout);
  return copy;
}

Status importTensor(kiln_device_t *deviceHandle, const dlpack::Tensor &tensor, bool readOnly,
                    kiln_element_type_t askedType, std::function<void()> release, kiln_ref_t *out) {
  KILN_RETURN_IF_ERROR(needed(out, "out_view"));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Device> device, argument(deviceHandle, "device"));
  if (tensor.deviceType != dlpack::kCpu && tensor.deviceType != dlpack::kCudaHost &&
      tensor.deviceType != dlpack::kRocmHost)
    return unimplemented("the tensor is in memory of device type {} of DLPack; only host memory is supported",
                         tensor.deviceType);
  KILN_ASSIGN_OR_RETURN(ElementType type, importedType(tensor.type, askedType));
  if (tensor.rank < 0 || tensor.rank > static_cast<int32_t>(hal::BufferView::kMaxRank))
    return invalidArgument("the tensor has {} dimensions; up to {} are possible", tensor.rank,
                           hal::BufferView::kMaxRank);
  auto rank = static_cast<size_t>(tensor.rank);
  KILN_RETURN_IF_ERROR(neededArray(tensor.shape, rank, "shape of the tensor"));
  std::vector<uint64_t> shape;
  for (int64_t extent : std::span(tensor.shape, rank)) {
    if (extent < 0)
      return invalidArgument("a dimension of the tensor is {}", extent);
    shape.push_back(static_cast<uint64_t>(extent));
  }
  KILN_ASSIGN_OR_RETURN(uint64_t bytes, hal::shapeByteLength(type, shape));
  if (!tensor.data && bytes != 0)
    return invalidArgument("the tensor's `data` is NULL; it has {} bytes", bytes);
  Layout layout{{tensor.shape, rank}, {tensor.strides, tensor.strides ? rank : 0}, hal::elementTypeByteSize(type)};
  uintptr_t start = reinterpret_cast<uintptr_t>(tensor.data) + (bytes ? tensor.byteOffset : 0);
  hal::HostMemory memory;
  memory.data = reinterpret_cast<void *>(start);
  memory.length = bytes;
  memory.access = readOnly ? hal::MemoryAccess::Read : hal::MemoryAccess::ReadWrite;
  if (bytes && !isDense(layout)) {
    KILN_ASSIGN_OR_RETURN(memory.data, gathered(start, layout, bytes));
    release = releaseOnce(std::free, memory.data);
  }
  memory.release = std::move(release);
  KILN_RETURN_IF_ERROR(checkTruthValues(type, memory.data, bytes));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, device->allocator().importHost(std::move(memory)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::BufferView> view, hal::BufferView::create(std::move(buffer), type, shape));
  *out = giveRef(vm::AnyRef(std::move(view)));
  return okStatus();
}

template <typename Managed>
Status importManaged(kiln_device_t *device, Managed *managed, kiln_element_type_t type, kiln_ref_t *out) {
  KILN_RETURN_IF_ERROR(needed(managed, "tensor"));
  std::function<void()> release = releaseOnce(managed->deleter ? deleteTensor<Managed> : nullptr, managed);
  bool readOnly = false;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    if (managed->majorVersion != dlpack::kMajorVersion)
      return unimplemented("the tensor is of version {} of DLPack; this library knows version {}",
                           managed->majorVersion, dlpack::kMajorVersion);
    readOnly = managed->flags & dlpack::kReadOnly;
  }
  return importTensor(device, managed->tensor, readOnly, type, std::move(release), out);
}

} // namespace

kiln_status_t *kiln_buffer_view_to_dlpack(kiln_ref_t view, struct DLManagedTensorVersioned **out_tensor) {
  return guarded([&] { return exportView(view, out_tensor); });
}
kiln_status_t *kiln_buffer_view_to_dlpack_unversioned(kiln_ref_t view, struct DLManagedTensor **out_tensor) {
  return guarded([&] { return exportView(view, out_tensor); });
}
kiln_status_t *kiln_buffer_view_from_dlpack(kiln_device_t *device, struct DLManagedTensorVersioned *tensor,
                                            kiln_element_type_t type, kiln_ref_t *out_view) {
  return guarded([&] { return importManaged(device, tensor, type, out_view); });
}
kiln_status_t *kiln_buffer_view_from_dlpack_unversioned(kiln_device_t *device, struct DLManagedTensor *tensor,
                                                        kiln_element_type_t type, kiln_ref_t *out_view) {
  return guarded([&] { return importManaged(device, tensor, type, out_view); });
}
