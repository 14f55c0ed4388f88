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
  if (name.empty() || find(name))
    return alreadyExists("native module '{}' has a function '{}' already, or the name is empty", moduleName, name);
  Result<schema::Signature> parsed = schema::parseSignature(signature, true);
  if (!parsed.ok())
    return std::move(parsed).status().withContext(fmt::format("native function '{}.{}'", moduleName, name));
  functionList.push_back({std::string(name), fmt::format("{}.{}", moduleName, name), std::string(signature),
                          *std::move(parsed), pointer, context});
  return okStatus();
}

} // namespace kiln::vm
