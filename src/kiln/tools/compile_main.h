// The main of kiln-compile, which a program that tests others can extend.
#ifndef KILN_TOOLS_COMPILE_MAIN_H
#define KILN_TOOLS_COMPILE_MAIN_H

#include "kiln/compiler/Pipeline/Compiler.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln {

// The exit code. `extend` is called once, before the command line is parsed, and may declare more flags.
int compileMain(int argc, char **argv, void (*registerBackends)(TargetBackendRegistry &),
                llvm::function_ref<void(Compiler &, OptionBinder &)> extend = {});

} // namespace kiln

#endif // KILN_TOOLS_COMPILE_MAIN_H
