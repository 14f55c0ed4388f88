// What the modules of this folder were compiled from: a little of all that a module has. Each must run for ever.

// Dispatches with fused producers and consumers, push constants for dynamic shapes, a constant of the module.
func.func @dense(%x: tensor<?x24xf32>) -> tensor<?x10xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %w = arith.constant dense<0.25> : tensor<24x10xf32>
  %bias = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<10xf32>
  %m = tensor.dim %x, %c0 : tensor<?x24xf32>
  %empty = tensor.empty(%m) : tensor<?x10xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x10xf32>) -> tensor<?x10xf32>
  %product = linalg.matmul ins(%x, %w : tensor<?x24xf32>, tensor<24x10xf32>) outs(%init : tensor<?x10xf32>)
    -> tensor<?x10xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                             affine_map<(i, j) -> (i, j)>],
                            iterator_types = ["parallel", "parallel"]}
    ins(%product, %bias : tensor<?x10xf32>, tensor<10xf32>) outs(%empty : tensor<?x10xf32>) {
  ^bb0(%p: f32, %b: f32, %o: f32):
    %sum = arith.addf %p, %b : f32
    %scaled = arith.mulf %sum, %half : f32
    linalg.yield %scaled : f32
  } -> tensor<?x10xf32>
  return %result : tensor<?x10xf32>
}

// Mathematics, reductions, local memory.
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %empty = tensor.empty() : tensor<4x8xf32>
  %result = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %result : tensor<4x8xf32>
}

// Loops and branches of the host program, calls, scalars in and out.
func.func private @step(%x: tensor<4xi32>, %by: i32) -> tensor<4xi32> {
  %empty = tensor.empty() : tensor<4xi32>
  %result = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                            iterator_types = ["parallel"]}
    ins(%x : tensor<4xi32>) outs(%empty : tensor<4xi32>) {
  ^bb0(%e: i32, %o: i32):
    %next = arith.addi %e, %by : i32
    linalg.yield %next : i32
  } -> tensor<4xi32>
  return %result : tensor<4xi32>
}
func.func @loop(%x: tensor<4xi32>, %times: index) -> (tensor<4xi32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %result:2 = scf.for %i = %c0 to %times step %c1 iter_args(%value = %x, %count = %zero) -> (tensor<4xi32>, i32) {
    %next = func.call @step(%value, %count) : (tensor<4xi32>, i32) -> tensor<4xi32>
    %more = arith.addi %count, %one : i32
    scf.yield %next, %more : tensor<4xi32>, i32
  }
  return %result#0, %result#1 : tensor<4xi32>, i32
}

// Copies of parts, fills, narrow types.
func.func @parts(%x: tensor<3x5xf16>) -> tensor<5x7xf16> {
  %pad = arith.constant 1.0 : f16
  %result = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %pad : f16
  } : tensor<3x5xf16> to tensor<5x7xf16>
  return %result : tensor<5x7xf16>
}

// An assertion within a dispatch, which fails with its message.
func.func @checked(%x: tensor<4xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %hundred = arith.constant 100 : i32
  %empty = tensor.empty() : tensor<4xi32>
  %result = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                            iterator_types = ["parallel"]}
    ins(%x : tensor<4xi32>) outs(%empty : tensor<4xi32>) {
  ^bb0(%e: i32, %o: i32):
    %isPositive = arith.cmpi sgt, %e, %zero : i32
    cf.assert %isPositive, "an element must be positive"
    %quotient = arith.divsi %hundred, %e : i32
    linalg.yield %quotient : i32
  } -> tensor<4xi32>
  return %result : tensor<4xi32>
}
