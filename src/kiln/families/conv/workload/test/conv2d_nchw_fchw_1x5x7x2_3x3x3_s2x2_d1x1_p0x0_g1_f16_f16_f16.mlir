// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='1x2x5x7xf16=[[[1 -2 -3 3 -4 -1 0][-2 -1 2 2 3 -3 -2][3 2 4 0 -2 2 4][0 2 1 2 -1 -2 -3][-2 -2 -1 -1 -4 3 -2]][[0 0 -4 -2 2 4 1][1 -2 4 -4 3 4 2][2 2 2 -3 3 2 -4][-1 -3 -1 3 -2 -3 1][-4 -3 -4 -2 4 -3 1]]]' \
// RUN:   --input='3x2x3x3xf16=[[[-4 -3 -1][2 -2 0][1 1 3]][[-3 -3 3][3 3 3][0 -3 -2]]][[[-3 1 0][3 -2 4][-4 -1 4]][[1 -2 4][-4 4 0][-3 0 4]]][[[1 -2 1][-1 4 4][4 1 -1]][[-1 -1 2][-1 -1 4][3 1 -4]]]' \
// RUN:   --expected_output='1x3x2x3xf16=[[[7 41 57][-37 -20 -39]][[-25 -16 17][-7 36 -27]][[27 36 -11][7 -29 -31]]]'
func.func @conv2d_nchw_fchw_1x5x7x2_3x3x3_s2x2_d1x1_p0x0_g1_f16_f16_f16(%image: tensor<1x2x5x7xf16>, %filter: tensor<3x2x3x3xf16>) -> tensor<1x3x2x3xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x3x2x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x3x2x3xf32>) -> tensor<1x3x2x3xf32>
  %sum = linalg.conv_2d_nchw_fchw
    {dilations = dense<[1, 1]> : tensor<2xi64>,
     strides = dense<[2, 2]> : tensor<2xi64>}
    ins(%image, %filter : tensor<1x2x5x7xf16>, tensor<3x2x3x3xf16>)
    outs(%zeros : tensor<1x3x2x3xf32>) -> tensor<1x3x2x3xf32>
  %narrow = tensor.empty() : tensor<1x3x2x3xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]
  } ins(%sum : tensor<1x3x2x3xf32>) outs(%narrow : tensor<1x3x2x3xf16>) {
  ^bb0(%wide: f32, %unused: f16):
    %rounded = arith.truncf %wide : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<1x3x2x3xf16>
  return %result : tensor<1x3x2x3xf16>
}
