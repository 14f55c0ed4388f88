// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x2xf16=[300 300][-inf -400]' \
// RUN:   --expected_output='2x2xf16=[0.5 0.5][0 1]'
func.func @softmax_2x2_f16_tile_config_1x2_0x1_vector_1x4(%in: tensor<2x2xf16>) -> tensor<2x2xf16> {
  %max_value = arith.constant 0xFC00 : f16
  %max_empty = tensor.empty() : tensor<2xf16>
  %max_start = linalg.fill ins(%max_value : f16) outs(%max_empty : tensor<2xf16>) -> tensor<2xf16>
  %max = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%in : tensor<2x2xf16>) outs(%max_start : tensor<2xf16>) {
  ^bb0(%x: f16, %s: f16):
    %t = arith.maximumf %x, %s : f16
    linalg.yield %t : f16
  } -> tensor<2xf16>
  %exp_empty = tensor.empty() : tensor<2x2xf32>
  %exp = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>,
                     affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%in, %max : tensor<2x2xf16>, tensor<2xf16>) outs(%exp_empty : tensor<2x2xf32>) {
  ^bb0(%a: f16, %b: f16, %out: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %d = arith.subf %x, %y : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<2x2xf32>
  %sum_value = arith.constant 0.0 : f32
  %sum_empty = tensor.empty() : tensor<2xf32>
  %sum_start = linalg.fill ins(%sum_value : f32) outs(%sum_empty : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"],
    kiln.configuration = "tile_config_1x2_0x1_vector_1x4"}
    ins(%exp : tensor<2x2xf32>) outs(%sum_start : tensor<2xf32>) {
  ^bb0(%x: f32, %s: f32):
    %t = arith.addf %x, %s : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %result_empty = tensor.empty() : tensor<2x2xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>,
                     affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%exp, %sum : tensor<2x2xf32>, tensor<2xf32>) outs(%result_empty : tensor<2x2xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %t = arith.divf %x, %y : f32
    %narrow = arith.truncf %t : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2x2xf16>
  return %result : tensor<2x2xf16>
}
