// The native module `check`: what test programs expect of their values (schema/check_imports.def).
#ifndef KILN_TOOLS_CHECK_FUNCTIONS_H
#define KILN_TOOLS_CHECK_FUNCTIONS_H

#include <functional>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/runtime/vm/native_module.h"

namespace kiln {

// Is told of each failure, where it stands in the source ("file.mlir:12", or empty) and what differs.
using CheckReport = std::function<void(std::string_view place, const std::string &message)>;

Result<Ref<vm::NativeModule>> createCheckModule(CheckReport report);

} // namespace kiln

#endif // KILN_TOOLS_CHECK_FUNCTIONS_H
