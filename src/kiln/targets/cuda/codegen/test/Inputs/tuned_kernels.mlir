// Products for which tuning.json has configurations whose kernels cannot be written.
func.func @k(%a: tensor<64x64xf16>, %b: tensor<64x128xf16>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x128xf16>) outs(%z : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
func.func @shared(%a: tensor<64x64xf16>, %b: tensor<64x256xf16>) -> tensor<64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x256xf16>) outs(%z : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}
func.func @integers(%a: tensor<64x64xi32>, %b: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xi32>, tensor<64x64xi32>) outs(%z : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}
func.func @odd(%a: tensor<63x63xf16>, %b: tensor<63x63xf16>) -> tensor<63x63xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<63x63xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<63x63xf32>) -> tensor<63x63xf32>
  %r = linalg.matmul ins(%a, %b : tensor<63x63xf16>, tensor<63x63xf16>) outs(%z : tensor<63x63xf32>) -> tensor<63x63xf32>
  return %r : tensor<63x63xf32>
}
