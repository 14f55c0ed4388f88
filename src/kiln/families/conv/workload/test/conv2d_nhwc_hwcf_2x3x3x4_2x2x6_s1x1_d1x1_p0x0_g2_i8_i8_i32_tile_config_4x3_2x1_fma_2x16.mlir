// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x3x3x4xi8=[[[-4 0 3 0][-1 1 3 1][1 -3 -1 -3]][[-1 3 -1 1][-1 3 -4 3][1 -3 -3 2]][[-1 3 -2 2][1 -3 2 3][2 -3 -2 -2]]][[[-2 -4 -2 3][-2 3 1 -2][4 4 -2 -4]][[-4 -3 4 -2][2 -1 -1 -4][0 -1 0 4]][[-1 1 0 4][2 -2 -4 1][3 4 2 4]]]' \
// RUN:   --input='2x2x2x6xi8=[[[-2 4 -2 4 4 -4][3 -2 -4 -2 -2 -2]][[3 -3 4 -4 1 4][4 4 3 -3 4 -4]]][[[-1 -1 0 -4 -3 4][3 4 -4 -3 3 1]][[4 4 -1 0 3 4][4 3 4 -1 4 0]]]' \
// RUN:   --expected_output='2x2x2x6xi32=[[[27 9 8 -5 25 -23][-2 -13 -32 28 17 -31]][[22 13 -30 0 32 -24][-12 -39 -17 -31 -28 -7]]][[[-3 15 27 -18 -58 24][32 -19 20 40 -3 0]][[5 -13 11 23 7 -12][9 20 18 1 57 -11]]]'
func.func @conv2d_nhwc_hwcf_2x3x3x4_2x2x6_s1x1_d1x1_p0x0_g2_i8_i8_i32_tile_config_4x3_2x1_fma_2x16(%image: tensor<2x3x3x4xi8>, %filter: tensor<2x2x2x6xi8>) -> tensor<2x2x2x6xi32> {
  %grouped_image = tensor.expand_shape %image [[0], [1], [2], [3, 4]] output_shape [2, 3, 3, 2, 2] : tensor<2x3x3x4xi8> into tensor<2x3x3x2x2xi8>
  %grouped_filter = tensor.expand_shape %filter [[0], [1], [2], [3, 4]] output_shape [2, 2, 2, 2, 3] : tensor<2x2x2x6xi8> into tensor<2x2x2x2x3xi8>
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<2x2x2x2x3xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<2x2x2x2x3xi32>) -> tensor<2x2x2x2x3xi32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(n, y, x, g, f, r, s, c) -> (n, y + r, x + s, g, c)>,
                     affine_map<(n, y, x, g, f, r, s, c) -> (r, s, c, g, f)>,
                     affine_map<(n, y, x, g, f, r, s, c) -> (n, y, x, g, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel",
                      "reduction", "reduction", "reduction"],
    kiln.configuration = "tile_config_4x3_2x1_fma_2x16"
  }
    ins(%grouped_image, %grouped_filter : tensor<2x3x3x2x2xi8>, tensor<2x2x2x2x3xi8>)
    outs(%zeros : tensor<2x2x2x2x3xi32>) {
  ^bb0(%pixel: i8, %weight: i8, %old: i32):
    %wide_pixel = arith.extsi %pixel : i8 to i32
    %wide_weight = arith.extsi %weight : i8 to i32
    %product = arith.muli %wide_pixel, %wide_weight : i32
    %new = arith.addi %old, %product : i32
    linalg.yield %new : i32
  } -> tensor<2x2x2x2x3xi32>
  %flat_sum = tensor.collapse_shape %sum [[0], [1], [2], [3, 4]] : tensor<2x2x2x2x3xi32> into tensor<2x2x2x6xi32>
  return %flat_sum : tensor<2x2x2x6xi32>
}
