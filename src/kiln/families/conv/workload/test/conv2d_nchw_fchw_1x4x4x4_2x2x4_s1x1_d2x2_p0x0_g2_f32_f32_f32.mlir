// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='1x4x4x4xf32=[[[4 -1 3 -2][2 -3 2 3][1 -3 -1 2][-3 -1 0 -3]][[-2 1 -2 0][-2 3 -1 -3][2 3 -2 -1][-2 2 4 2]][[1 2 -1 1][1 -3 1 -4][1 4 3 3][-4 2 1 4]][[0 4 -3 -3][-1 -3 -3 0][0 -4 -2 0][-2 2 0 2]]]' \
// RUN:   --input='4x2x2x2xf32=[[[-2 4][4 3]][[1 -3][0 -4]]][[[-2 2][-3 0]][[-4 -3][0 -3]]][[[-1 -3][0 -3]][[3 -4][1 4]]][[[2 0][-2 -4]][[4 -1][-3 -2]]]' \
// RUN:   --expected_output='1x4x2x2xf32=[[[17 -7][-23 9]][[15 6][8 6]][[-3 6][0 4]][[-5 15][11 -48]]]'
func.func @conv2d_nchw_fchw_1x4x4x4_2x2x4_s1x1_d2x2_p0x0_g2_f32_f32_f32(%image: tensor<1x4x4x4xf32>, %filter: tensor<4x2x2x2xf32>) -> tensor<1x4x2x2xf32> {
  %grouped_image = tensor.expand_shape %image [[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 4, 4] : tensor<1x4x4x4xf32> into tensor<1x2x2x4x4xf32>
  %grouped_filter = tensor.expand_shape %filter [[0, 1], [2], [3], [4]] output_shape [2, 2, 2, 2, 2] : tensor<4x2x2x2xf32> into tensor<2x2x2x2x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2x2x2x2xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x2x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %sum = linalg.conv_2d_ngchw_gfchw
    {dilations = dense<[2, 2]> : tensor<2xi64>,
     strides = dense<[1, 1]> : tensor<2xi64>}
    ins(%grouped_image, %grouped_filter : tensor<1x2x2x4x4xf32>, tensor<2x2x2x2x2xf32>)
    outs(%zeros : tensor<1x2x2x2x2xf32>) -> tensor<1x2x2x2x2xf32>
  %flat_sum = tensor.collapse_shape %sum [[0], [1, 2], [3], [4]] : tensor<1x2x2x2x2xf32> into tensor<1x4x2x2xf32>
  return %flat_sum : tensor<1x4x2x2xf32>
}
