func.func @quantized(%a: tensor<8x16xi8>, %b: tensor<16x16xi8>) -> tensor<8x16xi32> {
  %zero = arith.constant 0 : i32
  %za = arith.constant 3 : i32
  %zb = arith.constant -5 : i32
  %empty = tensor.empty() : tensor<8x16xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<8x16xi32>) -> tensor<8x16xi32>
  %sum = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<8x16xi8>, tensor<16x16xi8>, i32, i32)
    outs(%zeros : tensor<8x16xi32>) -> tensor<8x16xi32>
  return %sum : tensor<8x16xi32>
}
