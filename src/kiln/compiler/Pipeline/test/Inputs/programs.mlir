// Programs that together pass through everything that the phases do: control flow on the host, constants, calls, several
// results, dynamic shapes, scalars, reductions with epilogues.
func.func private @helper(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.exp %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @loop(%a: tensor<16xf32>, %n: index) -> (tensor<16xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<16xf32> {
    %y = arith.addf %x, %a : tensor<16xf32>
    scf.yield %y : tensor<16xf32>
  }
  %e = tensor.extract %r[%c1] : tensor<16xf32>
  return %r, %e : tensor<16xf32>, f32
}

func.func @double_until(%a: tensor<f32>, %limit: f32) -> tensor<f32> {
  %r = scf.while (%x = %a) : (tensor<f32>) -> tensor<f32> {
    %v = tensor.extract %x[] : tensor<f32>
    %c = arith.cmpf olt, %v, %limit : f32
    scf.condition(%c) %x : tensor<f32>
  } do {
  ^bb0(%x: tensor<f32>):
    %y = arith.addf %x, %x : tensor<f32>
    scf.yield %y : tensor<f32>
  }
  return %r : tensor<f32>
}

func.func @many_results(%a: tensor<4xf32>, %b: tensor<?xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<2x2xf32>) {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %s = arith.addf %a, %c : tensor<4xf32>
  %h = call @helper(%b) : (tensor<?xf32>) -> tensor<?xf32>
  %r = tensor.expand_shape %s [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %s, %c, %a, %h, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>, tensor<2x2xf32>
}

func.func @choose(%c: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %y = arith.addf %a, %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @scalars(%a: i32, %b: i64, %c: f32, %d: index, %e: i8) -> (i32, i64, f32, index, i8) {
  %0 = arith.addi %a, %a : i32
  %1 = arith.muli %b, %b : i64
  %2 = math.sqrt %c : f32
  %3 = arith.addi %d, %d : index
  %4 = arith.addi %e, %e : i8
  return %0, %1, %2, %3, %4 : i32, i64, f32, index, i8
}

func.func @chain(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = linalg.matmul ins(%1, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = arith.addf %2, %a : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}
