// A reference to an object of any type that programs can hold: the VM's reference registers, globals and values. The
// type travels with the reference and is checked wherever a native function or a caller uses it.
#ifndef KILN_RUNTIME_VM_ANY_REF_H
#define KILN_RUNTIME_VM_ANY_REF_H

#include <utility>

#include "kiln/base/ref.h"

namespace kiln::vm {

// The identity of a type is the address of its RefType, which lives as long as the program.
struct RefType {
  const char *name; // "hal.buffer_view", for messages
};

// Specialised for each C++ type that programs can hold, with a member `static constexpr RefType type{"..."}`;
// hal_types.h has those of the HAL.
template <typename T> struct RefTypeOf;

// Two words. Copies share the object.
class AnyRef {
public:
  AnyRef() = default;
  AnyRef(const AnyRef &other) : object(other.object), refType(other.refType) {
    if (object)
      object->retain();
  }
  AnyRef(AnyRef &&other) noexcept : object(std::exchange(other.object, nullptr)), refType(other.refType) {}
  AnyRef &operator=(const AnyRef &other) {
    AnyRef copy(other);
    swap(copy);
    return *this;
  }
  AnyRef &operator=(AnyRef &&other) noexcept {
    if (this != &other) {
      reset();
      object = std::exchange(other.object, nullptr);
      refType = other.refType;
    }
    return *this;
  }
  ~AnyRef() { reset(); }

  template <typename T> AnyRef(Ref<T> ref) : refType(&RefTypeOf<std::remove_const_t<T>>::type) { object = ref.leak(); }
  // Adds a reference to an object of a type that only the caller knows.
  static AnyRef share(const RefCounted *object, const RefType *type) {
    AnyRef ref;
    if (object)
      object->retain();
    ref.object = object;
    ref.refType = type;
    return ref;
  }

  // The same, for a reference that the caller owns and gives away.
  static AnyRef adopt(const RefCounted *object, const RefType *type) {
    AnyRef ref;
    ref.object = object;
    ref.refType = type;
    return ref;
  }

  explicit operator bool() const { return object != nullptr; }
  // The object, borrowed; null where the reference is null or of another type.
  template <typename T> T *as() const {
    return object && refType == &RefTypeOf<T>::type ? static_cast<T *>(const_cast<RefCounted *>(object)) : nullptr;
  }
  // The same as a reference of its own.
  template <typename T> Ref<T> get() const { return Ref<T>::share(as<T>()); }
  const RefCounted *pointer() const { return object; }
  // Null for a null reference.
  const RefType *type() const { return object ? refType : nullptr; }
  const char *typeName() const { return object ? refType->name : "null"; }

  // Gives up the reference without dropping it; the caller owns it now.
  [[nodiscard]] const RefCounted *leak() { return std::exchange(object, nullptr); }
  void reset() {
    if (object)
      std::exchange(object, nullptr)->release();
  }
  void swap(AnyRef &other) noexcept {
    std::swap(object, other.object);
    std::swap(refType, other.refType);
  }

private:
  const RefCounted *object = nullptr;
  const RefType *refType = nullptr;
};

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_ANY_REF_H
