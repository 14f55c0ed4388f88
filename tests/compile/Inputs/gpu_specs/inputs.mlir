// Small integers, which tensor cores and the CPU sum up alike.
func.func @inputs() -> (tensor<128x64xf32>, tensor<64x192xf32>) {
  %a = tensor.generate {
  ^bb0(%i: index, %j: index):
    %x = func.call @element(%i, %j) : (index, index) -> f32
    tensor.yield %x : f32
  } : tensor<128x64xf32>
  %b = tensor.generate {
  ^bb0(%i: index, %j: index):
    %x = func.call @element(%j, %i) : (index, index) -> f32
    tensor.yield %x : f32
  } : tensor<64x192xf32>
  return %a, %b : tensor<128x64xf32>, tensor<64x192xf32>
}
func.func private @element(%i: index, %j: index) -> f32 {
  %c7 = arith.constant 7 : index
  %c13 = arith.constant 13 : index
  %c6 = arith.constant 6 : i32
  %m = arith.muli %i, %c7 : index
  %s = arith.addi %m, %j : index
  %r = arith.remui %s, %c13 : index
  %n = arith.index_cast %r : index to i32
  %d = arith.subi %n, %c6 : i32
  %f = arith.sitofp %d : i32 to f32
  return %f : f32
}
