// Compiling from a tool of the runtime side: in a process of its own, since the runtime never links the compiler.
#ifndef KILN_TOOLS_COMPILE_PROCESS_H
#define KILN_TOOLS_COMPILE_PROCESS_H

#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/module/module.h"

namespace kiln {

// Runs kiln-compile with the arguments, which name no output, and loads what it writes. It inherits standard input and
// standard error, where it explains its own failures.
Result<Ref<vm::Module>> compileModule(const std::vector<std::string> &arguments, const std::string &name);

} // namespace kiln

#endif // KILN_TOOLS_COMPILE_PROCESS_H
