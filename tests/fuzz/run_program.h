// Runs what a module exports, as it would run the program of somebody who means harm.
#ifndef KILN_TESTS_FUZZ_RUN_PROGRAM_H
#define KILN_TESTS_FUZZ_RUN_PROGRAM_H

#include "kiln/runtime/module/module.h"

namespace kiln::fuzz {

// On the null device, since native code is trusted and would do as it is told. Functions that the module imports of
// others than the hal module are there, and give back something that depends on what they got. Each call ends soon.
void runProgram(const Ref<vm::Module> &module);

} // namespace kiln::fuzz

#endif // KILN_TESTS_FUZZ_RUN_PROGRAM_H
