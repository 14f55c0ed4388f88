// Products of weights, in the spellings that models have.
util.global private @w = #flow.parameter.named<"w"> : tensor<256x64xf32>
util.global private @wt = #flow.parameter.named<"wt"> : tensor<64x256xf32>
util.global private @square = #flow.parameter.named<"square"> : tensor<64x64xf32>
util.global private @odd = #flow.parameter.named<"odd"> : tensor<256x50xf32>
util.global private @words = #flow.parameter.named<"words"> : tensor<1030x64xf32>
util.global private @bias = #flow.parameter.named<"bias"> : tensor<64xf32>

#rows = affine_map<(m, n, k) -> (m, k)>
#result = affine_map<(m, n, k) -> (m, n)>

func.func @bias_and_relu(%x: tensor<16x256xf32>) -> tensor<16x64xf32> {
  %w = util.global.load @w : tensor<256x64xf32>
  %b = util.global.load @bias : tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x64xf32>) -> tensor<16x64xf32>
  %product = linalg.matmul ins(%x, %w : tensor<16x256xf32>, tensor<256x64xf32>) outs(%fill : tensor<16x64xf32>) -> tensor<16x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%product, %b : tensor<16x64xf32>, tensor<64xf32>) outs(%empty : tensor<16x64xf32>) {
  ^bb0(%p: f32, %c: f32, %o: f32):
    %s = arith.addf %p, %c : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// Each row of the weights is a column of the product.
func.func @transposed(%x: tensor<33x256xf32>) -> tensor<33x64xf32> {
  %w = util.global.load @wt : tensor<64x256xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<33x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<33x64xf32>) -> tensor<33x64xf32>
  %r = linalg.matmul indexing_maps = [#rows, affine_map<(m, n, k) -> (n, k)>, #result]
      ins(%x, %w : tensor<33x256xf32>, tensor<64x256xf32>) outs(%fill : tensor<33x64xf32>) -> tensor<33x64xf32>
  return %r : tensor<33x64xf32>
}

// What is added comes from the caller, the sums start with it, and the result is seen under another shape.
func.func @residual(%x: tensor<16x256xf32>, %y: tensor<16x64xf32>) -> (tensor<1x16x64xf32>, tensor<16x64xf32>) {
  %w = util.global.load @w : tensor<256x64xf32>
  %product = linalg.matmul ins(%x, %w : tensor<16x256xf32>, tensor<256x64xf32>) outs(%y : tensor<16x64xf32>) -> tensor<16x64xf32>
  %wide = tensor.expand_shape %product [[0, 1], [2]] output_shape [1, 16, 64] : tensor<16x64xf32> into tensor<1x16x64xf32>
  %z = tensor.expand_shape %y [[0, 1], [2]] output_shape [1, 16, 64] : tensor<16x64xf32> into tensor<1x16x64xf32>
  %sum = arith.addf %wide, %z : tensor<1x16x64xf32>
  %root = math.tanh %sum : tensor<1x16x64xf32>
  return %root, %product : tensor<1x16x64xf32>, tensor<16x64xf32>
}

func.func @loop(%x: tensor<16x64xf32>, %n: index) -> tensor<16x64xf32> {
  %w = util.global.load @square : tensor<64x64xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<16x64xf32> {
    %empty = tensor.empty() : tensor<16x64xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x64xf32>) -> tensor<16x64xf32>
    %product = linalg.matmul ins(%a, %w : tensor<16x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<16x64xf32>) -> tensor<16x64xf32>
    %next = math.tanh %product : tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  return %r : tensor<16x64xf32>
}

// Columns that do not fill panels, and rows that are too few for them, stay as they are.
func.func @odd_columns(%x: tensor<16x256xf32>) -> tensor<16x50xf32> {
  %w = util.global.load @odd : tensor<256x50xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x50xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x50xf32>) -> tensor<16x50xf32>
  %r = linalg.matmul ins(%x, %w : tensor<16x256xf32>, tensor<256x50xf32>) outs(%fill : tensor<16x50xf32>) -> tensor<16x50xf32>
  return %r : tensor<16x50xf32>
}
func.func @few(%x: tensor<2x256xf32>) -> tensor<2x64xf32> {
  %w = util.global.load @w : tensor<256x64xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x64xf32>) -> tensor<2x64xf32>
  %r = linalg.matmul ins(%x, %w : tensor<2x256xf32>, tensor<256x64xf32>) outs(%fill : tensor<2x64xf32>) -> tensor<2x64xf32>
  return %r : tensor<2x64xf32>
}

// A product of weights is the same in each call, also where only a branch needs it.
func.func @composed(%x: tensor<16x256xf32>, %y: tensor<16x64xf32>, %flag: i1) -> tensor<16x64xf32> {
  %w = util.global.load @w : tensor<256x64xf32>
  %square = util.global.load @square : tensor<64x64xf32>
  %zero = arith.constant 0.0 : f32
  %r = scf.if %flag -> tensor<16x64xf32> {
    %empty = tensor.empty() : tensor<256x64xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x64xf32>) -> tensor<256x64xf32>
    %both = linalg.matmul ins(%w, %square : tensor<256x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<256x64xf32>) -> tensor<256x64xf32>
    %few = tensor.empty() : tensor<16x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%few : tensor<16x64xf32>) -> tensor<16x64xf32>
    %product = linalg.matmul ins(%x, %both : tensor<16x256xf32>, tensor<256x64xf32>) outs(%start : tensor<16x64xf32>) -> tensor<16x64xf32>
    scf.yield %product : tensor<16x64xf32>
  } else {
    scf.yield %y : tensor<16x64xf32>
  }
  return %r : tensor<16x64xf32>
}

// What is multiplied is added as well: rows have no panels where they are multiplied.
func.func @to_itself(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %w = util.global.load @square : tensor<64x64xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x64xf32>) -> tensor<16x64xf32>
  %product = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x64xf32>) outs(%fill : tensor<16x64xf32>) -> tensor<16x64xf32>
  %r = linalg.add ins(%x, %product : tensor<16x64xf32>, tensor<16x64xf32>) outs(%empty : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// As many columns as a vocabulary has words, the last of which fill no panel, and the words are read elsewhere too.
func.func @all_words(%x: tensor<16x64xf32>) -> (tensor<16x1030xf32>, tensor<64xf32>) {
  %w = util.global.load @words : tensor<1030x64xf32>
  %turned = tensor.empty() : tensor<64x1030xf32>
  %wt = linalg.transpose ins(%w : tensor<1030x64xf32>) outs(%turned : tensor<64x1030xf32>) permutation = [1, 0]
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x1030xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x1030xf32>) -> tensor<16x1030xf32>
  %r = linalg.matmul ins(%x, %wt : tensor<16x64xf32>, tensor<64x1030xf32>) outs(%fill : tensor<16x1030xf32>) -> tensor<16x1030xf32>
  %word = tensor.extract_slice %w[1029, 0] [1, 64] [1, 1] : tensor<1030x64xf32> to tensor<64xf32>
  return %r, %word : tensor<16x1030xf32>, tensor<64xf32>
}

// Sums that go on from a tensor, and become a part of another one.
func.func @into_part(%x: tensor<16x64xf32>, %sum: tensor<16x64xf32>, %all: tensor<16x128xf32>) -> tensor<16x128xf32> {
  %w = util.global.load @square : tensor<64x64xf32>
  %p = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x64xf32>) outs(%sum : tensor<16x64xf32>) -> tensor<16x64xf32>
  %r = tensor.insert_slice %p into %all[0, 32] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<16x128xf32>
  return %r : tensor<16x128xf32>
}
