// Two sums over the elements of two tensors, each one dispatch of one workgroup, and long: a tenth of a second.
func.func private @sum(%x: tensor<4000000xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4000000xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%s0: f32, %total: f32):
    %s1 = math.sin %s0 : f32
    %s2 = math.sin %s1 : f32
    %s3 = math.sin %s2 : f32
    %s4 = math.sin %s3 : f32
    %s5 = math.sin %s4 : f32
    %s6 = math.sin %s5 : f32
    %s7 = math.sin %s6 : f32
    %s8 = math.sin %s7 : f32
    %s9 = math.sin %s8 : f32
    %s10 = math.sin %s9 : f32
    %s11 = math.sin %s10 : f32
    %s12 = math.sin %s11 : f32
    %s13 = math.sin %s12 : f32
    %s14 = math.sin %s13 : f32
    %s15 = math.sin %s14 : f32
    %s16 = math.sin %s15 : f32
    %t = arith.addf %total, %s16 : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @two(%x: tensor<4000000xf32>, %y: tensor<4000000xf32>) -> (tensor<f32>, tensor<f32>) {
  %a = func.call @sum(%x) : (tensor<4000000xf32>) -> tensor<f32>
  %b = func.call @sum(%y) : (tensor<4000000xf32>) -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
