// kiln-opt: runs passes and phases on MLIR text.
#include "kiln/compiler/Pipeline/Compiler.h"
#include "kiln/targets/backends.h"
#include "kiln/tools/compiler_main.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

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
  auto [input, output] = mlir::registerAndParseCLIOptions(
      commandLine.argc(), commandLine.argv(), "kiln-opt: runs passes and Kiln's phases on MLIR\n", registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(commandLine.argc(), commandLine.argv(), input, output, registry));
}
