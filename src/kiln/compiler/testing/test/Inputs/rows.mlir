// Sums of the rows of two tensors, the first one in f32, the second in f16.
func.func @rows(%a: tensor<4x24xf32>, %b: tensor<4x24xf16>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %one = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x24xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %x, %s : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %both = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                          iterator_types = ["parallel", "reduction"]}
      ins(%b : tensor<4x24xf16>) outs(%one : tensor<4xf32>) {
  ^bb0(%x: f16, %s: f32):
    %w = arith.extf %x : f16 to f32
    %t = arith.addf %w, %s : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %both : tensor<4xf32>
}
