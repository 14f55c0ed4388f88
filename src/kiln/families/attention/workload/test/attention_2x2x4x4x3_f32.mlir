// Queries of the first head pick a value each, those of the second one take the mean of all.
// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x2x4xf32=[[0 1 0 0][0 0 0 1]][[0 0 0 0][1 1 1 1]]' \
// RUN:   --input='2x4x4xf32=[[400 0 0 0][0 400 0 0][0 0 400 0][0 0 0 400]][[1 2 3 4][1 2 3 4][1 2 3 4][1 2 3 4]]' \
// RUN:   --input='2x4x3xf32=[[1 2 3][4 5 6][7 8 9][10 11 12]][[1 2 4][3 2 4][1 2 8][3 2 0]]' \
// RUN:   --expected_output='2x2x3xf32=[[4 5 6][10 11 12]][[2 2 4][2 2 4]]'
func.func @attention_2x2x4x4x3_f32(%q: tensor<2x2x4xf32>, %k: tensor<2x4x4xf32>, %v: tensor<2x4x3xf32>) -> tensor<2x2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 5.000000000e-01 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scores_start_empty = tensor.empty() : tensor<2x2x4xf32>
  %scores_start = linalg.fill ins(%zero : f32) outs(%scores_start_empty : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %scores = linalg.batch_matmul
    indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                     affine_map<(b, m, n, k) -> (b, n, k)>,
                     affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%q, %k : tensor<2x2x4xf32>, tensor<2x4x4xf32>)
    outs(%scores_start : tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %scaled_empty = tensor.empty() : tensor<2x2x4xf32>
  %scaled = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%scores : tensor<2x2x4xf32>) outs(%scaled_empty : tensor<2x2x4xf32>) {
  ^bb0(%s: f32, %out: f32):
    %t = arith.mulf %s, %scale : f32
    linalg.yield %t : f32
  } -> tensor<2x2x4xf32>
  %max_start_empty = tensor.empty() : tensor<2x2xf32>
  %max_start = linalg.fill ins(%lowest : f32) outs(%max_start_empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %max = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%scaled : tensor<2x2x4xf32>) outs(%max_start : tensor<2x2xf32>) {
  ^bb0(%a: f32, %m: f32):
    %t = arith.maximumf %a, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x2xf32>
  %exp_empty = tensor.empty() : tensor<2x2x4xf32>
  %exp = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%scaled, %max : tensor<2x2x4xf32>, tensor<2x2xf32>) outs(%exp_empty : tensor<2x2x4xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %d = arith.subf %a, %m : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<2x2x4xf32>
  %sum_start_empty = tensor.empty() : tensor<2x2xf32>
  %sum_start = linalg.fill ins(%zero : f32) outs(%sum_start_empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%exp : tensor<2x2x4xf32>) outs(%sum_start : tensor<2x2xf32>) {
  ^bb0(%a: f32, %m: f32):
    %t = arith.addf %a, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x2xf32>
  %weights_empty = tensor.empty() : tensor<2x2x4xf32>
  %weights = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>,
                     affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%exp, %sum : tensor<2x2x4xf32>, tensor<2x2xf32>) outs(%weights_empty : tensor<2x2x4xf32>) {
  ^bb0(%e: f32, %total: f32, %out: f32):
    %t = arith.divf %e, %total : f32
    linalg.yield %t : f32
  } -> tensor<2x2x4xf32>
  %mixed_start_empty = tensor.empty() : tensor<2x2x3xf32>
  %mixed_start = linalg.fill ins(%zero : f32) outs(%mixed_start_empty : tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %mixed = linalg.batch_matmul
    ins(%weights, %v : tensor<2x2x4xf32>, tensor<2x4x3xf32>)
    outs(%mixed_start : tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  return %mixed : tensor<2x2x3xf32>
}
