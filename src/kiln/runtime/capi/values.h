// Values of calls between a program and the VM. Internal to the C API.
#ifndef KILN_RUNTIME_CAPI_VALUES_H
#define KILN_RUNTIME_CAPI_VALUES_H

#include <array>
#include <bit>
#include <span>
#include <vector>

#include "kiln/runtime/capi/handles.h"

namespace kiln::capi {

// The object that a reference is to; null for a null reference and for one that is not live.
inline vm::AnyRef findRef(kiln_ref_t ref) {
  return HandleTable::find(HandleKind::Reference, ref.object);
}
// A reference of the program's own; null for a null one.
inline kiln_ref_t giveRef(vm::AnyRef ref) {
  if (!ref)
    return {};
  const vm::RefType *type = ref.type();
  void *handle = HandleTable::add(HandleKind::Reference, ref.pointer(), type);
  (void)ref.leak();
  return {handle, type};
}
// The object of a reference, which may be null.
inline Result<vm::AnyRef> refArgument(kiln_ref_t ref) {
  vm::AnyRef object = findRef(ref);
  if (!object && ref.object)
    return invalidArgument("the reference is {}", describeBadHandle(ref.object, "kiln_ref_t"));
  return object;
}

// A scalar as it stands in a register.
inline uint64_t scalarBits(const kiln_value_t &value) {
  switch (value.kind) {
  case KILN_KIND_I32: return static_cast<uint32_t>(value.as.i32);
  case KILN_KIND_I64: return static_cast<uint64_t>(value.as.i64);
  case KILN_KIND_F32: return std::bit_cast<uint32_t>(value.as.f32);
  case KILN_KIND_F64: return std::bit_cast<uint64_t>(value.as.f64);
  default: return 0;
  }
}
inline kiln_value_t makeScalar(kiln_kind_t kind, uint64_t bits) {
  kiln_value_t value = {};
  value.kind = kind;
  switch (kind) {
  case KILN_KIND_I32: value.as.i32 = static_cast<int32_t>(bits); break;
  case KILN_KIND_I64: value.as.i64 = static_cast<int64_t>(bits); break;
  case KILN_KIND_F32: value.as.f32 = std::bit_cast<float>(static_cast<uint32_t>(bits)); break;
  case KILN_KIND_F64: value.as.f64 = std::bit_cast<double>(bits); break;
  default: break;
  }
  return value;
}

// As many items as a call has arguments or results: on the stack up to a usual number.
template <typename T> class CallValues {
public:
  explicit CallValues(size_t count) : items(few.data(), count) {
    if (count > few.size()) {
      many.resize(count);
      items = many;
    }
  }
  CallValues(const CallValues &) = delete;
  CallValues &operator=(const CallValues &) = delete;

  T &operator[](size_t i) { return items[i]; }
  std::span<T> span() { return items; }

private:
  std::array<T, 8> few{};
  std::vector<T> many;
  std::span<T> items;
};

} // namespace kiln::capi

#endif // KILN_RUNTIME_CAPI_VALUES_H
