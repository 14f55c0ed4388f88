// kiln-import-onnx: from an ONNX model to MLIR.
#include "kiln/tools/import_onnx_main.h"

int main(int argc, char **argv) {
  return kiln::importOnnxMain(argc, argv);
}
