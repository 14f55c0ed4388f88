// What a step of Stable Diffusion XL does, with its six inputs and with parts of each kind that its UNet has, of few channels: latents
// for the prompt and for none, convolutions, embeddings of the time, the pooled text and the sizes, attention to the text, and
// guidance. Weights are parameters.
#nchw = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (n, c)>
#tokens = affine_map<(b, t, c) -> (b, t, c)>
util.global private @conv_in = #flow.parameter.named<"model"::"conv_in.weight"> : tensor<16x4x3x3xf16>
util.global private @add_text = #flow.parameter.named<"model"::"add_embedding.text"> : tensor<1280x16xf16>
util.global private @add_sizes = #flow.parameter.named<"model"::"add_embedding.sizes"> : tensor<6x16xf16>
util.global private @add_time = #flow.parameter.named<"model"::"time_embedding"> : tensor<16xf16>
util.global private @down = #flow.parameter.named<"model"::"down.weight"> : tensor<32x16x8x8xf16>
util.global private @to_q = #flow.parameter.named<"model"::"attn2.to_q.weight"> : tensor<32x32xf16>
util.global private @to_k = #flow.parameter.named<"model"::"attn2.to_k.weight"> : tensor<2048x32xf16>
util.global private @to_v = #flow.parameter.named<"model"::"attn2.to_v.weight"> : tensor<2048x32xf16>
util.global private @to_out = #flow.parameter.named<"model"::"attn2.to_out.weight"> : tensor<32x16xf16>
util.global private @conv_out = #flow.parameter.named<"model"::"conv_out.weight"> : tensor<4x16x3x3xf16>

func.func @main(%latents: tensor<1x4x128x128xf16>, %timestep: tensor<1xi64>, %text: tensor<2x64x2048xf16>, %pooled: tensor<2x1280xf16>,
                %sizes: tensor<2x6xf16>, %guidance: tensor<1xf16>) -> tensor<1x4x128x128xf16> {
  %zero = arith.constant 0.0 : f16
  %zero32 = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index

  // Twice, once for no prompt.
  %both = tensor.concat dim(0) %latents, %latents : (tensor<1x4x128x128xf16>, tensor<1x4x128x128xf16>) -> tensor<2x4x128x128xf16>
  %padded = tensor.pad %both low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f16
  } : tensor<2x4x128x128xf16> to tensor<2x4x130x130xf16>
  %w_in = util.global.load @conv_in : tensor<16x4x3x3xf16>
  %image_empty = tensor.empty() : tensor<2x16x128x128xf16>
  %image_zero = linalg.fill ins(%zero : f16) outs(%image_empty : tensor<2x16x128x128xf16>) -> tensor<2x16x128x128xf16>
  %image = linalg.conv_2d_nchw_fchw ins(%padded, %w_in : tensor<2x4x130x130xf16>, tensor<16x4x3x3xf16>)
    outs(%image_zero : tensor<2x16x128x128xf16>) -> tensor<2x16x128x128xf16>

  // The embedding of time, text and sizes.
  %w_text = util.global.load @add_text : tensor<1280x16xf16>
  %w_sizes = util.global.load @add_sizes : tensor<6x16xf16>
  %w_time = util.global.load @add_time : tensor<16xf16>
  %row_empty = tensor.empty() : tensor<2x16xf16>
  %row_zero = linalg.fill ins(%zero : f16) outs(%row_empty : tensor<2x16xf16>) -> tensor<2x16xf16>
  %of_text = linalg.matmul ins(%pooled, %w_text : tensor<2x1280xf16>, tensor<1280x16xf16>) outs(%row_zero : tensor<2x16xf16>) -> tensor<2x16xf16>
  %of_sizes = linalg.matmul ins(%sizes, %w_sizes : tensor<2x6xf16>, tensor<6x16xf16>) outs(%of_text : tensor<2x16xf16>) -> tensor<2x16xf16>
  %embedding = linalg.generic {indexing_maps = [affine_map<(b, c) -> (b, c)>, affine_map<(b, c) -> (c)>, affine_map<(b, c) -> (0)>, affine_map<(b, c) -> (b, c)>],
                               iterator_types = ["parallel", "parallel"]}
      ins(%of_sizes, %w_time, %timestep : tensor<2x16xf16>, tensor<16xf16>, tensor<1xi64>) outs(%row_empty : tensor<2x16xf16>) {
  ^bb0(%x: f16, %w: f16, %t: i64, %o: f16):
    %step = arith.sitofp %t : i64 to f16
    %scaled = arith.mulf %step, %w : f16
    %sum = arith.addf %x, %scaled : f16
    linalg.yield %sum : f16
  } -> tensor<2x16xf16>
  %h = linalg.generic {indexing_maps = [#nchw, #channel, #nchw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%image, %embedding : tensor<2x16x128x128xf16>, tensor<2x16xf16>) outs(%image_empty : tensor<2x16x128x128xf16>) {
  ^bb0(%x: f16, %e: f16, %o: f16):
    %sum = arith.addf %x, %e : f16
    linalg.yield %sum : f16
  } -> tensor<2x16x128x128xf16>

  // Attention of each of 16x16 places to the text.
  %w_down = util.global.load @down : tensor<32x16x8x8xf16>
  %small_empty = tensor.empty() : tensor<2x32x16x16xf16>
  %small_zero = linalg.fill ins(%zero : f16) outs(%small_empty : tensor<2x32x16x16xf16>) -> tensor<2x32x16x16xf16>
  %small = linalg.conv_2d_nchw_fchw {strides = dense<8> : tensor<2xi64>} ins(%h, %w_down : tensor<2x16x128x128xf16>, tensor<32x16x8x8xf16>)
    outs(%small_zero : tensor<2x32x16x16xf16>) -> tensor<2x32x16x16xf16>
  %places = tensor.collapse_shape %small [[0], [1], [2, 3]] : tensor<2x32x16x16xf16> into tensor<2x32x256xf16>
  %tokens_empty = tensor.empty() : tensor<2x256x32xf16>
  %tokens = linalg.transpose ins(%places : tensor<2x32x256xf16>) outs(%tokens_empty : tensor<2x256x32xf16>) permutation = [0, 2, 1]
  %rows = tensor.collapse_shape %tokens [[0, 1], [2]] : tensor<2x256x32xf16> into tensor<512x32xf16>
  %text_rows = tensor.collapse_shape %text [[0, 1], [2]] : tensor<2x64x2048xf16> into tensor<128x2048xf16>
  %w_q = util.global.load @to_q : tensor<32x32xf16>
  %w_k = util.global.load @to_k : tensor<2048x32xf16>
  %w_v = util.global.load @to_v : tensor<2048x32xf16>
  %w_o = util.global.load @to_out : tensor<32x16xf16>
  %q_empty = tensor.empty() : tensor<512x32xf16>
  %q_zero = linalg.fill ins(%zero : f16) outs(%q_empty : tensor<512x32xf16>) -> tensor<512x32xf16>
  %kv_empty = tensor.empty() : tensor<128x32xf16>
  %kv_zero = linalg.fill ins(%zero : f16) outs(%kv_empty : tensor<128x32xf16>) -> tensor<128x32xf16>
  %q_rows = linalg.matmul ins(%rows, %w_q : tensor<512x32xf16>, tensor<32x32xf16>) outs(%q_zero : tensor<512x32xf16>) -> tensor<512x32xf16>
  %k_rows = linalg.matmul ins(%text_rows, %w_k : tensor<128x2048xf16>, tensor<2048x32xf16>) outs(%kv_zero : tensor<128x32xf16>) -> tensor<128x32xf16>
  %v_rows = linalg.matmul ins(%text_rows, %w_v : tensor<128x2048xf16>, tensor<2048x32xf16>) outs(%kv_zero : tensor<128x32xf16>) -> tensor<128x32xf16>
  %q = tensor.expand_shape %q_rows [[0, 1], [2]] output_shape [2, 256, 32] : tensor<512x32xf16> into tensor<2x256x32xf16>
  %k = tensor.expand_shape %k_rows [[0, 1], [2]] output_shape [2, 64, 32] : tensor<128x32xf16> into tensor<2x64x32xf16>
  %v = tensor.expand_shape %v_rows [[0, 1], [2]] output_shape [2, 64, 32] : tensor<128x32xf16> into tensor<2x64x32xf16>
  %scores_empty = tensor.empty() : tensor<2x256x64xf32>
  %scores_zero = linalg.fill ins(%zero32 : f32) outs(%scores_empty : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(b, i, j, c) -> (b, i, c)>, affine_map<(b, i, j, c) -> (b, j, c)>, affine_map<(b, i, j, c) -> (b, i, j)>],
                            iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x256x32xf16>, tensor<2x64x32xf16>) outs(%scores_zero : tensor<2x256x64xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %product = arith.mulf %xw, %yw : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<2x256x64xf32>
  %scaled_scores = linalg.generic {indexing_maps = [#tokens, #tokens], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<2x256x64xf32>) outs(%scores_empty : tensor<2x256x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %scale = arith.constant 0.176776695 : f32
    %product = arith.mulf %x, %scale : f32
    linalg.yield %product : f32
  } -> tensor<2x256x64xf32>
  %weights32 = linalg.softmax dimension(2) ins(%scaled_scores : tensor<2x256x64xf32>) outs(%scores_empty : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %weights_empty = tensor.empty() : tensor<2x256x64xf16>
  %weights = linalg.generic {indexing_maps = [#tokens, #tokens], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%weights32 : tensor<2x256x64xf32>) outs(%weights_empty : tensor<2x256x64xf16>) {
  ^bb0(%x: f32, %o: f16):
    %narrow = arith.truncf %x : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2x256x64xf16>
  %seen_zero = linalg.fill ins(%zero : f16) outs(%tokens_empty : tensor<2x256x32xf16>) -> tensor<2x256x32xf16>
  %seen = linalg.batch_matmul ins(%weights, %v : tensor<2x256x64xf16>, tensor<2x64x32xf16>) outs(%seen_zero : tensor<2x256x32xf16>) -> tensor<2x256x32xf16>
  %seen_rows = tensor.collapse_shape %seen [[0, 1], [2]] : tensor<2x256x32xf16> into tensor<512x32xf16>
  %out_empty = tensor.empty() : tensor<512x16xf16>
  %out_zero = linalg.fill ins(%zero : f16) outs(%out_empty : tensor<512x16xf16>) -> tensor<512x16xf16>
  %out_rows = linalg.matmul ins(%seen_rows, %w_o : tensor<512x32xf16>, tensor<32x16xf16>) outs(%out_zero : tensor<512x16xf16>) -> tensor<512x16xf16>
  %told = tensor.expand_shape %out_rows [[0, 1, 2], [3]] output_shape [2, 16, 16, 16] : tensor<512x16xf16> into tensor<2x16x16x16xf16>

  // Back to all pixels, where it is added: 2 x 16 channels x (16 x 8) x (16 x 8).
  %h_blocks = tensor.expand_shape %h [[0], [1], [2, 3], [4, 5]] output_shape [2, 16, 16, 8, 16, 8] : tensor<2x16x128x128xf16> into tensor<2x16x16x8x16x8xf16>
  %blocks_empty = tensor.empty() : tensor<2x16x16x8x16x8xf16>
  %joined_blocks = linalg.generic {indexing_maps = [affine_map<(n, c, y, i, x, j) -> (n, c, y, i, x, j)>, affine_map<(n, c, y, i, x, j) -> (n, y, x, c)>,
                                                    affine_map<(n, c, y, i, x, j) -> (n, c, y, i, x, j)>],
                                   iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%h_blocks, %told : tensor<2x16x16x8x16x8xf16>, tensor<2x16x16x16xf16>) outs(%blocks_empty : tensor<2x16x16x8x16x8xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %sum = arith.addf %x, %y : f16
    %wide = arith.extf %sum : f16 to f32
    %negative = arith.negf %wide : f32
    %exp = math.exp %negative : f32
    %one = arith.constant 1.0 : f32
    %denominator = arith.addf %exp, %one : f32
    %silu = arith.divf %wide, %denominator : f32
    %narrow = arith.truncf %silu : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2x16x16x8x16x8xf16>
  %joined = tensor.collapse_shape %joined_blocks [[0], [1], [2, 3], [4, 5]] : tensor<2x16x16x8x16x8xf16> into tensor<2x16x128x128xf16>
  %joined_padded = tensor.pad %joined low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f16
  } : tensor<2x16x128x128xf16> to tensor<2x16x130x130xf16>
  %w_out = util.global.load @conv_out : tensor<4x16x3x3xf16>
  %noise_empty = tensor.empty() : tensor<2x4x128x128xf16>
  %noise_zero = linalg.fill ins(%zero : f16) outs(%noise_empty : tensor<2x4x128x128xf16>) -> tensor<2x4x128x128xf16>
  %noise = linalg.conv_2d_nchw_fchw ins(%joined_padded, %w_out : tensor<2x16x130x130xf16>, tensor<4x16x3x3xf16>)
    outs(%noise_zero : tensor<2x4x128x128xf16>) -> tensor<2x4x128x128xf16>

  // Guidance.
  %without = tensor.extract_slice %noise[0, 0, 0, 0] [1, 4, 128, 128] [1, 1, 1, 1] : tensor<2x4x128x128xf16> to tensor<1x4x128x128xf16>
  %with = tensor.extract_slice %noise[1, 0, 0, 0] [1, 4, 128, 128] [1, 1, 1, 1] : tensor<2x4x128x128xf16> to tensor<1x4x128x128xf16>
  %latents_empty = tensor.empty() : tensor<1x4x128x128xf16>
  %guided = linalg.generic {indexing_maps = [#nchw, #nchw, affine_map<(n, c, h, w) -> (0)>, #nchw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%without, %with, %guidance : tensor<1x4x128x128xf16>, tensor<1x4x128x128xf16>, tensor<1xf16>) outs(%latents_empty : tensor<1x4x128x128xf16>) {
  ^bb0(%x: f16, %y: f16, %g: f16, %o: f16):
    %difference = arith.subf %y, %x : f16
    %scaled = arith.mulf %difference, %g : f16
    %sum = arith.addf %x, %scaled : f16
    linalg.yield %sum : f16
  } -> tensor<1x4x128x128xf16>
  return %guided : tensor<1x4x128x128xf16>
}
