func.func @product(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<512x512xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<512x512xf16>) -> tensor<512x512xf16>
  %product = linalg.matmul {kiln.configuration = "tile_config_CONFIGURATION_tensorcore_wgmma"}
    ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%fill : tensor<512x512xf16>) -> tensor<512x512xf16>
  return %product : tensor<512x512xf16>
}
