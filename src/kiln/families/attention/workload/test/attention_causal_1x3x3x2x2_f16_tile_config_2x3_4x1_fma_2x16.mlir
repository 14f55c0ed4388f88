// Means of the values that each query sees.
// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='1x3x2xf16=[[0 0][0 0][0 0]]' --input='1x3x2xf16=[[1 2][3 4][5 6]]' \
// RUN:   --input='1x3x2xf16=[[3 -6][9 0][6 12]]' --expected_output='1x3x2xf16=[[3 -6][6 -3][6 2]]'
func.func @attention_causal_1x3x3x2x2_f16_tile_config_2x3_4x1_fma_2x16(%q: tensor<1x3x2xf16>, %k: tensor<1x3x2xf16>, %v: tensor<1x3x2xf16>) -> tensor<1x3x2xf16> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 7.071067691e-01 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scores_start_empty = tensor.empty() : tensor<1x3x3xf32>
  %scores_start = linalg.fill ins(%zero : f32) outs(%scores_start_empty : tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %scores = linalg.batch_matmul
    indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                     affine_map<(b, m, n, k) -> (b, n, k)>,
                     affine_map<(b, m, n, k) -> (b, m, n)>]
    {kiln.configuration = "tile_config_2x3_4x1_fma_2x16"}
    ins(%q, %k : tensor<1x3x2xf16>, tensor<1x3x2xf16>)
    outs(%scores_start : tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
  %scaled_empty = tensor.empty() : tensor<1x3x3xf32>
  %scaled = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%scores : tensor<1x3x3xf32>) outs(%scaled_empty : tensor<1x3x3xf32>) {
  ^bb0(%s: f32, %out: f32):
    %x = arith.mulf %s, %scale : f32
    %row = linalg.index 1 : index
    %column = linalg.index 2 : index
    %sees = arith.cmpi ule, %column, %row : index
    %t = arith.select %sees, %x, %lowest : f32
    linalg.yield %t : f32
  } -> tensor<1x3x3xf32>
  %max_start_empty = tensor.empty() : tensor<1x3xf32>
  %max_start = linalg.fill ins(%lowest : f32) outs(%max_start_empty : tensor<1x3xf32>) -> tensor<1x3xf32>
  %max = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%scaled : tensor<1x3x3xf32>) outs(%max_start : tensor<1x3xf32>) {
  ^bb0(%a: f32, %m: f32):
    %t = arith.maximumf %a, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x3xf32>
  %exp_empty = tensor.empty() : tensor<1x3x3xf32>
  %exp = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%scaled, %max : tensor<1x3x3xf32>, tensor<1x3xf32>) outs(%exp_empty : tensor<1x3x3xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %d = arith.subf %a, %m : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<1x3x3xf32>
  %sum_start_empty = tensor.empty() : tensor<1x3xf32>
  %sum_start = linalg.fill ins(%zero : f32) outs(%sum_start_empty : tensor<1x3xf32>) -> tensor<1x3xf32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%exp : tensor<1x3x3xf32>) outs(%sum_start : tensor<1x3xf32>) {
  ^bb0(%a: f32, %m: f32):
    %t = arith.addf %a, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x3xf32>
  %weights_empty = tensor.empty() : tensor<1x3x3xf32>
  %weights = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%exp, %sum : tensor<1x3x3xf32>, tensor<1x3xf32>) outs(%weights_empty : tensor<1x3x3xf32>) {
  ^bb0(%e: f32, %total: f32, %out: f32):
    %t = arith.divf %e, %total : f32
    linalg.yield %t : f32
  } -> tensor<1x3x3xf32>
  %mixed_start_empty = tensor.empty() : tensor<1x3x2xf32>
  %mixed_start = linalg.fill ins(%zero : f32) outs(%mixed_start_empty : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %mixed = linalg.batch_matmul
    {kiln.configuration = "tile_config_2x3_4x1_fma_2x16"}
    ins(%weights, %v : tensor<1x3x3xf32>, tensor<1x3x2xf16>)
    outs(%mixed_start : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %empty = tensor.empty() : tensor<1x3x2xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(h, i, c) -> (h, i, c)>,
                     affine_map<(h, i, c) -> (h, i, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%mixed : tensor<1x3x2xf32>) outs(%empty : tensor<1x3x2xf16>) {
  ^bb0(%x: f32, %out: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1x3x2xf16>
  return %result : tensor<1x3x2xf16>
}
