// Functions that a module imports and a program provides: the runtime's own (`hal`) or an application's.
#ifndef KILN_RUNTIME_VM_NATIVE_MODULE_H
#define KILN_RUNTIME_VM_NATIVE_MODULE_H

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/vm/any_ref.h"
#include "kiln/schema/signature.h"
#include "kiln/schema/version.h"

namespace kiln::vm {

// One call of a native function. Values and references are numbered apart: for "rIrI_r", refs[1] is the third argument.
// All is valid during the call only; a function that keeps an object copies its AnyRef.
struct NativeCall {
  const uint64_t *values;    // i and f in the low 32 bits, the rest zero
  const AnyRef *const *refs; // pointers are never null, the references may be
  uint32_t valueCount;
  uint32_t refCount;
  uint32_t repeatCount;   // of the signature's repeated group
  uint64_t owner;         // SessionOptions::owner of the session
  uint64_t *valueResults; // zero at the start
  AnyRef *refResults;     // null at the start
};

// Fails the program's call by returning an error; what was written to results is dropped then.
using NativeFunctionPointer = Status (*)(void *context, NativeCall &call);

struct NativeFunction {
  std::string name;          // without the module's: "buffer.allocate"
  std::string qualifiedName; // "hal.buffer.allocate"
  std::string signatureText; // "riI_r"
  schema::Signature signature;
  NativeFunctionPointer pointer;
  void *context;
};

// A set of functions under one name. Its functions must bear being called from as many threads as there are sessions
// that use it at a time. Sessions share it by reference.
class NativeModule : public RefCounted {
public:
  explicit NativeModule(std::string name, schema::Version version = {})
      : moduleName(std::move(name)), moduleVersion(version) {}

  const std::string &name() const { return moduleName; }
  schema::Version version() const { return moduleVersion; }
  std::span<const NativeFunction> functions() const { return functionList; }
  const NativeFunction *find(std::string_view name) const;

  // Fails on a name that is taken, on a signature that does not parse, and once the module was given to a session.
  Status add(std::string_view name, std::string_view signature, NativeFunctionPointer pointer, void *context);
  // What a new session of a program (program.h) is to hold in the place of an object of this module that initialization
  // left in a variable: the object itself where sessions may share it, else a copy, or why there is none. Nothing where
  // the object is of another module's type. On any thread.
  virtual std::optional<Result<AnyRef>> copyForSession(const AnyRef &object) const { return std::nullopt; }
  // From here on functions stay where they are, and can be found without a lock. A session calls it.
  void seal();

private:
  std::string moduleName;
  schema::Version moduleVersion;
  std::mutex mutex; // of adding and sealing
  bool sealed = false;
  std::vector<NativeFunction> functionList;
};

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_NATIVE_MODULE_H
