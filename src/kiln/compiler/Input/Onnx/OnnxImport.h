// From an ONNX model to a program of linalg on tensors, which the compiler's input phase takes.
#ifndef KILN_COMPILER_INPUT_ONNX_ONNXIMPORT_H
#define KILN_COMPILER_INPUT_ONNX_ONNXIMPORT_H

#include "kiln/compiler/Input/Onnx/OnnxModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln::onnx {

struct ImportOptions {
  std::string entryPoint; // the function's name; empty: the graph's
  // Which inputs' memory is the program's from a call on: names, with * for any letters.
  std::vector<std::string> donated = {};
};

// Null after an error, which has been emitted and names all nodes that are not supported. Constants of the program are
// views of the model's bytes, which outlives it.
mlir::OwningOpRef<mlir::ModuleOp> importModel(const Model &model, const ImportOptions &options,
                                              mlir::MLIRContext &context);

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_ONNXIMPORT_H
