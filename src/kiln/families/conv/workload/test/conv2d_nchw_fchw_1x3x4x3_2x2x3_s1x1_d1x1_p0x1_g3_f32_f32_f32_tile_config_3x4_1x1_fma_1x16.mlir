// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='1x3x3x4xf32=[[[-3 3 0 4][-1 -1 4 -4][-3 0 -3 -2]][[2 -4 2 -4][0 0 -1 -3][4 -2 2 1]][[3 -2 0 -2][-4 4 2 4][-2 4 4 -4]]]' \
// RUN:   --input='3x1x2x2xf32=[[[-1 -3][-4 -4]]][[[-2 1][-3 2]]][[[3 4][-4 -4]]]' \
// RUN:   --expected_output='1x3x2x5xf32=[[[13 2 -15 -12 12][15 16 1 28 12]][[2 -8 8 -11 17][8 -16 9 -5 3]][[28 1 -30 -32 -22][-8 -4 -12 22 28]]]'
func.func @conv2d_nchw_fchw_1x3x4x3_2x2x3_s1x1_d1x1_p0x1_g3_f32_f32_f32_tile_config_3x4_1x1_fma_1x16(%image: tensor<1x3x3x4xf32>, %filter: tensor<3x1x2x2xf32>) -> tensor<1x3x2x5xf32> {
  %edge = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 0, 0, 1] high[0, 0, 0, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %edge : f32
  } : tensor<1x3x3x4xf32> to tensor<1x3x3x6xf32>
  %channel_filter = tensor.collapse_shape %filter [[0, 1], [2], [3]] : tensor<3x1x2x2xf32> into tensor<3x2x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x3x2x5xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x3x2x5xf32>) -> tensor<1x3x2x5xf32>
  %sum = linalg.depthwise_conv_2d_nchw_chw
    {dilations = dense<[1, 1]> : tensor<2xi64>,
     kiln.configuration = "tile_config_3x4_1x1_fma_1x16",
     strides = dense<[1, 1]> : tensor<2xi64>}
    ins(%padded, %channel_filter : tensor<1x3x3x6xf32>, tensor<3x2x2xf32>)
    outs(%zeros : tensor<1x3x2x5xf32>) -> tensor<1x3x2x5xf32>
  return %sum : tensor<1x3x2x5xf32>
}
