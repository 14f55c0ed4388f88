// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x3xi8=[1 2 -3][100 -128 127]' \
// RUN:   --expected_output='3x2xi8=[1 100][2 -128][-3 127]'
func.func @transpose_10_2x3_i8_tile_config_3x2_0x1_vector_1x16(%in: tensor<2x3xi8>) -> tensor<3x2xi8> {
  %empty = tensor.empty() : tensor<3x2xi8>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>,
                     affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%in : tensor<2x3xi8>) outs(%empty : tensor<3x2xi8>) attrs = {kiln.configuration = "tile_config_3x2_0x1_vector_1x16"} {
  ^bb0(%a: i8, %out: i8):
    linalg.yield %a : i8
  } -> tensor<3x2xi8>
  return %result : tensor<3x2xi8>
}
