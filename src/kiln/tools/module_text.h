// A module as text or JSON, for kiln-dump-module. A damaged one is shown as far as it can be read.
#ifndef KILN_TOOLS_MODULE_TEXT_H
#define KILN_TOOLS_MODULE_TEXT_H

#include <span>
#include <string>

#include "kiln/base/status.h"
#include "kiln/runtime/module/module.h"

namespace kiln {

// The container: file, sections, whether their checksums match.
std::string containerText(const vm::Container &container);
// What the module holds, without code.
std::string metadataText(const vm::Module &module);
// All functions with their instructions.
std::string disassemblyText(const vm::Module &module);

// Everything in one object. `module` may be null; `problems` become an array of messages.
std::string moduleJson(const vm::Container &container, const vm::Module *module, std::span<const Status> problems);

} // namespace kiln

#endif // KILN_TOOLS_MODULE_TEXT_H
