// What stands behind the opaque handles of kiln.h. Internal to the C API.
#ifndef KILN_RUNTIME_CAPI_HANDLES_H
#define KILN_RUNTIME_CAPI_HANDLES_H

#include <array>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/capi/kiln.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/session.h"

struct kiln_status_t {
  kiln::StatusCode code;
  std::string message;
};

struct kiln_instance_t {
  kiln::hal::DriverRegistry drivers;
};

struct kiln_function_t {
  kiln::vm::Function function;
};

struct kiln_session_t {
  std::unique_ptr<kiln::vm::Session> session;
  std::deque<kiln_function_t> functions; // handles stay where they are
  size_t exportCount = 0;                // the first of `functions`; the others were looked up in other modules
};

namespace kiln::capi {

// NULL for success.
kiln_status_t *toHandle(const Status &status);
// Takes the handle over.
Status fromHandle(kiln_status_t *status);

// Counted objects of the runtime are their own handles.
inline hal::Device *unwrap(kiln_device_t *device) {
  return reinterpret_cast<hal::Device *>(device);
}
inline const hal::Device *unwrap(const kiln_device_t *device) {
  return reinterpret_cast<const hal::Device *>(device);
}
inline vm::Module *unwrap(kiln_module_t *module) {
  return reinterpret_cast<vm::Module *>(module);
}
inline const vm::Module *unwrap(const kiln_module_t *module) {
  return reinterpret_cast<const vm::Module *>(module);
}
inline vm::NativeModule *unwrap(kiln_native_module_t *module) {
  return reinterpret_cast<vm::NativeModule *>(module);
}

// Both leave the count as it is: the first borrows, the second hands over.
inline vm::AnyRef shareRef(kiln_ref_t ref) {
  return vm::AnyRef::share(static_cast<const RefCounted *>(ref.object), static_cast<const vm::RefType *>(ref.type));
}
inline vm::AnyRef adoptRef(kiln_ref_t ref) {
  return vm::AnyRef::adopt(static_cast<const RefCounted *>(ref.object), static_cast<const vm::RefType *>(ref.type));
}
inline kiln_ref_t leakRef(vm::AnyRef ref) {
  const vm::RefType *type = ref.type();
  return {ref.leak(), type};
}
// The same without a count of its own, as long as `ref` lives.
inline kiln_ref_t borrowRef(const vm::AnyRef &ref) {
  return {ref.pointer(), ref.type()};
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

#endif // KILN_RUNTIME_CAPI_HANDLES_H
