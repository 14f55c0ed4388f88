// Work on rows that is one dispatch: what reduces a row, what uses the result with the row, and what is wanted of both.
// RUN: kiln-compile --kiln-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=softmax --expected_output='3x5xf32=[0.0116562 0.0316849 0.0861285 0.234122 0.636409][0.2 0.2 0.2 0.2 0.2][0 0 0 0 1]' \
// RUN:   --input='3x5xf32=[1 2 3 4 5][300 300 300 300 300][-400 -400 -400 -400 -300]'
// RUN: kiln-run-module --module=%t.vmfb --function=softmax3 --expected_output=2x3x5xf32=0.2 --input=2x3x5xf32=1
// RUN: kiln-run-module --module=%t.vmfb --function=softmax0 --expected_output=2x3xf32=0.5 --input=2x3xf32=1
// RUN: kiln-run-module --module=%t.vmfb --function=normalize --input='9x5xf32=1 2 3 4 5 5 4 3 2 1 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 11 22 33 44 55' | FileCheck %s
// RUN: kiln-run-module --module=%t.vmfb --function=sums --input=4x8xf32=1 --expected_output=4xf32=-56 --expected_output=4xf32=8
// CHECK: 9x5xf32=[-1.41421 -0.707107 0 0.707107 1.41421][1.41421 0.707107 0 -0.707107 -1.41421][-1.41421
// CHECK-SAME: [-1.41421 -0.707107 0 0.707107 1.41421]{{$}}
// CHECK: 9xf32=3 3 3 3 3 3 3 3 33
func.func @softmax(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x5xf32>
  %e = tensor.empty(%d) : tensor<?x5xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x5xf32>) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}
func.func @softmax3(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %e = tensor.empty() : tensor<2x3x5xf32>
  %r = linalg.softmax dimension(2) ins(%x : tensor<2x3x5xf32>) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @softmax0(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.softmax dimension(0) ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
#e = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>
// Mean and variance, both results used and the mean returned as well.
func.func @normalize(%x: tensor<9x5xf32>) -> (tensor<9x5xf32>, tensor<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 5.0 : f32
  %re = tensor.empty() : tensor<9xf32>
  %ee = tensor.empty() : tensor<9x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%re : tensor<9xf32>) -> tensor<9xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<9x5xf32>) outs(%z : tensor<9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<9xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]} ins(%s : tensor<9xf32>) outs(%re : tensor<9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.divf %a, %n : f32
    linalg.yield %t : f32
  } -> tensor<9xf32>
  %v = linalg.generic {indexing_maps = [#e, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<9x5xf32>, tensor<9xf32>) outs(%z : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.addf %q, %o : f32
    linalg.yield %t : f32
  } -> tensor<9xf32>
  %y = linalg.generic {indexing_maps = [#e, #r, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %m, %v : tensor<9x5xf32>, tensor<9xf32>, tensor<9xf32>) outs(%ee : tensor<9x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %w = arith.divf %c, %n : f32
    %q = math.sqrt %w : f32
    %t = arith.divf %d, %q : f32
    linalg.yield %t : f32
  } -> tensor<9x5xf32>
  return %y, %m : tensor<9x5xf32>, tensor<9xf32>
}
// Two sums that start from the same fill, the second from the first, both returned: each has memory of its own.
func.func @sums(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#e, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %0 = arith.addf %d, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %q, %s : tensor<4xf32>, tensor<4xf32>
}
