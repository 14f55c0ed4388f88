// Parts of a program on the second device of the session, or in queues of the first.

func.func private @elsewhere(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32>
    attributes {stream.affinity = #hal.device.affinity<@__device_1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%clear : tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%0, %one : tensor<?x16xf32>, tensor<16xf32>) outs(%empty : tensor<?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}

// One layer on each device, and the first one's weights for both.
func.func @layers(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> (tensor<?x16xf32>, f32) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %empty = tensor.empty(%n) : tensor<?x16xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x16xf32>) -> tensor<?x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%clear : tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = func.call @elsewhere(%0, %w) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<?x16xf32>, tensor<16x16xf32>) outs(%clear : tensor<?x16xf32>) -> tensor<?x16xf32>
  %first = tensor.extract %1[%c0, %c0] : tensor<?x16xf32>
  return %2, %first : tensor<?x16xf32>, f32
}

// In each turn one half of the work on each device.
func.func @turns(%x: tensor<8xf32>, %turns: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %turns step %c1 iter_args(%t = %x) -> tensor<8xf32> {
    %1 = arith.addf %t, %t {stream.affinity = #hal.device.promise<@__device_1>} : tensor<8xf32>
    %2 = arith.mulf %t, %x : tensor<8xf32>
    %3 = arith.subf %1, %2 : tensor<8xf32>
    scf.yield %3 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// Two products that do not depend on each other, each in a queue of its own, and what needs both.
func.func @queues(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul {stream.affinity = #hal.device.affinity<@__device_0, [0]>}
      ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%clear : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul {stream.affinity = #hal.device.affinity<@__device_0, [1]>}
      ins(%b, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%clear : tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = arith.addf %0, %1 : tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// The same in each turn of a loop.
func.func @queues_in_turns(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %turns: index) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %turns step %c1 iter_args(%t = %a) -> tensor<16x16xf32> {
    %1 = func.call @queues(%t, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.yield %1 : tensor<16x16xf32>
  }
  return %0 : tensor<16x16xf32>
}

// All on the second device, written as a transfer.
func.func @moved(%x: tensor<4xi1>, %y: tensor<4xf16>) -> (tensor<4xi1>, tensor<4xf16>) {
  %0 = flow.tensor.transfer %x : tensor<4xi1> to #hal.device.affinity<@__device_1>
  %1 = flow.tensor.transfer %y : tensor<4xf16> to #hal.device.affinity<@__device_1>
  %2:2 = scf.execute_region -> (tensor<4xi1>, tensor<4xf16>) {
    %3 = arith.xori %0, %0 {stream.affinity = #hal.device.affinity<@__device_1>} : tensor<4xi1>
    %4 = arith.mulf %1, %1 {stream.affinity = #hal.device.affinity<@__device_1>} : tensor<4xf16>
    scf.yield %3, %4 : tensor<4xi1>, tensor<4xf16>
  }
  return %2#0, %2#1 : tensor<4xi1>, tensor<4xf16>
}

func.func @constants(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %zero = arith.subi %a, %a : tensor<4xi32>
  %elsewhere = arith.maxsi %zero, %zero {stream.affinity = #hal.device.affinity<@__device_1>} : tensor<4xi32>
  %sum = arith.addi %elsewhere, %a : tensor<4xi32>
  return %elsewhere, %sum : tensor<4xi32>, tensor<4xi32>
}

// Operations that are lowered after their places are known, some of what nothing is given to.
func.func @stablehlo(%x: tensor<4xf32>, %at: tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
    attributes {stream.affinity = #hal.device.affinity<@__device_1>} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %places = stablehlo.iota dim = 0 : tensor<4xf32>
  %0 = stablehlo.add %x, %places : tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  %sum = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %empty = tensor.empty() : tensor<4xf32>
  %2 = stablehlo.add %x, %two : tensor<4xf32>
  %3 = stablehlo.add %2, %0 : tensor<4xf32>
  %4 = iree_linalg_ext.gather dimension_map = [0]
      ins(%3, %at : tensor<4xf32>, tensor<4xi32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %sum, %4 : tensor<f32>, tensor<4xf32>
}
