// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='1x4x4x3xbf16=[[[0 -4 -2][-1 0 0][4 -1 0][3 4 -2]][[0 1 -4][0 -4 -4][-4 4 4][-1 4 3]][[-1 3 -3][2 3 4][2 4 0][-1 -1 1]][[-1 -2 2][1 -4 -2][-4 -3 0][2 -2 -4]]]' \
// RUN:   --input='3x3x1x3xbf16=[[[-3 2 4]][[0 -1 0]][[-4 3 -2]]][[[-2 0 3]][[-4 0 1]][[1 4 1]]][[[-1 -4 0]][[-1 1 -2]][[-4 1 2]]]' \
// RUN:   --expected_output='1x4x2x3xf32=[[[24 -8 10][-3 40 -4]][[-29 0 -28][6 20 1]][[28 35 -25][-14 7 -17]][[-11 3 -8][14 -9 4]]]'
func.func @conv2d_nhwc_hwcf_1x4x4x3_3x3x3_s1x1_d1x1_p1x0_g3_bf16_bf16_f32(%image: tensor<1x4x4x3xbf16>, %filter: tensor<3x3x1x3xbf16>) -> tensor<1x4x2x3xf32> {
  %edge = arith.constant 0.0 : bf16
  %padded = tensor.pad %image low[0, 1, 0, 0] high[0, 1, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %edge : bf16
  } : tensor<1x4x4x3xbf16> to tensor<1x6x4x3xbf16>
  %channel_filter = tensor.collapse_shape %filter [[0], [1], [2, 3]] : tensor<3x3x1x3xbf16> into tensor<3x3x3xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x2x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32>
  %sum = linalg.depthwise_conv_2d_nhwc_hwc
    {dilations = dense<[1, 1]> : tensor<2xi64>,
     strides = dense<[1, 1]> : tensor<2xi64>}
    ins(%padded, %channel_filter : tensor<1x6x4x3xbf16>, tensor<3x3x3xbf16>)
    outs(%zeros : tensor<1x4x2x3xf32>) -> tensor<1x4x2x3xf32>
  return %sum : tensor<1x4x2x3xf32>
}
