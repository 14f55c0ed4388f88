// Work on rows that is one dispatch: what reduces a row, what uses the result with the row, and what is wanted of both.
// RUN: kiln-compile --kiln-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=softmax --expected_output='3x5xf32=[0.0116562 0.0316849 0.0861285 0.234122 0.636409][0.2 0.2 0.2 0.2 0.2][0 0 0 0 1]' \
// RUN:   --input='3x5xf32=[1 2 3 4 5][300 300 300 300 300][-400 -400 -400 -400 -300]'
// RUN: kiln-run-module --module=%t.vmfb --function=softmax3 --expected_output=2x3x5xf32=0.2 --input=2x3x5xf32=1
// RUN: kiln-run-module --module=%t.vmfb --function=softmax0 --expected_output=2x3xf32=0.5 --input=2x3xf32=1
// RUN: kiln-run-module --module=%t.vmfb --function=normalize --input='9x5xf32=1 2 3 4 5 5 4 3 2 1 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 1 2 3 4 5 11 22 33 44 55' | FileCheck %s
// RUN: kiln-run-module --module=%t.vmfb --function=sums --input=4x8xf32=1 --expected_output=4xf32=-56 --expected_output=4xf32=8
// RUN: kiln-run-module --module=%t.vmfb --function=log_sum_exp --input=4x8xf32=3 --input=8x2xf32=0.5 --expected_output=4x2xf32=4 --expected_output=4xf32=5.0794415
// RUN: kiln-run-module --module=%t.vmfb --function=long_rows --input=2x32x131072xf32=2 --expected_output=2x32xf32=0 --expected_output=2x32xf32=0 --expected_output=2x32xf32=1
// RUN: kiln-run-module --module=%t.vmfb --function=long_products --input=4x33x65536xf32=0.5 --expected_output=4x33xf32=32768 --expected_output=4x33xf32=16384
// RUN: kiln-run-module --module=%t.vmfb --function=several_ends --input=100x8xf32=2 --expected_output=100xf32=2 --expected_output=100xf32=8 --expected_output=100xf32=0
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --compile-to=executable-targets %s | FileCheck %s --check-prefix=COUNT
// COUNT-LABEL: hal.executable.export public @several_ends_dispatch_0
// COUNT: hal.return %{{[0-9]+.*}}, %c1
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
// Attention with log-sum-exp: the matmul uses the exponentials before the sum becomes its logarithm.
func.func @log_sum_exp(%x: tensor<4x8xf32>, %v: tensor<8x2xf32>) -> (tensor<4x2xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %re = tensor.empty() : tensor<4xf32>
  %ee = tensor.empty() : tensor<4x8xf32>
  %oe = tensor.empty() : tensor<4x2xf32>
  %lows = linalg.fill ins(%low : f32) outs(%re : tensor<4xf32>) -> tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%re : tensor<4xf32>) -> tensor<4xf32>
  %out = linalg.fill ins(%zero : f32) outs(%oe : tensor<4x2xf32>) -> tensor<4x2xf32>
  %m = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%lows : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<4x8xf32>, tensor<4xf32>) outs(%ee : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %0 = math.exp %d : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%zeros : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %y = linalg.matmul ins(%p, %v : tensor<4x8xf32>, tensor<8x2xf32>) outs(%out : tensor<4x2xf32>) -> tensor<4x2xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]} ins(%s, %m : tensor<4xf32>, tensor<4xf32>) outs(%re : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.log %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %y, %l : tensor<4x2xf32>, tensor<4xf32>
}
#e3 = affine_map<(b, r, c) -> (b, r, c)>
#r3 = affine_map<(b, r, c) -> (b, r)>
// Rows so long that a worker has memory for few of them, kept for three reductions.
func.func @long_rows(%x: tensor<2x32x131072xf32>) -> (tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %re = tensor.empty() : tensor<2x32xf32>
  %ee = tensor.empty() : tensor<2x32x131072xf32>
  %lows = linalg.fill ins(%low : f32) outs(%re : tensor<2x32xf32>) -> tensor<2x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%re : tensor<2x32xf32>) -> tensor<2x32xf32>
  %ones = linalg.fill ins(%one : f32) outs(%re : tensor<2x32xf32>) -> tensor<2x32xf32>
  %m = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x32x131072xf32>) outs(%lows : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x32xf32>
  %d = linalg.generic {indexing_maps = [#e3, #r3, #e3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x32x131072xf32>, tensor<2x32xf32>) outs(%ee : tensor<2x32x131072xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2x32x131072xf32>
  %s = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d : tensor<2x32x131072xf32>) outs(%zeros : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x32xf32>
  %n = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d : tensor<2x32x131072xf32>) outs(%ones : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.minimumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x32xf32>
  %h = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d : tensor<2x32x131072xf32>) outs(%ones : tensor<2x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x32xf32>
  return %s, %n, %h : tensor<2x32xf32>, tensor<2x32xf32>, tensor<2x32xf32>
}
// Several operations end the dispatch and use what it stores, the maxima: workgroups still have rows of their own.
func.func @several_ends(%x: tensor<?x8xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %re = tensor.empty(%n) : tensor<?xf32>
  %ee = tensor.empty(%n) : tensor<?x8xf32>
  %lows = linalg.fill ins(%low : f32) outs(%re : tensor<?xf32>) -> tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%re : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%lows : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<?x8xf32>, tensor<?xf32>) outs(%ee : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %0 = math.exp %d : f32
    linalg.yield %0 : f32
  } -> tensor<?x8xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<?x8xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %h = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<?x8xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.minimumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %m, %s, %h : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// The row that is kept for a sum and for a sum of products is long.


func.func @long_products(%x: tensor<4x33x65536xf32>) -> (tensor<4x33xf32>, tensor<4x33xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<4x33xf32>
  %whole = tensor.empty() : tensor<4x33x65536xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<4x33xf32>) -> tensor<4x33xf32>
  %most = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x33x65536xf32>) outs(%init : tensor<4x33xf32>) {
  ^bb0(%a: f32, %m: f32):
    %r = arith.maximumf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x33xf32>
  %y = linalg.generic {indexing_maps = [#e3, #r3, #e3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %most : tensor<4x33x65536xf32>, tensor<4x33xf32>) outs(%whole : tensor<4x33x65536xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %r = arith.mulf %m, %m : f32
    %t = arith.addf %r, %r : f32
    %u = math.absf %a : f32
    %v = arith.maximumf %t, %u : f32
    linalg.yield %v : f32
  } -> tensor<4x33x65536xf32>
  %sum = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y : tensor<4x33x65536xf32>) outs(%init : tensor<4x33xf32>) {
  ^bb0(%a: f32, %s: f32):
    %r = arith.addf %a, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x33xf32>
  %products = linalg.generic {indexing_maps = [#e3, #e3, #r3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %x : tensor<4x33x65536xf32>, tensor<4x33x65536xf32>) outs(%init : tensor<4x33xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %p, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x33xf32>
  return %sum, %products : tensor<4x33xf32>, tensor<4x33xf32>
}
