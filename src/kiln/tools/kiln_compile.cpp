// kiln-compile: from MLIR source to a module file.
#include "kiln/targets/backends.h"
#include "kiln/tools/compile_main.h"

int main(int argc, char **argv) {
  return kiln::compileMain(argc, argv, kiln::registerTargetBackends);
}
