// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x4xi8=[-5 -4 0 5][-4 4 3 -5]' \
// RUN:   --input='3x4xi8=[-2 6 7 3][-9 3 -5 6][8 -1 9 5]' \
// RUN:   --input='3xf32=0.5 0.25 1.5' \
// RUN:   --expected_output='2x3xi8=[-67 -7 -128][-44 -20 -128]'
func.func @qmatmul_2x3x4_i8t_i8n_i8t_za3_zbm5_zcm7_percolumn_tile_config_2x3_4x1_fma_2x16_packb(%lhs: tensor<2x4xi8>, %rhs: tensor<3x4xi8>, %scale: tensor<3xf32>) -> tensor<2x3xi8> {
  %za = arith.constant 3 : i32
  %zb = arith.constant -5 : i32
  %zero = arith.constant 0 : i32
  %zeros_empty = tensor.empty() : tensor<2x3xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%zeros_empty : tensor<2x3xi32>) -> tensor<2x3xi32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                     affine_map<(m, n, k) -> (n, k)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs : tensor<2x4xi8>, tensor<3x4xi8>) outs(%zeros : tensor<2x3xi32>) attrs = {kiln.configuration = "tile_config_2x3_4x1_fma_2x16_packb"} {
  ^bb0(%a: i8, %b: i8, %before: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %shifted_a = arith.subi %wide_a, %za : i32
    %shifted_b = arith.subi %wide_b, %zb : i32
    %product = arith.muli %shifted_a, %shifted_b : i32
    %next = arith.addi %before, %product : i32
    linalg.yield %next : i32
  } -> tensor<2x3xi32>
  %finished = tensor.empty() : tensor<2x3xi8>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>,
                     affine_map<(m, n) -> (n)>,
                     affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %scale : tensor<2x3xi32>, tensor<3xf32>) outs(%finished : tensor<2x3xi8>) {
  ^bb0(%total: i32, %factor: f32, %old: i8):
    %zc = arith.constant -7.0 : f32
    %lowest = arith.constant -128.0 : f32
    %highest = arith.constant 127.0 : f32
    %real = arith.sitofp %total : i32 to f32
    %scaled = arith.mulf %real, %factor : f32
    %rounded = math.roundeven %scaled : f32
    %shifted = arith.addf %rounded, %zc : f32
    %above = arith.maximumf %shifted, %lowest : f32
    %clamped = arith.minimumf %above, %highest : f32
    %narrow = arith.fptosi %clamped : f32 to i8
    linalg.yield %narrow : i8
  } -> tensor<2x3xi8>
  return %result : tensor<2x3xi8>
}
