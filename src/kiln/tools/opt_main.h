// The main of kiln-opt, for a program that is more than kiln-opt.
#ifndef KILN_TOOLS_OPT_MAIN_H
#define KILN_TOOLS_OPT_MAIN_H

#include "kiln/compiler/Pipeline/Compiler.h"

namespace kiln {

// The exit code.
int optMain(int argc, char **argv, void (*registerBackends)(TargetBackendRegistry &));

} // namespace kiln

#endif // KILN_TOOLS_OPT_MAIN_H
