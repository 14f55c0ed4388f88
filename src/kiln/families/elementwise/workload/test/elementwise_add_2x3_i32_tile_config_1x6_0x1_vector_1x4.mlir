// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x3xi32=[1 -2 2147483647][4 5 6]' \
// RUN:   --input='2x3xi32=[10 20 1][40 50 60]' \
// RUN:   --expected_output='2x3xi32=[11 18 -2147483648][44 55 66]'
func.func @elementwise_add_2x3_i32_tile_config_1x6_0x1_vector_1x4(%lhs: tensor<2x3xi32>, %rhs: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %empty = tensor.empty() : tensor<2x3xi32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
                     affine_map<(d0, d1) -> (d0, d1)>,
                     affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"],
    kiln.configuration = "tile_config_1x6_0x1_vector_1x4"}
    ins(%lhs, %rhs : tensor<2x3xi32>, tensor<2x3xi32>) outs(%empty : tensor<2x3xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %r = arith.addi %a, %b : i32
    linalg.yield %r : i32
  } -> tensor<2x3xi32>
  return %result : tensor<2x3xi32>
}
