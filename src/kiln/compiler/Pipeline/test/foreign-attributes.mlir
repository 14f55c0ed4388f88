// What a program says to another compiler's code generation is read over, and told.
// RUN: kiln-opt %s 2>&1 | FileCheck %s

// CHECK: foreign-attributes.mlir:[[#@LINE+2]]:25: warning: '#iree_codegen.compilation_info' has no effect: Kiln chooses by itself
// CHECK: func.func @f
#config = #iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = [32, 0], note = {a = ">"}>>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x {compilation_info = #config} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
