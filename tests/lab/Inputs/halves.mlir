// The product that gpu-tune.test tunes, with something behind it.
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @layer(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %sum = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%fill : tensor<64x64xf32>) -> tensor<64x64xf32>
  %positive = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%sum : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    %relu = arith.maximumf %x, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<64x64xf32>
  return %positive : tensor<64x64xf32>
}
