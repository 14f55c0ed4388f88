// kiln-run-mlir: compiles a program and calls one of its functions.
#include "kiln/tools/compile_process.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/run_function.h"

using namespace kiln;

namespace {

struct MlirFlags {
  RuntimeFlags runtime;
  OutputFlags output;
  std::vector<std::string> files;
  std::vector<std::string> compiler;  // as written, without the dashes or with them
  std::vector<std::string> forwarded; // --kiln-...
};

// What kiln-compile is called with. Programs are for the CPU where no flag says otherwise.
std::vector<std::string> compilerArguments(const MlirFlags &flags) {
  std::vector<std::string> arguments = {flags.files.empty() ? "-" : flags.files.front()};
  bool namesBackend = false;
  auto add = [&](const std::string &flag) {
    namesBackend |= flag.find("hal-target-") != std::string::npos;
    arguments.push_back(flag.starts_with('-') ? flag : "--" + flag);
  };
  for (const std::string &flag : flags.compiler)
    add(flag);
  for (const std::string &flag : flags.forwarded)
    add(flag);
  if (!namesBackend)
    arguments.push_back("--kiln-hal-target-backends=llvm-cpu");
  return arguments;
}

Result<bool> run(const MlirFlags &flags) {
  KILN_ASSIGN_OR_RETURN(bool listed, flags.runtime.printLists());
  if (listed)
    return true;
  if (flags.files.size() > 1)
    return invalidArgument("one file is compiled, and {} are named: {}, {}", flags.files.size(), flags.files[0],
                           flags.files[1]);
  KILN_RETURN_IF_ERROR(flags.runtime.startTimeout());
  std::string name = flags.files.empty() ? "-" : flags.files.front();
  setStep(fmt::format("while compiling '{}'; nothing was written", name));
  KILN_ASSIGN_OR_RETURN(Ref<vm::Module> module, compileModule(compilerArguments(flags), name));
  KILN_ASSIGN_OR_RETURN(Program program, Program::open(flags.runtime, std::move(module)));
  return runFunction(program, flags.runtime, flags.output);
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-run-mlir");
  catchInterrupts([] { reportInterrupted("kiln-run-mlir"); });
  FlagParser parser("kiln-run-mlir",
                    "Compiles a program with kiln-compile, for the CPU unless a flag says otherwise, and "
                    "calls one of its functions like kiln-run-module.");
  MlirFlags flags;
  parser.group("Compiler");
  parser.addPositional({"file", "FILE", "The program; - or nothing is standard input."}, flags.files);
  parser.addPrefixed({"Xcompiler", "FLAG", "A flag for kiln-compile; its dashes may be left out."}, flags.compiler);
  parser.forwardPrefix({"kiln-", "FLAG[=VALUE]", "Flags of kiln-compile may also stand for themselves."},
                       flags.forwarded);
  flags.runtime.addProgramFlags(parser, /*withModules=*/true);
  flags.output.add(parser);
  flags.runtime.addDeviceFlags(parser);
  parser.example("kiln-run-mlir abs.mlir --input=f32=-2");
  parser.example("kiln-run-mlir --Xcompiler,kiln-opt-level=O1 abs.mlir --input=f32=-2");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  flags.runtime.printNotes(parser.tool());
  Result<bool> matched = run(flags);
  if (!matched.ok())
    return reportEnd(parser.tool(), matched.status());
  return *matched ? 0 : 1;
}
