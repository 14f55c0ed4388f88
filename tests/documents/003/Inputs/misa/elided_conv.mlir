// The convolution of the document with fewer channels: 2x34x34 pixels, 3x3 windows.
#elided = dense_resource<__elided__> : tensor<64xf16>
func.func @forward(%image: tensor<2x34x34x64xf16>, %filter: tensor<3x3x64x64xf16>) -> tensor<2x32x32x64xf16> {
  %bias = arith.constant #elided
  %empty = tensor.empty() : tensor<2x32x32x64xf16>
  %start = linalg.broadcast ins(%bias : tensor<64xf16>) outs(%empty : tensor<2x32x32x64xf16>) dimensions = [0, 1, 2]
  %result = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<2x34x34x64xf16>, tensor<3x3x64x64xf16>)
    outs(%start : tensor<2x32x32x64xf16>) -> tensor<2x32x32x64xf16>
  return %result : tensor<2x32x32x64xf16>
}
