func.func @mm(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = arith.addf %a, %b : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @slice(%x: tensor<8x8xf32>, %i: index, %n: index) -> tensor<?x4xf32> {
  %r = tensor.extract_slice %x[%i, 2] [%n, 4] [1, 1] : tensor<8x8xf32> to tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @ins(%x: tensor<8xi32>, %i: index) -> tensor<8xi32> {
  %c = arith.constant 7 : i32
  %r = tensor.insert %c into %x[%i] : tensor<8xi32>
  return %r : tensor<8xi32>
}
func.func @conv(%x: tensor<1x?x?x3xf32>, %w: tensor<3x3x3x4xf32>, %o: tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x?x?x3xf32>, tensor<3x3x3x4xf32>) outs(%o : tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32>
  return %r : tensor<1x?x?x4xf32>
}
