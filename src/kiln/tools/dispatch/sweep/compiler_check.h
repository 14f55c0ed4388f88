// Whether what a user names as a compiler is one, before anything depends on it.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_COMPILER_CHECK_H
#define KILN_TOOLS_DISPATCH_SWEEP_COMPILER_CHECK_H

#include <string>

#include "kiln/tools/dispatch/dispatch_flags.h"

namespace kiln {

// Asks it for its version, which takes some hundredths of a second. An error that names `flag` where it cannot be run,
// or is another program.
Status checkCompiler(std::string_view flag, const std::string &path);

// Of --compiler and of each --compiler-variant that names one. Without them it is the one beside this tool.
Status checkCompilers(const DispatchFlags &flags);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_COMPILER_CHECK_H
