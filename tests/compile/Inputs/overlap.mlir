// Two sums over the elements of two tensors, each one dispatch of one workgroup: what carries a configuration is not split.
func.func private @sum(%x: tensor<1000000xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<1000000xf32>) outs(%zero : tensor<f32>) attrs = {kiln.configuration = "tile_config_1x1_0x1_vector"} {
  ^bb0(%s0: f32, %total: f32):
    %t = arith.addf %total, %s0 : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @two(%x: tensor<1000000xf32>, %y: tensor<1000000xf32>) -> (tensor<f32>, tensor<f32>) {
  %a = func.call @sum(%x) : (tensor<1000000xf32>) -> tensor<f32>
  %b = func.call @sum(%y) : (tensor<1000000xf32>) -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
