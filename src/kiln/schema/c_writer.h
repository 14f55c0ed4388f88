// Writes a module as C: what module_writer.h writes as a file, with each function as C of its own control flow. The
// text includes kiln_compiled.h, and exports one function, `kiln_register_<module>`.
#ifndef KILN_SCHEMA_C_WRITER_H
#define KILN_SCHEMA_C_WRITER_H

#include <string>
#include <string_view>

#include "kiln/schema/module_writer.h"

namespace kiln::schema {

// C11, the same text for the same description. The code of functions must be valid. Constants and executables are
// written word by word and never copied.
Status writeModuleAsC(const ModuleDesc &module, const ByteSink &sink);
Result<std::string> writeModuleAsCToString(const ModuleDesc &module);

// The name of the function that the text exports for a module of this name: "kiln_register_simple_abs".
std::string registrationName(std::string_view module);

} // namespace kiln::schema

#endif // KILN_SCHEMA_C_WRITER_H
