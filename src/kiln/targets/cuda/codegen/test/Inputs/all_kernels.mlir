// A kernel of each kind: products by default, by each class of instructions that sm_80 has, and of f64; rows that are
// reduced, a softmax, a transposition, a sum of all elements, and functions that are computed in f64.
func.func @halves(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<512x512xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<512x512xf16>) -> tensor<512x512xf16>
  %product = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%fill : tensor<512x512xf16>) -> tensor<512x512xf16>
  return %product : tensor<512x512xf16>
}

func.func @brains(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %zero = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<512x512xbf16>
  %fill = linalg.fill ins(%zero : bf16) outs(%empty : tensor<512x512xbf16>) -> tensor<512x512xbf16>
  %product = linalg.matmul ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%fill : tensor<512x512xbf16>) -> tensor<512x512xbf16>
  return %product : tensor<512x512xbf16>
}

func.func @bytes(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>) -> tensor<512x512xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<512x512xi32>
  %fill = linalg.fill ins(%zero : i32) outs(%empty : tensor<512x512xi32>) -> tensor<512x512xi32>
  %product = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%fill : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %product : tensor<512x512xi32>
}

func.func @floats(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x512xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  %product = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%fill : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %product : tensor<512x512xf32>
}

func.func @doubles(%a: tensor<256x256xf64>, %b: tensor<256x256xf64>) -> tensor<256x256xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<256x256xf64>
  %fill = linalg.fill ins(%zero : f64) outs(%empty : tensor<256x256xf64>) -> tensor<256x256xf64>
  %product = linalg.matmul ins(%a, %b : tensor<256x256xf64>, tensor<256x256xf64>) outs(%fill : tensor<256x256xf64>) -> tensor<256x256xf64>
  return %product : tensor<256x256xf64>
}

func.func @mmasync(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<512x512xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<512x512xf16>) -> tensor<512x512xf16>
  %product = linalg.matmul {kiln.configuration = "tile_config_128x128_32x4_tensorcore_mmasync_64x64"}
    ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%fill : tensor<512x512xf16>) -> tensor<512x512xf16>
  return %product : tensor<512x512xf16>
}

func.func @wmma(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<512x512xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<512x512xf16>) -> tensor<512x512xf16>
  %product = linalg.matmul {kiln.configuration = "tile_config_64x64_64x3_tensorcore_wmma"}
    ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%fill : tensor<512x512xf16>) -> tensor<512x512xf16>
  return %product : tensor<512x512xf16>
}

func.func @simt(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x512xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  %product = linalg.matmul {kiln.configuration = "tile_config_128x128_16x3_simt_ffma_8x8"}
    ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%fill : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %product : tensor<512x512xf32>
}

func.func @rows(%x: tensor<1024x2048xf32>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024xf32>) -> tensor<1024xf32>
  %sums = linalg.reduce {arith.addf} ins(%x : tensor<1024x2048xf32>) outs(%fill : tensor<1024xf32>) dimensions = [1]
  return %sums : tensor<1024xf32>
}

func.func @total(%x: tensor<4194304xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4194304xf32>) outs(%fill : tensor<f32>) dimensions = [0]
  return %sum : tensor<f32>
}

func.func @softmax(%x: tensor<1024x1000xf16>) -> tensor<1024x1000xf16> {
  %empty = tensor.empty() : tensor<1024x1000xf16>
  %r = linalg.softmax dimension(1) ins(%x : tensor<1024x1000xf16>) outs(%empty : tensor<1024x1000xf16>) -> tensor<1024x1000xf16>
  return %r : tensor<1024x1000xf16>
}

func.func @transpose(%x: tensor<1024x512xf32>) -> tensor<512x1024xf32> {
  %empty = tensor.empty() : tensor<512x1024xf32>
  %r = linalg.transpose ins(%x : tensor<1024x512xf32>) outs(%empty : tensor<512x1024xf32>) permutation = [1, 0]
  return %r : tensor<512x1024xf32>
}

func.func @functions(%x: tensor<4096xf64>) -> tensor<4096xf64> {
  %sine = math.sin %x : tensor<4096xf64>
  %r = math.erf %sine : tensor<4096xf64>
  return %r : tensor<4096xf64>
}
