// What is passed to a function of a module and comes back from it.
#ifndef KILN_RUNTIME_VM_VALUE_H
#define KILN_RUNTIME_VM_VALUE_H

#include <bit>
#include <cstdint>

#include "kiln/runtime/vm/any_ref.h"
#include "kiln/schema/signature.h"

namespace kiln::vm {

using schema::ValueKind;

// A scalar or a reference. The accessors of scalars need a value of their kind; `as` gives null for anything else.
class Value {
public:
  // A null reference.
  Value() = default;
  Value(AnyRef ref) : ref(std::move(ref)) {}
  template <typename T> Value(Ref<T> ref) : ref(std::move(ref)) {}
  static Value i32(int32_t value) { return Value(ValueKind::I32, static_cast<uint32_t>(value)); }
  static Value i64(int64_t value) { return Value(ValueKind::I64, static_cast<uint64_t>(value)); }
  static Value f32(float value) { return Value(ValueKind::F32, std::bit_cast<uint32_t>(value)); }
  static Value f64(double value) { return Value(ValueKind::F64, std::bit_cast<uint64_t>(value)); }
  // A scalar from the bits of a register.
  static Value scalar(ValueKind kind, uint64_t bits) { return Value(kind, bits); }

  ValueKind kind() const { return valueKind; }
  bool isRef() const { return valueKind == ValueKind::Ref; }

  int32_t asI32() const { return static_cast<int32_t>(valueBits); }
  int64_t asI64() const { return static_cast<int64_t>(valueBits); }
  float asF32() const { return std::bit_cast<float>(static_cast<uint32_t>(valueBits)); }
  double asF64() const { return std::bit_cast<double>(valueBits); }
  uint64_t bits() const { return valueBits; }

  const AnyRef &anyRef() const { return ref; }
  // Moves the reference out.
  AnyRef takeRef() { return std::move(ref); }
  // The object, borrowed; null where this is no reference, a null one, or one of another type.
  template <typename T> T *as() const { return ref.as<T>(); }

private:
  Value(ValueKind kind, uint64_t bits) : valueKind(kind), valueBits(bits) {}

  ValueKind valueKind = ValueKind::Ref;
  uint64_t valueBits = 0;
  AnyRef ref;
};

// "i32", "i64", "f32", "f64", "ref"
const char *valueKindName(ValueKind kind);

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_VALUE_H
