// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-cuda-map-to-threads))' --verify-diagnostics

func.func @tensors(%x: tensor<4x8xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.reduce' op still works on tensors; threads share what works on memory}}
  %r = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}
