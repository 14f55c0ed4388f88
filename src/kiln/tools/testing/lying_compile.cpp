// kiln-lying-compile: kiln-compile for tests, with flags that plant in programs what verification and measurements must
// notice.
#include "kiln/compiler/testing/Testing.h"
#include "kiln/targets/cpu/codegen/testing/DelayedBackend.h"
#include "kiln/tools/compile_main.h"

using namespace kiln;

int main(int argc, char **argv) {
  PlantLiesPassOptions planted;
  return compileMain(argc, argv, registerDelayedBackend, [&planted](Compiler &compiler, OptionBinder &binder) {
    binder.group("What is planted");
    binder.flag("kiln-debug-plant-lie", &planted.lie, "name",
                "Make programs compute something wrong, in a way that verification must notice: wrong-element, nan, "
                "transposed-tile, dropped-tail, not-zeroed, bf16-inputs, tf32-inputs, f16-accumulator, "
                "bf16-accumulator, swapped-layout, nothing-written");
    binder.flag("kiln-debug-plant-delay", &planted.delay, "n",
                "Make each workgroup of a contraction run an empty loop of so many iterations first");
    compiler.context().extendInput = [&planted](mlir::OpPassManager &passes) {
      if (!planted.lie.empty() || planted.delay > 0)
        passes.addPass(createPlantLiesPass(planted));
    };
  });
}
