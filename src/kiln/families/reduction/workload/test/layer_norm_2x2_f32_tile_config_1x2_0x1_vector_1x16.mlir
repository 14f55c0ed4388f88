// Rows whose variance is zero, and one that is far larger than epsilon.
// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x2xf32=[3 3][-1024 1024]' --input='2xf32=2 4' --input='2xf32=0.5 -1' \
// RUN:   --expected_output='2x2xf32=[0.5 -1][-1.5 3]'
func.func @layer_norm_2x2_f32_tile_config_1x2_0x1_vector_1x16(%in: tensor<2x2xf32>, %gamma: tensor<2xf32>, %beta: tensor<2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %columns = arith.constant 2.0 : f32
  %epsilon = arith.constant 9.999999747e-06 : f32
  %one = arith.constant 1.0 : f32
  %sum_start_empty = tensor.empty() : tensor<2xf32>
  %sum_start = linalg.fill ins(%zero : f32) outs(%sum_start_empty : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%in : tensor<2x2xf32>) outs(%sum_start : tensor<2xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %mean_empty = tensor.empty() : tensor<2xf32>
  %mean = linalg.generic {
    indexing_maps = [affine_map<(r) -> (r)>,
                     affine_map<(r) -> (r)>],
    iterator_types = ["parallel"]
  } ins(%sum : tensor<2xf32>) outs(%mean_empty : tensor<2xf32>) {
  ^bb0(%s: f32, %out: f32):
    %t = arith.divf %s, %columns : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %centered_empty = tensor.empty() : tensor<2x2xf32>
  %centered = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>,
                     affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%in, %mean : tensor<2x2xf32>, tensor<2xf32>) outs(%centered_empty : tensor<2x2xf32>) {
  ^bb0(%a: f32, %mean_of: f32, %out: f32):
    %d = arith.subf %a, %mean_of : f32
    linalg.yield %d : f32
  } -> tensor<2x2xf32>
  %squares_start_empty = tensor.empty() : tensor<2xf32>
  %squares_start = linalg.fill ins(%zero : f32) outs(%squares_start_empty : tensor<2xf32>) -> tensor<2xf32>
  %squares = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%centered : tensor<2x2xf32>) outs(%squares_start : tensor<2xf32>) attrs = {kiln.configuration = "tile_config_1x2_0x1_vector_1x16"} {
  ^bb0(%a: f32, %s: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %scale_empty = tensor.empty() : tensor<2xf32>
  %scale = linalg.generic {
    indexing_maps = [affine_map<(r) -> (r)>,
                     affine_map<(r) -> (r)>],
    iterator_types = ["parallel"]
  } ins(%squares : tensor<2xf32>) outs(%scale_empty : tensor<2xf32>) {
  ^bb0(%s: f32, %out: f32):
    %variance = arith.divf %s, %columns : f32
    %above = arith.addf %variance, %epsilon : f32
    %root = math.sqrt %above : f32
    %t = arith.divf %one, %root : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %empty = tensor.empty() : tensor<2x2xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>,
                     affine_map<(r, c) -> (c)>,
                     affine_map<(r, c) -> (c)>,
                     affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%centered, %scale, %gamma, %beta : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%empty : tensor<2x2xf32>) {
  ^bb0(%a: f32, %scale_of: f32, %g: f32, %b: f32, %out: f32):
    %n = arith.mulf %a, %scale_of : f32
    %p = arith.mulf %n, %g : f32
    %y = arith.addf %p, %b : f32
    linalg.yield %y : f32
  } -> tensor<2x2xf32>
  return %result : tensor<2x2xf32>
}
