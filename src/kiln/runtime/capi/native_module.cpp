// Native modules of the C API.
#include <deque>
#include <mutex>

#include "kiln/runtime/capi/view_argument.h"

using namespace kiln;
using namespace kiln::capi;

namespace {

// A function of the program with what the VM does not say of a call: its kinds.
struct ProgramFunction {
  kiln_native_fn_t pointer;
  void *context;
  schema::Signature signature;
};

class ProgramModule final : public vm::NativeModule {
public:
  using NativeModule::NativeModule;

  Status addFunction(std::string_view name, std::string_view signature, kiln_native_fn_t pointer, void *context);

private:
  std::mutex mutex;
  std::deque<ProgramFunction> programFunctions; // guarded while functions are added; they stay where they are
};

// Gives the references among the results back.
void releaseRefs(std::span<const kiln_value_t> results) {
  for (const kiln_value_t &result : results)
    if (result.kind == KILN_KIND_REF)
      kiln_ref_release(result.as.ref);
}

// Checks what the program's function returned, and takes it over.
Status storeResults(const schema::Signature &signature, std::span<kiln_value_t> results, vm::NativeCall &call) {
  Status status;
  uint64_t *value = call.valueResults;
  vm::AnyRef *ref = call.refResults;
  for (size_t i = 0; i < results.size() && status.ok(); ++i) {
    if (static_cast<char>(results[i].kind) != signature.results[i]) {
      status = internalError("the native function has changed the kind of its result {}", i);
    } else if (results[i].kind == KILN_KIND_REF) {
      Result<vm::AnyRef> object = refArgument(results[i].as.ref);
      Status fits = object.ok() ? checkInstance(*object, call.owner) : object.status();
      if (fits.ok())
        *ref++ = *std::move(object);
      else
        status = internalError("result {} of the native function: {}", i, fits.message());
    } else {
      *value++ = scalarBits(results[i]);
    }
  }
  releaseRefs(results);
  return status;
}

Status callFunction(const ProgramFunction &function, std::span<const kiln_value_t> arguments,
                    std::span<kiln_value_t> results) {
  try {
    return fromHandle(
        function.pointer(function.context, arguments.data(), arguments.size(), results.data(), results.size()));
  } catch (...) {
    return statusOfException();
  }
}

// References among the arguments, for the call.
class BorrowedRefs {
public:
  explicit BorrowedRefs(std::span<const kiln_value_t> arguments) : arguments(arguments) {}
  BorrowedRefs(const BorrowedRefs &) = delete;
  ~BorrowedRefs() { releaseRefs(arguments); }

private:
  std::span<const kiln_value_t> arguments;
};

Status callProgram(void *context, vm::NativeCall &call) {
  const auto &function = *static_cast<const ProgramFunction *>(context);
  size_t count = call.valueCount + call.refCount;
  CallValues<kiln_value_t> arguments(count), results(function.signature.results.size());
  BorrowedRefs borrowed(arguments.span());
  const uint64_t *value = call.values;
  const vm::AnyRef *const *ref = call.refs;
  for (size_t i = 0; i < count; ++i) {
    auto kind = static_cast<kiln_kind_t>(function.signature.argumentKind(i));
    arguments[i] = makeScalar(kind, kind == KILN_KIND_REF ? 0 : *value++);
    if (kind == KILN_KIND_REF)
      arguments[i].as.ref = giveRef(**ref++);
  }
  for (size_t i = 0; i < results.span().size(); ++i)
    results[i] = makeScalar(static_cast<kiln_kind_t>(function.signature.results[i]), 0);
  Status status = callFunction(function, arguments.span(), results.span());
  if (status.ok())
    return storeResults(function.signature, results.span(), call);
  releaseRefs(results.span());
  return status;
}

Status ProgramModule::addFunction(std::string_view name, std::string_view signature, kiln_native_fn_t pointer,
                                  void *context) {
  KILN_ASSIGN_OR_RETURN(schema::Signature parsed, schema::parseSignature(signature, true));
  std::lock_guard lock(mutex);
  programFunctions.push_back({pointer, context, std::move(parsed)});
  Status status = add(name, signature, callProgram, &programFunctions.back());
  if (!status.ok())
    programFunctions.pop_back();
  return status;
}

} // namespace

kiln_status_t *kiln_native_module_create(const char *name, kiln_native_module_t **out_module) {
  return guarded([&]() -> Status {
    KILN_RETURN_IF_ERROR(needed(out_module, "out_module"));
    if (!name || !*name)
      return invalidArgument("a native module needs a name");
    *out_module = giveHandle<kiln_native_module_t>(makeRef<ProgramModule>(name));
    return okStatus();
  });
}

kiln_status_t *kiln_native_module_add(kiln_native_module_t *module, const char *name, const char *signature,
                                      kiln_native_fn_t function, void *context) {
  return guarded([&]() -> Status {
    KILN_ASSIGN_OR_RETURN(Ref<vm::NativeModule> object, argument(module, "module"));
    KILN_RETURN_IF_ERROR(needed(name, "name"));
    KILN_RETURN_IF_ERROR(needed(signature, "signature"));
    KILN_RETURN_IF_ERROR(needed(reinterpret_cast<const void *>(function), "function"));
    return static_cast<ProgramModule &>(*object).addFunction(name, signature, function, context);
  });
}

void kiln_native_module_retain(kiln_native_module_t *module) {
  retainHandle(__func__, module);
}
void kiln_native_module_release(kiln_native_module_t *module) {
  releaseHandle(__func__, module);
}
