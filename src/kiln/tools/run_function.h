// What kiln-run-module and kiln-run-mlir do once there is a program: one call of one function.
#ifndef KILN_TOOLS_RUN_FUNCTION_H
#define KILN_TOOLS_RUN_FUNCTION_H

#include "kiln/base/status.h"
#include "kiln/tools/call_results.h"
#include "kiln/tools/runtime_flags.h"

namespace kiln {

// Reads the inputs, prints "EXEC @name", calls, and hands the results on. Returns false where they are not as expected.
Result<bool> runFunction(const Program &program, const RuntimeFlags &runtime, const OutputFlags &output);

} // namespace kiln

#endif // KILN_TOOLS_RUN_FUNCTION_H
