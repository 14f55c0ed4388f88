// kiln-compile, kiln-opt and kiln-import-onnx in one program, since they share nearly all of their code. The name by
// which the program is called says which of them it is.
#include "kiln/targets/backends.h"
#include "kiln/tools/compile_main.h"
#include "kiln/tools/import_onnx_main.h"
#include "kiln/tools/opt_main.h"

#include "llvm/ADT/StringRef.h"

int main(int argc, char **argv) {
  llvm::StringRef path = argc > 0 ? argv[0] : "";
  if (path.ends_with("-opt"))
    return kiln::optMain(argc, argv, kiln::registerTargetBackends);
  if (path.ends_with("-import-onnx"))
    return kiln::importOnnxMain(argc, argv);
  return kiln::compileMain(argc, argv, kiln::registerTargetBackends);
}
