// What the caller gives, and gets, is not what the global holds.
util.global private mutable @given : tensor<3xf32>
func.func @keep(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  util.global.store %a, @given : tensor<3xf32>
  %0 = util.global.load @given : tensor<3xf32>
  %1 = arith.addf %0, %a : tensor<3xf32>
  %2 = util.global.load @given : tensor<3xf32>
  return %1, %2 : tensor<3xf32>, tensor<3xf32>
}
