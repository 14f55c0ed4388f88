// Networks of small convolutions, in the order that most frameworks have: channels before space. All numbers are small
// integers, so that sums are exact in any order.
util.global private @stem = #flow.parameter.named<"stem"> : tensor<32x3x3x3xf32>
util.global private @inner = #flow.parameter.named<"inner"> : tensor<32x32x3x3xf32>
util.global private @widen = #flow.parameter.named<"widen"> : tensor<64x32x1x1xf32>
util.global private @own = #flow.parameter.named<"own"> : tensor<32x3x3xf32>
util.global private @grouped = #flow.parameter.named<"grouped"> : tensor<4x16x8x3x3xf32>
util.global private @line = #flow.parameter.named<"line"> : tensor<24x16x3xf32>

#image = affine_map<(n, c, h, w) -> (n, c, h, w)>
#pooled = affine_map<(n, c, h, w, y, x) -> (n, c, h * 2 + y, w * 2 + x)>
#window = affine_map<(n, c, h, w, y, x) -> (y, x)>
#point = affine_map<(n, c, h, w, y, x) -> (n, c, h, w)>

// A strided convolution of three channels, a pool, a block with a shortcut, and the sums of all pixels.
func.func @residual(%x: tensor<2x3x33x33xf32>) -> (tensor<2x64xf32>, tensor<2x32x8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %stem = util.global.load @stem : tensor<32x3x3x3xf32>
  %inner = util.global.load @inner : tensor<32x32x3x3xf32>
  %widen = util.global.load @widen : tensor<64x32x1x1xf32>
  %e0 = tensor.empty() : tensor<2x32x16x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x32x16x16xf32>) -> tensor<2x32x16x16xf32>
  %c0 = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %stem : tensor<2x3x33x33xf32>, tensor<32x3x3x3xf32>) outs(%f0 : tensor<2x32x16x16xf32>) -> tensor<2x32x16x16xf32>
  %e1 = tensor.empty() : tensor<2x32x8x8xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %low = arith.constant -3.0e38 : f32
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
  %pool = linalg.generic {indexing_maps = [#pooled, #window, #point], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%c0, %w : tensor<2x32x16x16xf32>, tensor<2x2xf32>) outs(%f1 : tensor<2x32x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.maximumf %a, %out : f32
    linalg.yield %m : f32
  } -> tensor<2x32x8x8xf32>
  %padded = tensor.pad %pool low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x32x8x8xf32> to tensor<2x32x10x10xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%padded, %inner : tensor<2x32x10x10xf32>, tensor<32x32x3x3xf32>) outs(%f2 : tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
  %sum = linalg.generic {indexing_maps = [#image, #image, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c1, %pool : tensor<2x32x8x8xf32>, tensor<2x32x8x8xf32>) outs(%e1 : tensor<2x32x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x32x8x8xf32>
  %e3 = tensor.empty() : tensor<2x64x8x8xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x64x8x8xf32>) -> tensor<2x64x8x8xf32>
  %c3 = linalg.conv_2d_nchw_fchw ins(%sum, %widen : tensor<2x32x8x8xf32>, tensor<64x32x1x1xf32>) outs(%f3 : tensor<2x64x8x8xf32>) -> tensor<2x64x8x8xf32>
  %e4 = tensor.empty() : tensor<2x64xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<2x64xf32>) -> tensor<2x64xf32>
  %mean = linalg.generic {indexing_maps = [#image, affine_map<(n, c, h, w) -> (n, c)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%c3 : tensor<2x64x8x8xf32>) outs(%f4 : tensor<2x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<2x64xf32>
  return %mean, %sum : tensor<2x64xf32>, tensor<2x32x8x8xf32>
}

// Filters of one channel each, a gate for each channel, and both behind each other.
func.func @gated(%x: tensor<1x32x9x9xf32>, %gate: tensor<1x32x1x1xf32>) -> tensor<1x64x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %own = util.global.load @own : tensor<32x3x3xf32>
  %e = tensor.empty() : tensor<1x32x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%x, %own : tensor<1x32x9x9xf32>, tensor<32x3x3xf32>) outs(%f : tensor<1x32x7x7xf32>) -> tensor<1x32x7x7xf32>
  %g = linalg.generic {indexing_maps = [#image, affine_map<(n, c, h, w) -> (n, c, 0, 0)>, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%d, %gate : tensor<1x32x7x7xf32>, tensor<1x32x1x1xf32>) outs(%e : tensor<1x32x7x7xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x32x7x7xf32>
  %to = tensor.empty() : tensor<1x64x7x7xf32>
  %first = tensor.insert_slice %g into %to[0, 0, 0, 0] [1, 32, 7, 7] [1, 1, 1, 1] : tensor<1x32x7x7xf32> into tensor<1x64x7x7xf32>
  %both = tensor.insert_slice %d into %first[0, 32, 0, 0] [1, 32, 7, 7] [1, 1, 1, 1] : tensor<1x32x7x7xf32> into tensor<1x64x7x7xf32>
  return %both : tensor<1x64x7x7xf32>
}

// A batch that only the call knows; the image is turned by its indices in between.
func.func @batch(%x: tensor<?x32x6x6xf32>) -> tensor<?x32x2x2xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %inner = util.global.load @inner : tensor<32x32x3x3xf32>
  %n = tensor.dim %x, %c0 : tensor<?x32x6x6xf32>
  %e = tensor.empty(%n) : tensor<?x32x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x32x4x4xf32>) -> tensor<?x32x4x4xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %inner : tensor<?x32x6x6xf32>, tensor<32x32x3x3xf32>) outs(%f : tensor<?x32x4x4xf32>) -> tensor<?x32x4x4xf32>
  %turned = linalg.generic {indexing_maps = [#image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<?x32x4x4xf32>) {
  ^bb0(%out: f32):
    %b = linalg.index 0 : index
    %ch = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %back = arith.subi %c3, %w : index
    %element = tensor.extract %c[%b, %ch, %h, %back] : tensor<?x32x4x4xf32>
    linalg.yield %element : f32
  } -> tensor<?x32x4x4xf32>
  %e1 = tensor.empty(%n) : tensor<?x32x2x2xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x32x2x2xf32>) -> tensor<?x32x2x2xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%turned, %inner : tensor<?x32x4x4xf32>, tensor<32x32x3x3xf32>) outs(%f1 : tensor<?x32x2x2xf32>) -> tensor<?x32x2x2xf32>
  return %c1 : tensor<?x32x2x2xf32>
}

// Four groups, as exporters of other frameworks write them, and pixels that become a sequence.
func.func @groups(%x: tensor<1x4x8x6x6xf32>) -> tensor<1x16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %grouped = util.global.load @grouped : tensor<4x16x8x3x3xf32>
  %e = tensor.empty() : tensor<1x4x16x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x16x4x4xf32>) -> tensor<1x4x16x4x4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(n, g, f, h, w, c, y, x) -> (n, g, c, h + y, w + x)>, affine_map<(n, g, f, h, w, c, y, x) -> (g, f, c, y, x)>, affine_map<(n, g, f, h, w, c, y, x) -> (n, g, f, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %grouped : tensor<1x4x8x6x6xf32>, tensor<4x16x8x3x3xf32>) outs(%f : tensor<1x4x16x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x4x16x4x4xf32>
  %image = tensor.collapse_shape %c [[0], [1, 2], [3, 4]] : tensor<1x4x16x4x4xf32> into tensor<1x64x16xf32>
  %to = tensor.empty() : tensor<1x16x64xf32>
  %rows = linalg.transpose ins(%image : tensor<1x64x16xf32>) outs(%to : tensor<1x16x64xf32>) permutation = [0, 2, 1]
  return %rows : tensor<1x16x64xf32>
}

// A signal of one dimension.
func.func @signal(%x: tensor<1x16x50xf32>) -> tensor<1x24x48xf32> {
  %zero = arith.constant 0.0 : f32
  %line = util.global.load @line : tensor<24x16x3xf32>
  %e = tensor.empty() : tensor<1x24x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x24x48xf32>) -> tensor<1x24x48xf32>
  %c = linalg.conv_1d_ncw_fcw ins(%x, %line : tensor<1x16x50xf32>, tensor<24x16x3xf32>) outs(%f : tensor<1x24x48xf32>) -> tensor<1x24x48xf32>
  return %c : tensor<1x24x48xf32>
}

// A pool whose padding is of extents that only the call knows.
func.func @pool_of_call(%x: tensor<?x4x9x?xf32>) -> tensor<?x4x9x?xf32> {
  %low = arith.constant -3.0e38 : f32
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %low : f32
  } : tensor<?x4x9x?xf32> to tensor<?x4x11x?xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %n = tensor.dim %x, %c0 : tensor<?x4x9x?xf32>
  %m = tensor.dim %x, %c3 : tensor<?x4x9x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x4x9x?xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?x4x9x?xf32>) -> tensor<?x4x9x?xf32>
  %r = linalg.pooling_nchw_max ins(%padded, %w : tensor<?x4x11x?xf32>, tensor<3x3xf32>) outs(%f : tensor<?x4x9x?xf32>) -> tensor<?x4x9x?xf32>
  return %r : tensor<?x4x9x?xf32>
}
