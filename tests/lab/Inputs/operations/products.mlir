// Operations that families know, and programs that are nearly such.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @plain(%a: tensor<33x64xf32>, %b: tensor<64x48xf32>) -> tensor<33x48xf32> {
  %zeros = arith.constant dense<0.0> : tensor<33x48xf32>
  %c = linalg.matmul ins(%a, %b : tensor<33x64xf32>, tensor<64x48xf32>) outs(%zeros : tensor<33x48xf32>) -> tensor<33x48xf32>
  return %c : tensor<33x48xf32>
}
func.func @transposed(%a: tensor<33x64xbf16>, %b: tensor<48x64xbf16>) -> tensor<33x48xf32> {
  %empty = tensor.empty() : tensor<64x48xbf16>
  %bt = linalg.transpose ins(%b : tensor<48x64xbf16>) outs(%empty : tensor<64x48xbf16>) permutation = [1, 0]
  %zeros = arith.constant dense<0.0> : tensor<33x48xf32>
  %c = linalg.matmul ins(%a, %bt : tensor<33x64xbf16>, tensor<64x48xbf16>) outs(%zeros : tensor<33x48xf32>) -> tensor<33x48xf32>
  return %c : tensor<33x48xf32>
}
func.func @layer(%a: tensor<33x64xf32>, %b: tensor<64x48xf32>, %bias: tensor<48xf32>) -> tensor<33x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<33x48xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<33x48xf32>) -> tensor<33x48xf32>
  %c = linalg.matmul ins(%a, %b : tensor<33x64xf32>, tensor<64x48xf32>) outs(%zeros : tensor<33x48xf32>) -> tensor<33x48xf32>
  %wide = linalg.broadcast ins(%bias : tensor<48xf32>) outs(%empty : tensor<33x48xf32>) dimensions = [0]
  %sum = linalg.add ins(%c, %wide : tensor<33x48xf32>, tensor<33x48xf32>) outs(%empty : tensor<33x48xf32>) -> tensor<33x48xf32>
  %relu = linalg.max ins(%sum, %zeros : tensor<33x48xf32>, tensor<33x48xf32>) outs(%empty : tensor<33x48xf32>) -> tensor<33x48xf32>
  return %relu : tensor<33x48xf32>
}
func.func @image(%i: tensor<1x9x9x4xf32>, %f: tensor<3x3x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<1x4x4x8xf32>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%i, %f : tensor<1x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%zeros : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %c : tensor<1x4x4x8xf32>
}
func.func @sums(%a: tensor<33x64xf32>) -> tensor<33xf32> {
  %zeros = arith.constant dense<0.0> : tensor<33xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<33x64xf32>) outs(%zeros : tensor<33xf32>) dimensions = [1]
  return %s : tensor<33xf32>
}
func.func @exponentials(%a: tensor<7x9xf32>) -> tensor<7x9xf32> {
  %e = math.exp %a : tensor<7x9xf32>
  return %e : tensor<7x9xf32>
}
func.func @swapped(%a: tensor<7x9xi8>) -> tensor<9x7xi8> {
  %empty = tensor.empty() : tensor<9x7xi8>
  %t = linalg.transpose ins(%a : tensor<7x9xi8>) outs(%empty : tensor<9x7xi8>) permutation = [1, 0]
  return %t : tensor<9x7xi8>
}

// From one on.
func.func @near_start(%a: tensor<33x64xf32>, %b: tensor<64x48xf32>) -> tensor<33x48xf32> {
  %ones = arith.constant dense<1.0> : tensor<33x48xf32>
  %c = linalg.matmul ins(%a, %b : tensor<33x64xf32>, tensor<64x48xf32>) outs(%ones : tensor<33x48xf32>) -> tensor<33x48xf32>
  return %c : tensor<33x48xf32>
}
// Rows of the result from columns of the left operand, columns from rows of it, too.
func.func @near_maps(%a: tensor<48x48xf32>, %b: tensor<48x48xf32>) -> tensor<48x48xf32> {
  %zeros = arith.constant dense<0.0> : tensor<48x48xf32>
  %c = linalg.generic {indexing_maps = [#mk, #nk, affine_map<(m, n, k) -> (n, m)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%b, %a : tensor<48x48xf32>, tensor<48x48xf32>) outs(%zeros : tensor<48x48xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %x : f32
    %q = arith.addf %p, %y : f32
    %t = arith.addf %q, %s : f32
    linalg.yield %t : f32
  } -> tensor<48x48xf32>
  return %c : tensor<48x48xf32>
}
func.func @near_body(%a: tensor<33x64xf32>, %b: tensor<64x48xf32>) -> tensor<33x48xf32> {
  %zeros = arith.constant dense<0.0> : tensor<33x48xf32>
  %c = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<33x64xf32>, tensor<64x48xf32>) outs(%zeros : tensor<33x48xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.subf %x, %y : f32
    %t = arith.addf %p, %s : f32
    linalg.yield %t : f32
  } -> tensor<33x48xf32>
  return %c : tensor<33x48xf32>
}
