// Replaced are FORMAT, LARGEST, the bits of its largest number, and MIDDLE, which of two neighbours their middle becomes.

func.func @same(%a: tensor<256xFORMAT>) -> tensor<256xFORMAT> {
  return %a : tensor<256xFORMAT>
}
func.func @extend(%a: tensor<256xFORMAT>) -> tensor<256xf32> {
  %0 = arith.extf %a : tensor<256xFORMAT> to tensor<256xf32>
  return %0 : tensor<256xf32>
}
func.func @round(%a: tensor<?xf32>) -> tensor<?xFORMAT> {
  %0 = arith.truncf %a : tensor<?xf32> to tensor<?xFORMAT>
  return %0 : tensor<?xFORMAT>
}
func.func @round_f64(%a: tensor<?xf64>) -> tensor<?xFORMAT> {
  %0 = arith.truncf %a : tensor<?xf64> to tensor<?xFORMAT>
  return %0 : tensor<?xFORMAT>
}

// Of each pair of neighbours: what the middle rounds to, and the numbers of f32 next to it.
func.func @middles() -> (i32, i32, i32) {
  %n = arith.constant LARGEST : index
  %empty = tensor.empty(%n) : tensor<?xi32>
  %0:3 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      outs(%empty, %empty, %empty : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  ^bb0(%o0: i32, %o1: i32, %o2: i32):
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : i8
    %c1 = arith.constant 1 : i32
    %half = arith.constant 0.5 : f32
    %i = linalg.index 0 : index
    %low = arith.index_cast %i : index to i8
    %high = arith.addi %low, %one : i8
    %a = arith.bitcast %low : i8 to FORMAT
    %b = arith.bitcast %high : i8 to FORMAT
    %x = arith.extf %a : FORMAT to f32
    %y = arith.extf %b : FORMAT to f32
    %sum = arith.addf %x, %y : f32
    %middle = arith.mulf %sum, %half : f32
    %bits = arith.bitcast %middle : f32 to i32
    %below_bits = arith.subi %bits, %c1 : i32
    %above_bits = arith.addi %bits, %c1 : i32
    %below = arith.bitcast %below_bits : i32 to f32
    %above = arith.bitcast %above_bits : i32 to f32
    %rounded = arith.truncf %middle : f32 to FORMAT
    %rounded_below = arith.truncf %below : f32 to FORMAT
    %rounded_above = arith.truncf %above : f32 to FORMAT
    %r0 = arith.bitcast %rounded : FORMAT to i8
    %r1 = arith.bitcast %rounded_below : FORMAT to i8
    %r2 = arith.bitcast %rounded_above : FORMAT to i8
    %odd = arith.andi %low, %one : i8
    %even = arith.addi %low, %odd : i8
    %wrong0 = arith.cmpi ne, %r0, %MIDDLE : i8
    %wrong1 = arith.cmpi ne, %r1, %low : i8
    %wrong2 = arith.cmpi ne, %r2, %high : i8
    %w0 = arith.extui %wrong0 : i1 to i32
    %w1 = arith.extui %wrong1 : i1 to i32
    %w2 = arith.extui %wrong2 : i1 to i32
    linalg.yield %w0, %w1, %w2 : i32, i32, i32
  } -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>)
  %s0 = call @count(%0#0) : (tensor<?xi32>) -> i32
  %s1 = call @count(%0#1) : (tensor<?xi32>) -> i32
  %s2 = call @count(%0#2) : (tensor<?xi32>) -> i32
  return %s0, %s1, %s2 : i32, i32, i32
}
func.func private @count(%a: tensor<?xi32>) -> i32 {
  %zero = arith.constant dense<0> : tensor<i32>
  %0 = linalg.reduce ins(%a : tensor<?xi32>) outs(%zero : tensor<i32>) dimensions = [0]
    (%x: i32, %y: i32) {
      %1 = arith.addi %x, %y : i32
      linalg.yield %1 : i32
    }
  %2 = tensor.extract %0[] : tensor<i32>
  return %2 : i32
}
