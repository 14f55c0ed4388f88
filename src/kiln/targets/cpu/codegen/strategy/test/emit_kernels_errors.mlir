// RUN: kiln-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-emit-kernels))'

func.func @tensors(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'linalg.exp' op has no lowering to loops for llvm-cpu: it still works on tensors}}
  %r = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @unstructured(%a: memref<8x8xf32>, %b: memref<8x8xf32>) {
  // expected-error @+1 {{'linalg.softmax' op has no lowering to loops for llvm-cpu; only structured operations on memory have one}}
  linalg.softmax dimension(1) ins(%a : memref<8x8xf32>) outs(%b : memref<8x8xf32>)
  return
}

// -----

// expected-error @+1 {{'tile_config_8' is no configuration}}
func.func @configuration() attributes {lowering = #hal.lowering<"contraction", "tile_config_8">} {
  return
}
