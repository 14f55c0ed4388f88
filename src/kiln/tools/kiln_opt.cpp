// kiln-opt: runs passes and phases on MLIR text.
#include "kiln/compiler/Pipeline/Compiler.h"
#include "kiln/compiler/Pipeline/Phases.h"
#include "kiln/targets/backends.h"
#include "kiln/tools/compiler_main.h"
#include "kiln/tools/help_text.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

static int printHelp(const kiln::OptionBinder &binder) {
  kiln::HelpText help;
  help.paragraph("Usage: kiln-opt [flags] [FILE]");
  help.paragraph("");
  help.paragraph(
      "Runs passes and Kiln's phases on MLIR and prints what they give. Without FILE it reads standard input. A "
      "flag or a pass kiln-x may be written iree-x as well.");
  help.heading("Phases, in their order; run all up to the one you want");
  for (const kiln::Phase &phase : kiln::phases())
    if (phase.pipeline)
      help.item(std::string("--") + phase.pipeline, phase.summary);
  help.item(
      "--kiln-hal-configuration-pipeline",
      "Up to executables that are configured; code generation is still to do. Runs instead of the hal pipelines.");
  help.heading("Passes");
  help.item("--pass-pipeline=TEXT",
            "Passes with what they run on, as in 'builtin.module(func.func(cse),canonicalize)'.");
  help.item("--<pass>",
            "One pass; flags run in the order in which they are written. docs/generated/passes.md has Kiln's.");
  help.item("--show-dialects", "Lists the dialects and exits.");
  appendOptions(help, binder);
  help.heading("General");
  help.item("-o FILE", "Where to write; - is standard output.");
  help.item("--split-input-file", "Treats the parts of the input between lines of // ----- on their own.");
  help.item("--verify-diagnostics", "Compares errors with the // expected-error comments of the input.");
  help.item("--mlir-print-ir-after-all", "Shows what each pass does, on standard error.");
  help.item("--help-hidden", "All passes and flags, with those of MLIR and LLVM.");
  help.item("--help", "Prints this.");
  help.heading("Examples");
  help.line("kiln-opt --kiln-common-input-transformation-pipeline matmul.mlir");
  help.line("kiln-opt --pass-pipeline='builtin.module(canonicalize,cse)' matmul.mlir");
  return kiln::printText(help);
}

int main(int argc, char **argv) {
  kiln::Compiler compiler(kiln::registerTargetBackends);
  kiln::OptionBinder binder;
  compiler.bindOptions(binder);
  compiler.registerPasses();
  mlir::DialectRegistry registry;
  compiler.registerDialects(registry);

  kiln::CommandLine commandLine(argc, argv);
  if (!commandLine.ok())
    return 1;
  if (commandLine.wantsHelp())
    return printHelp(binder);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      commandLine.argc(), commandLine.argv(), "kiln-opt: runs passes and Kiln's phases on MLIR\n", registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(commandLine.argc(), commandLine.argv(), input, output, registry));
}
