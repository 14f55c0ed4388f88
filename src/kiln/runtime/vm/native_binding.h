// Makes native functions of C++ member functions: the signature is deduced from the parameters, and the references of a
// call arrive with their types checked.
//
//   Result<uint64_t> bufferLength(hal::Buffer &buffer);                    // "r_I"
//   Status fenceAwait(hal::Fence *fence);                                  // "r_", the reference may be null
//   Result<AnyRef> fenceJoin(Repeated fences);                             // "r*_r"
//   KILN_RETURN_IF_ERROR(addBound<&HalModule::bufferLength>(module, "buffer.length", "r_I", *this));
#ifndef KILN_RUNTIME_VM_NATIVE_BINDING_H
#define KILN_RUNTIME_VM_NATIVE_BINDING_H

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "kiln/base/status.h"
#include "kiln/runtime/vm/native_module.h"

namespace kiln::vm {

// The arguments of the signature's repeated group, as the last parameter.
struct Repeated {
  std::span<const uint64_t> values;
  std::span<const AnyRef *const> refs;
  uint32_t count; // of repetitions
};

namespace binding {

// Hands out the arguments of a call in order. The first that does not fit sets `status`.
struct Cursor {
  const NativeCall &call;
  uint32_t value = 0;
  uint32_t ref = 0;
  Status status;

  const AnyRef &nextRef() { return *call.refs[ref++]; }
  template <typename T> T *typed(bool nullable) {
    uint32_t argument = value + ref;
    const AnyRef &any = nextRef();
    T *object = any.as<T>();
    if (!object && !(nullable && !any) && status.ok()) [[unlikely]]
      status = invalidArgument("argument {} is {}; a {} is needed", argument, any.typeName(), RefTypeOf<T>::type.name);
    return object;
  }
};

// How a parameter of type T is read: its kind in the signature, and a holder made from the cursor.
template <typename T> struct Parameter;
template <typename T>
  requires(std::is_integral_v<T> && sizeof(T) == 4)
struct Parameter<T> {
  static constexpr char kind = 'i';
  explicit Parameter(Cursor &cursor) : value(static_cast<T>(cursor.call.values[cursor.value++])) {}
  T get() const { return value; }
  T value;
};
template <typename T>
  requires(std::is_integral_v<T> && sizeof(T) == 8)
struct Parameter<T> {
  static constexpr char kind = 'I';
  explicit Parameter(Cursor &cursor) : value(static_cast<T>(cursor.call.values[cursor.value++])) {}
  T get() const { return value; }
  T value;
};
template <> struct Parameter<float> {
  static constexpr char kind = 'f';
  explicit Parameter(Cursor &cursor)
      : value(std::bit_cast<float>(static_cast<uint32_t>(cursor.call.values[cursor.value++]))) {}
  float get() const { return value; }
  float value;
};
template <> struct Parameter<double> {
  static constexpr char kind = 'F';
  explicit Parameter(Cursor &cursor) : value(std::bit_cast<double>(cursor.call.values[cursor.value++])) {}
  double get() const { return value; }
  double value;
};
template <> struct Parameter<const AnyRef &> {
  static constexpr char kind = 'r';
  explicit Parameter(Cursor &cursor) : value(cursor.nextRef()) {}
  const AnyRef &get() const { return value; }
  const AnyRef &value;
};
template <typename T> struct Parameter<T &> {
  static constexpr char kind = 'r';
  explicit Parameter(Cursor &cursor) : value(cursor.typed<T>(false)) {}
  T &get() const { return *value; }
  T *value;
};
template <typename T> struct Parameter<T *> {
  static constexpr char kind = 'r';
  explicit Parameter(Cursor &cursor) : value(cursor.typed<T>(true)) {}
  T *get() const { return value; }
  T *value;
};
template <> struct Parameter<Repeated> {
  static constexpr char kind = '*';
  explicit Parameter(Cursor &cursor)
      : value{{cursor.call.values + cursor.value, cursor.call.valueCount - cursor.value},
              {cursor.call.refs + cursor.ref, cursor.call.refCount - cursor.ref},
              cursor.call.repeatCount} {}
  Repeated get() const { return value; }
  Repeated value;
};

template <typename T> constexpr char resultKind() {
  if constexpr (std::is_same_v<T, float>)
    return 'f';
  else if constexpr (std::is_same_v<T, double>)
    return 'F';
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 8 ? 'I' : 'i';
  else
    return 'r';
}

template <typename T> void storeResult(NativeCall &call, T &&result) {
  using Type = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<Type, float>)
    call.valueResults[0] = std::bit_cast<uint32_t>(result);
  else if constexpr (std::is_same_v<Type, double>)
    call.valueResults[0] = std::bit_cast<uint64_t>(result);
  else if constexpr (std::is_integral_v<Type>)
    call.valueResults[0] = static_cast<std::make_unsigned_t<Type>>(result);
  else
    call.refResults[0] = AnyRef(std::forward<T>(result));
}

template <auto function> struct Bound;
template <typename Self, typename... Arguments, Status (Self::*function)(Arguments...)> struct Bound<function> {
  using Context = Self;
  static std::string arguments() { return {Parameter<Arguments>::kind...}; }
  static std::string results() { return {}; }
  static Status call(void *context, NativeCall &call) {
    Cursor cursor{call, 0, 0, {}};
    std::tuple<Parameter<Arguments>...> parameters{Parameter<Arguments>(cursor)...};
    if (!cursor.status.ok()) [[unlikely]]
      return std::move(cursor.status);
    return std::apply([&](auto &...parameter) { return (static_cast<Self *>(context)->*function)(parameter.get()...); },
                      parameters);
  }
};
template <typename Self, typename T, typename... Arguments, Result<T> (Self::*function)(Arguments...)>
struct Bound<function> {
  using Context = Self;
  static std::string arguments() { return {Parameter<Arguments>::kind...}; }
  static std::string results() { return {resultKind<T>()}; }
  static Status call(void *context, NativeCall &call) {
    Cursor cursor{call, 0, 0, {}};
    std::tuple<Parameter<Arguments>...> parameters{Parameter<Arguments>(cursor)...};
    if (!cursor.status.ok()) [[unlikely]]
      return std::move(cursor.status);
    Result<T> result = std::apply(
        [&](auto &...parameter) { return (static_cast<Self *>(context)->*function)(parameter.get()...); }, parameters);
    if (!result.ok()) [[unlikely]]
      return std::move(result).status();
    storeResult(call, *std::move(result));
    return okStatus();
  }
};

} // namespace binding

// Adds a member function of `self`, which must live as long as the module, under a signature. Fails where the signature
// is not that of the function: a bug.
template <auto function>
Status addBound(NativeModule &module, std::string_view name, std::string_view signature,
                typename binding::Bound<function>::Context &self) {
  using Bound = binding::Bound<function>;
  KILN_ASSIGN_OR_RETURN(schema::Signature parsed, schema::parseSignature(signature, true));
  std::string arguments = parsed.arguments + (parsed.repeated.empty() ? "" : "*");
  if (arguments != Bound::arguments() || parsed.results != Bound::results())
    return internalError("native function '{}.{}' is declared as '{}' but implemented as '{}_{}'", module.name(), name,
                         signature, Bound::arguments(), Bound::results());
  return module.add(name, signature, &Bound::call, &self);
}

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_NATIVE_BINDING_H
