// kiln-run-module: calls one function of a compiled module, once.
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/run_function.h"

using namespace kiln;

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-run-module");
  catchInterrupts([] { reportInterrupted("kiln-run-module"); });
  FlagParser parser("kiln-run-module",
                    "Calls one exported function of a compiled module and prints its results, writes "
                    "them to files, or compares them with what is expected.");
  RuntimeFlags runtime;
  OutputFlags output;
  runtime.addProgramFlags(parser, /*withModules=*/true);
  output.add(parser);
  runtime.addDeviceFlags(parser);
  parser.example("kiln-run-module --module=abs.vmfb --input=f32=-2");
  parser.example("kiln-run-module --module=add.vmfb --function=add --device=local-sync "
                 "--input=\"4xf32=[1 2 3 4]\" --input=@b.npy --expected_output=4xf32=3");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  runtime.printNotes(parser.tool());

  Result<bool> listed = runtime.printLists();
  if (Status status = listed.ok() ? runtime.startTimeout() : listed.status(); !status.ok())
    return reportFailure(parser.tool(), status);
  if (*listed)
    return 0;
  Result<Program> program = Program::open(runtime);
  Result<bool> matched = program.ok() ? runFunction(*program, runtime, output) : Result<bool>(program.status());
  if (!matched.ok())
    return reportEnd(parser.tool(), matched.status());
  return *matched ? 0 : 1;
}
