// kiln-opt: runs passes and phases on MLIR text.
#include "kiln/targets/backends.h"
#include "kiln/tools/opt_main.h"

int main(int argc, char **argv) {
  return kiln::optMain(argc, argv, kiln::registerTargetBackends);
}
