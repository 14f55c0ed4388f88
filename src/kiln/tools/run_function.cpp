#include "kiln/tools/run_function.h"

#include <cstdio>

#include "kiln/tools/call_arguments.h"
#include "kiln/tools/declaration.h"

namespace kiln {

static Result<bool> callOnce(const Program &program, const RuntimeFlags &runtime, const OutputFlags &output) {
  CallLimit::Scope scope(untilInterrupted());
  setStep("while initializing the module; nothing was written");
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<vm::Session> session, program.createSession());
  KILN_ASSIGN_OR_RETURN(vm::Function function, findFunction(*session, runtime.function));
  KILN_RETURN_IF_ERROR(output.check(function));
  setStep("while reading the inputs; nothing was written");
  KILN_ASSIGN_OR_RETURN(CallArguments arguments, readArguments(function, runtime.inputs, program.device()));
  setStep(fmt::format("while calling @{}; nothing was written", function.name()));
  // Before the call, so that a program that does not come back has said where it is.
  std::printf("EXEC @%.*s\n", int(function.name().size()), function.name().data());
  KILN_RETURN_IF_ERROR(flushStandardOutput());
  std::vector<vm::Value> results(function.resultCount());
  KILN_RETURN_IF_ERROR(explainCall(session->call(function, arguments.values, results), arguments));
  setStep("while writing the results; each file is whole or as it was before");
  return handleResults(function, results, output);
}

Result<bool> runFunction(const Program &program, const RuntimeFlags &runtime, const OutputFlags &output) {
  Result<bool> matched = callOnce(program, runtime, output);
  // The session, its arguments and its results are gone by now: what is live still has leaked.
  if (runtime.printStatistics)
    program.printStatistics();
  if (matched.ok())
    KILN_RETURN_IF_ERROR(program.verifyMemory());
  return matched;
}

} // namespace kiln
