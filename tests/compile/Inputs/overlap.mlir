// Two sums over the elements of two tensors, each one dispatch of one workgroup, and long: some tenths of a second.
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
    %s17 = math.sin %s16 : f32
    %s18 = math.sin %s17 : f32
    %s19 = math.sin %s18 : f32
    %s20 = math.sin %s19 : f32
    %s21 = math.sin %s20 : f32
    %s22 = math.sin %s21 : f32
    %s23 = math.sin %s22 : f32
    %s24 = math.sin %s23 : f32
    %s25 = math.sin %s24 : f32
    %s26 = math.sin %s25 : f32
    %s27 = math.sin %s26 : f32
    %s28 = math.sin %s27 : f32
    %s29 = math.sin %s28 : f32
    %s30 = math.sin %s29 : f32
    %s31 = math.sin %s30 : f32
    %s32 = math.sin %s31 : f32
    %s33 = math.sin %s32 : f32
    %s34 = math.sin %s33 : f32
    %s35 = math.sin %s34 : f32
    %s36 = math.sin %s35 : f32
    %s37 = math.sin %s36 : f32
    %s38 = math.sin %s37 : f32
    %s39 = math.sin %s38 : f32
    %s40 = math.sin %s39 : f32
    %s41 = math.sin %s40 : f32
    %s42 = math.sin %s41 : f32
    %s43 = math.sin %s42 : f32
    %s44 = math.sin %s43 : f32
    %s45 = math.sin %s44 : f32
    %s46 = math.sin %s45 : f32
    %s47 = math.sin %s46 : f32
    %s48 = math.sin %s47 : f32
    %s49 = math.sin %s48 : f32
    %s50 = math.sin %s49 : f32
    %s51 = math.sin %s50 : f32
    %s52 = math.sin %s51 : f32
    %s53 = math.sin %s52 : f32
    %s54 = math.sin %s53 : f32
    %s55 = math.sin %s54 : f32
    %s56 = math.sin %s55 : f32
    %s57 = math.sin %s56 : f32
    %s58 = math.sin %s57 : f32
    %s59 = math.sin %s58 : f32
    %s60 = math.sin %s59 : f32
    %s61 = math.sin %s60 : f32
    %s62 = math.sin %s61 : f32
    %s63 = math.sin %s62 : f32
    %s64 = math.sin %s63 : f32
    %t = arith.addf %total, %s64 : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
func.func @two(%x: tensor<4000000xf32>, %y: tensor<4000000xf32>) -> (tensor<f32>, tensor<f32>) {
  %a = func.call @sum(%x) : (tensor<4000000xf32>) -> tensor<f32>
  %b = func.call @sum(%y) : (tensor<4000000xf32>) -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
