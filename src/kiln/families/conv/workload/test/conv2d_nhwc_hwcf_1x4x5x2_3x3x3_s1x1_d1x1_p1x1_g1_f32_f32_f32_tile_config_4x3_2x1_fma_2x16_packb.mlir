// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='1x4x5x2xf32=[[[1 -2][2 -4][-3 4][-3 1][-4 4]][[-1 -4][-3 2][2 -3][-1 -3][4 2]][[-4 -3][-1 -4][2 -4][-1 -4][4 -2]][[0 2][-2 4][-3 0][4 -2][-3 -1]]]' \
// RUN:   --input='3x3x2x3xf32=[[[1 -3 4][-3 -4 -1]][[3 4 2][1 3 3]][[1 0 -1][-2 -1 -3]]][[[0 4 3][1 3 0]][[-3 -3 4][2 -2 1]][[-2 3 2][-4 -3 4]]][[[1 1 1][3 3 -3]][[-3 0 3][-3 -4 0]][[3 0 2][1 -4 3]]]' \
// RUN:   --expected_output='1x4x5x3xf32=[[[13 27 -13][-33 -30 14][15 12 -18][26 -20 10][-7 -23 -1]][[18 26 -26][19 20 -38][-6 28 3][-42 8 1][-44 -33 29]][[2 -15 -46][7 10 -43][28 16 -47][-23 25 -12][12 15 25]][[-16 -43 10][30 7 -27][33 50 -13][9 -30 -5][26 50 1]]]'
func.func @conv2d_nhwc_hwcf_1x4x5x2_3x3x3_s1x1_d1x1_p1x1_g1_f32_f32_f32_tile_config_4x3_2x1_fma_2x16_packb(%image: tensor<1x4x5x2xf32>, %filter: tensor<3x3x2x3xf32>) -> tensor<1x4x5x3xf32> {
  %edge = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %edge : f32
  } : tensor<1x4x5x2xf32> to tensor<1x6x7x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x5x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %sum = linalg.conv_2d_nhwc_hwcf
    {dilations = dense<[1, 1]> : tensor<2xi64>,
     kiln.configuration = "tile_config_4x3_2x1_fma_2x16_packb",
     strides = dense<[1, 1]> : tensor<2xi64>}
    ins(%padded, %filter : tensor<1x6x7x2xf32>, tensor<3x3x2x3xf32>)
    outs(%zeros : tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  return %sum : tensor<1x4x5x3xf32>
}
