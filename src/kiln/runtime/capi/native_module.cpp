// Native modules of the C API.
#include <deque>

#include "kiln/runtime/capi/handles.h"

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
  std::deque<ProgramFunction> programFunctions; // stay where they are
};

// Checks what the program's function returned, and takes it over.
Status storeResults(const schema::Signature &signature, std::span<kiln_value_t> results, vm::NativeCall &call) {
  Status status;
  uint64_t *value = call.valueResults;
  vm::AnyRef *ref = call.refResults;
  for (size_t i = 0; i < results.size(); ++i) {
    bool kept = static_cast<char>(results[i].kind) == signature.results[i];
    if (!kept)
      status = internalError("the native function has changed the kind of its result {}", i);
    if (results[i].kind == KILN_KIND_REF) {
      vm::AnyRef taken = adoptRef(results[i].as.ref);
      if (kept)
        *ref++ = std::move(taken);
    } else if (kept) {
      *value++ = scalarBits(results[i]);
    }
  }
  return status;
}

Status callProgram(void *context, vm::NativeCall &call) {
  const auto &function = *static_cast<const ProgramFunction *>(context);
  size_t count = call.valueCount + call.refCount;
  CallValues<kiln_value_t> arguments(count), results(function.signature.results.size());
  const uint64_t *value = call.values;
  const vm::AnyRef *const *ref = call.refs;
  for (size_t i = 0; i < count; ++i) {
    auto kind = static_cast<kiln_kind_t>(function.signature.argumentKind(i));
    arguments[i] = makeScalar(kind, kind == KILN_KIND_REF ? 0 : *value++);
    if (kind == KILN_KIND_REF)
      arguments[i].as.ref = borrowRef(**ref++);
  }
  for (size_t i = 0; i < results.span().size(); ++i)
    results[i] = makeScalar(static_cast<kiln_kind_t>(function.signature.results[i]), 0);
  Status status = fromHandle(
      function.pointer(function.context, arguments.span().data(), count, results.span().data(), results.span().size()));
  if (status.ok())
    return storeResults(function.signature, results.span(), call);
  for (kiln_value_t &result : results.span())
    if (result.kind == KILN_KIND_REF)
      kiln_ref_release(result.as.ref);
  return status;
}

} // namespace

kiln_status_t *kiln_native_module_create(const char *name, kiln_native_module_t **out_module) {
  if (!name || !*name)
    return toHandle(invalidArgument("a native module needs a name"));
  vm::NativeModule *module = new ProgramModule(name);
  *out_module = reinterpret_cast<kiln_native_module_t *>(module);
  return nullptr;
}

kiln_status_t *kiln_native_module_add(kiln_native_module_t *module, const char *name, const char *signature,
                                      kiln_native_fn_t function, void *context) {
  auto *program = static_cast<ProgramModule *>(unwrap(module));
  Result<schema::Signature> parsed = schema::parseSignature(signature, true);
  if (!parsed.ok())
    return toHandle(parsed.status());
  program->programFunctions.push_back({function, context, *std::move(parsed)});
  return toHandle(program->add(name, signature, callProgram, &program->programFunctions.back()));
}

void kiln_native_module_retain(kiln_native_module_t *module) {
  unwrap(module)->retain();
}
void kiln_native_module_release(kiln_native_module_t *module) {
  if (module)
    unwrap(module)->release();
}
