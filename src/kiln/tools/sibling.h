// Other tools of the same installation.
#ifndef KILN_TOOLS_SIBLING_H
#define KILN_TOOLS_SIBLING_H

#include <string>
#include <string_view>

#include "kiln/base/status.h"

namespace kiln {

// The path of a tool in the folder of this process's own executable. NotFound where this build has no such tool.
Result<std::string> siblingTool(std::string_view name);
// The folder of this process's own executable, with a slash at its end; empty where the system does not tell.
std::string ownFolder();

} // namespace kiln

#endif // KILN_TOOLS_SIBLING_H
