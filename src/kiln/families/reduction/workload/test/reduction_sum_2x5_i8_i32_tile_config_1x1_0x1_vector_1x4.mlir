// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x5xi8=[100 100 100 100 100][-1 2 -3 4 -128]' \
// RUN:   --expected_output='2xi32=500 -126'
func.func @reduction_sum_2x5_i8_i32_tile_config_1x1_0x1_vector_1x4(%in: tensor<2x5xi8>) -> tensor<2xi32> {
  %reduced_value = arith.constant 0 : i32
  %reduced_empty = tensor.empty() : tensor<2xi32>
  %reduced_start = linalg.fill ins(%reduced_value : i32) outs(%reduced_empty : tensor<2xi32>) -> tensor<2xi32>
  %reduced = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"],
    kiln.configuration = "tile_config_1x1_0x1_vector_1x4"}
    ins(%in : tensor<2x5xi8>) outs(%reduced_start : tensor<2xi32>) {
  ^bb0(%x: i8, %s: i32):
    %w = arith.extsi %x : i8 to i32
    %t = arith.addi %w, %s : i32
    linalg.yield %t : i32
  } -> tensor<2xi32>
  return %reduced : tensor<2xi32>
}
