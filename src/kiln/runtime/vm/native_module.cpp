#include "kiln/runtime/vm/native_module.h"

namespace kiln::vm {

const NativeFunction *NativeModule::find(std::string_view name) const {
  for (const NativeFunction &function : functionList)
    if (function.name == name)
      return &function;
  return nullptr;
}

Status NativeModule::add(std::string_view name, std::string_view signature, NativeFunctionPointer pointer,
                         void *context) {
  std::lock_guard lock(mutex);
  if (sealed)
    return failedPrecondition("native module '{}' is in use by a session; '{}' must be added before", moduleName, name);
  if (name.empty() || find(name))
    return alreadyExists("native module '{}' has a function '{}' already, or the name is empty", moduleName, name);
  Result<schema::Signature> parsed = schema::parseSignature(signature, true);
  if (!parsed.ok())
    return std::move(parsed).status().withContext(fmt::format("native function '{}.{}'", moduleName, name));
  functionList.push_back({std::string(name), fmt::format("{}.{}", moduleName, name), std::string(signature),
                          *std::move(parsed), pointer, context});
  return okStatus();
}

void NativeModule::seal() {
  std::lock_guard lock(mutex);
  sealed = true;
}

} // namespace kiln::vm
