// A layer as a model has it: exp of the input, the product, bias, relu.
#same = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @layer(%x: tensor<5x64xf32>, %weights: tensor<64x96xf32>, %bias: tensor<96xf32>) -> tensor<5x96xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<5x64xf32>
  %exp = linalg.exp ins(%x : tensor<5x64xf32>) outs(%wide : tensor<5x64xf32>) -> tensor<5x64xf32>
  %empty = tensor.empty() : tensor<5x96xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x96xf32>) -> tensor<5x96xf32>
  %sums = linalg.matmul ins(%exp, %weights : tensor<5x64xf32>, tensor<64x96xf32>) outs(%zeros : tensor<5x96xf32>) -> tensor<5x96xf32>
  %result = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : tensor<5x96xf32>, tensor<96xf32>) outs(%empty : tensor<5x96xf32>) {
  ^bb0(%sum: f32, %b: f32, %old: f32):
    %biased = arith.addf %sum, %b : f32
    %positive = arith.maximumf %biased, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<5x96xf32>
  return %result : tensor<5x96xf32>
}
