// Functions of one group, the name up to the first dot, compute the same; those called other do not, and of those
// called none nothing can be told.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @"matmul.named"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @"matmul.constant"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
// Loops, operands and factors in another order.
func.func @"matmul.generic"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(k, n, m) -> (k, n)>, affine_map<(k, n, m) -> (m, k)>,
                                        affine_map<(k, n, m) -> (m, n)>],
                       iterator_types = ["reduction", "parallel", "parallel"]}
    ins(%b, %a : tensor<6x8xf32>, tensor<4x6xf32>) outs(%init : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %p, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func private @product(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
func.func @"matmul.call"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = call @product(%a, %b, %init) : (tensor<4x6xf32>, tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
// The result transposed twice, and a shape that is taken apart and put together.
func.func @"matmul.transposed_twice"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %wide = tensor.expand_shape %a [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %same = tensor.collapse_shape %wide [[0], [1, 2]] : tensor<4x2x3xf32> into tensor<4x6xf32>
  %e = tensor.empty() : tensor<8x6xf32>
  %bt = linalg.transpose ins(%b : tensor<6x8xf32>) outs(%e : tensor<8x6xf32>) permutation = [1, 0]
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%same, %bt : tensor<4x6xf32>, tensor<8x6xf32>)
    outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @"matmul.other_start"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %init = arith.constant dense<1.0> : tensor<4x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @"matmul.other_sign_of_zero"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %init = arith.constant dense<-0.0> : tensor<4x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @"matmul.other_body"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%init : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.subf %x, %y : f32
    %t = arith.addf %p, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @"matmul.other_rounding"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%init : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %narrow = arith.truncf %p : f32 to bf16
    %wide = arith.extf %narrow : bf16 to f32
    %t = arith.addf %wide, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// Of square matrices: which is which, and how it lies.
func.func @"square.named"(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %init = arith.constant dense<0.0> : tensor<8x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}
func.func @"square.other_arguments"(%b: tensor<8x8xf32>, %a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %init = arith.constant dense<0.0> : tensor<8x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}
func.func @"square.other_layout"(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %init = arith.constant dense<0.0> : tensor<8x8xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>)
    outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}
// Twice the same matrix.
func.func @"square.other_square"(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %init = arith.constant dense<0.0> : tensor<8x8xf32>
  %c = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

func.func @"nt.maps"(%a: tensor<4x6xf16>, %b: tensor<8x6xf16>) -> tensor<4x8xf32> {
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<4x6xf16>, tensor<8x6xf16>)
    outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @"nt.transpose"(%a: tensor<4x6xf16>, %b: tensor<8x6xf16>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<6x8xf16>
  %bt = linalg.transpose ins(%b : tensor<8x6xf16>) outs(%e : tensor<6x8xf16>) permutation = [1, 0]
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = linalg.matmul ins(%a, %bt : tensor<4x6xf16>, tensor<6x8xf16>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @"nt.widened_first"(%a: tensor<4x6xf16>, %b: tensor<8x6xf16>) -> tensor<4x8xf32> {
  %x = arith.extf %a : tensor<4x6xf16> to tensor<4x6xf32>
  %y = arith.extf %b : tensor<8x6xf16> to tensor<8x6xf32>
  %init = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %y : tensor<4x6xf32>, tensor<8x6xf32>)
    outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

func.func @"relu.maximum"(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %s = arith.addf %x, %y : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func @"relu.broadcast_select"(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %bias = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
  %s = linalg.add ins(%bias, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %positive = arith.cmpf ugt, %s, %zero : tensor<4x8xf32>
  %r = arith.select %positive, %s, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
// Without its NaN.
func.func @"relu.other_comparison"(%a: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %bias = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
  %s = linalg.add ins(%bias, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %positive = arith.cmpf ogt, %s, %zero : tensor<4x8xf32>
  %r = arith.select %positive, %s, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

func.func @"conv.named"(%i: tensor<1x8x8x3xf32>, %f: tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32> {
  %init = arith.constant dense<0.0> : tensor<1x6x6x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%i, %f : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%init : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %r : tensor<1x6x6x4xf32>
}
// Its reductions in another order.
func.func @"conv.generic"(%i: tensor<1x8x8x3xf32>, %f: tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32> {
  %init = arith.constant dense<0.0> : tensor<1x6x6x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, s, n, y, x, o, r) -> (n, y + r, x + s, c)>,
                                        affine_map<(c, s, n, y, x, o, r) -> (r, s, c, o)>,
                                        affine_map<(c, s, n, y, x, o, r) -> (n, y, x, o)>],
                       iterator_types = ["reduction", "reduction", "parallel", "parallel", "parallel", "parallel",
                                         "reduction"]}
    ins(%i, %f : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%init : tensor<1x6x6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x6x6x4xf32>
  return %r : tensor<1x6x6x4xf32>
}
// The filter's pixels the other way round.
func.func @"conv.other_window"(%i: tensor<1x8x8x3xf32>, %f: tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32> {
  %init = arith.constant dense<0.0> : tensor<1x6x6x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, y, x, o, r, s, c) -> (n, y + r, x + s, c)>,
                                        affine_map<(n, y, x, o, r, s, c) -> (s, r, c, o)>,
                                        affine_map<(n, y, x, o, r, s, c) -> (n, y, x, o)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction",
                                         "reduction"]}
    ins(%i, %f : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%init : tensor<1x6x6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x6x6x4xf32>
  return %r : tensor<1x6x6x4xf32>
}

// What an output held, open shapes, control flow, tables of numbers.
func.func @"none.uninitialized"(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %init = tensor.empty() : tensor<4x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}
func.func @"none.open"(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.exp %a : tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @"none.table"(%a: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = arith.addf %a, %c : tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @"none.loop"(%a: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %r = scf.for %i = %zero to %ten step %one iter_args(%s = %a) -> tensor<2xf32> {
    %t = arith.addf %s, %a : tensor<2xf32>
    scf.yield %t : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
