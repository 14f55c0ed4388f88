// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='4x3xi8=[8 -9 -8][9 8 -4][-7 -4 -9][7 3 2]' \
// RUN:   --input='4x5xi8=[-5 -1 -6 5 0][-9 -5 4 0 -2][-5 -8 2 3 0][8 8 -6 2 2]' \
// RUN:   --input='5xf32=0.5 0.25 1.5 2.0 0.125' \
// RUN:   --expected_output='3x5xi8=[21 33 -31 63 10][-3 0 19 -128 -3][15 2 -128 -128 -11]'
func.func @qmatmul_3x5x4_i8n_i8t_i8t_za3_zbm5_zc7_percolumn(%lhs: tensor<4x3xi8>, %rhs: tensor<4x5xi8>, %scale: tensor<5xf32>) -> tensor<3x5xi8> {
  %za = arith.constant 3 : i32
  %zb = arith.constant -5 : i32
  %zero = arith.constant 0 : i32
  %zeros_empty = tensor.empty() : tensor<3x5xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%zeros_empty : tensor<3x5xi32>) -> tensor<3x5xi32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                     affine_map<(m, n, k) -> (k, n)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs : tensor<4x3xi8>, tensor<4x5xi8>) outs(%zeros : tensor<3x5xi32>) {
  ^bb0(%a: i8, %b: i8, %before: i32):
    %wide_a = arith.extsi %a : i8 to i32
    %wide_b = arith.extsi %b : i8 to i32
    %shifted_a = arith.subi %wide_a, %za : i32
    %shifted_b = arith.subi %wide_b, %zb : i32
    %product = arith.muli %shifted_a, %shifted_b : i32
    %next = arith.addi %before, %product : i32
    linalg.yield %next : i32
  } -> tensor<3x5xi32>
  %finished = tensor.empty() : tensor<3x5xi8>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>,
                     affine_map<(m, n) -> (n)>,
                     affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %scale : tensor<3x5xi32>, tensor<5xf32>) outs(%finished : tensor<3x5xi8>) {
  ^bb0(%total: i32, %factor: f32, %old: i8):
    %zc = arith.constant 7.0 : f32
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
  } -> tensor<3x5xi8>
  return %result : tensor<3x5xi8>
}
