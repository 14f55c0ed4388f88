// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='1x2x3xbf16=[[1 2 3][3 -2 4]]' \
// RUN:   --expected_output='1x3xbf16=[2 0 3.5]'
func.func @reduction_mean_1x2x3_bf16_bf16_tile_config_1x3_0x1_vector_1x16(%in: tensor<1x2x3xbf16>) -> tensor<1x3xbf16> {
  %reduced_value = arith.constant 0.0 : f32
  %reduced_empty = tensor.empty() : tensor<1x3xf32>
  %reduced_start = linalg.fill ins(%reduced_value : f32) outs(%reduced_empty : tensor<1x3xf32>) -> tensor<1x3xf32>
  %reduced = linalg.generic {
    indexing_maps = [affine_map<(r, c, i) -> (r, c, i)>,
                     affine_map<(r, c, i) -> (r, i)>],
    iterator_types = ["parallel", "reduction", "parallel"],
    kiln.configuration = "tile_config_1x3_0x1_vector_1x16"}
    ins(%in : tensor<1x2x3xbf16>) outs(%reduced_start : tensor<1x3xf32>) {
  ^bb0(%x: bf16, %s: f32):
    %w = arith.extf %x : bf16 to f32
    %t = arith.addf %w, %s : f32
    linalg.yield %t : f32
  } -> tensor<1x3xf32>
  %columns = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<1x3xbf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(r, i) -> (r, i)>,
                     affine_map<(r, i) -> (r, i)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%reduced : tensor<1x3xf32>) outs(%empty : tensor<1x3xbf16>) {
  ^bb0(%s: f32, %out: bf16):
    %mean = arith.divf %s, %columns : f32
    %narrow = arith.truncf %mean : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<1x3xbf16>
  return %result : tensor<1x3xbf16>
}
