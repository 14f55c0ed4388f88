// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x4xui8=[115 100 227 132][107 255 170 150]' \
// RUN:   --input='3x4xi8=[-2 2 2 3][2 -2 -1 1][1 1 3 -1]' \
// RUN:   --input='f32=0.5' \
// RUN:   --expected_output='2x3xi8=[-45 89 -9][-1 0 -30]'
func.func @qmatmul_2x3x4_ui8t_i8n_ui8t_za128_zb0_zc121_pertensor(%lhs: tensor<2x4xi8>, %rhs: tensor<3x4xi8>, %scale: tensor<f32>) -> tensor<2x3xi8> {
  %za = arith.constant 128 : i32
  %zb = arith.constant 0 : i32
  %zero = arith.constant 0 : i32
  %zeros_empty = tensor.empty() : tensor<2x3xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%zeros_empty : tensor<2x3xi32>) -> tensor<2x3xi32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                     affine_map<(m, n, k) -> (n, k)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs : tensor<2x4xi8>, tensor<3x4xi8>) outs(%zeros : tensor<2x3xi32>) {
  ^bb0(%a: i8, %b: i8, %before: i32):
    %wide_a = arith.extui %a : i8 to i32
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
                     affine_map<(m, n) -> ()>,
                     affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %scale : tensor<2x3xi32>, tensor<f32>) outs(%finished : tensor<2x3xi8>) {
  ^bb0(%total: i32, %factor: f32, %old: i8):
    %zc = arith.constant 121.0 : f32
    %lowest = arith.constant 0.0 : f32
    %highest = arith.constant 255.0 : f32
    %real = arith.sitofp %total : i32 to f32
    %scaled = arith.mulf %real, %factor : f32
    %rounded = math.roundeven %scaled : f32
    %shifted = arith.addf %rounded, %zc : f32
    %above = arith.maximumf %shifted, %lowest : f32
    %clamped = arith.minimumf %above, %highest : f32
    %narrow = arith.fptoui %clamped : f32 to i8
    linalg.yield %narrow : i8
  } -> tensor<2x3xi8>
  return %result : tensor<2x3xi8>
}
