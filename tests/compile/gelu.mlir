// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb

// The 1 + tanh(x) of GELU at its ends, in its middle, and where tanh is nearly -1.
func.func @one_and_tanh() {
  %x = util.unfoldable_constant dense<[0.0, 0x7F800000, 0xFF800000, 100.0, -100.0, 0.5, -2.0, -6.0, 1.0e-20]> : tensor<9xf32>
  %empty = tensor.empty() : tensor<9xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<9xf32>) outs(%empty : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %tanh = math.tanh %a : f32
    %sum = arith.addf %tanh, %one : f32
    linalg.yield %sum : f32
  } -> tensor<9xf32>
  check.expect_almost_eq_const(%0, dense<[1.0, 2.0, 0.0, 2.0, 0.0, 1.46211716, 0.0359724, 1.2288e-05, 1.0]> : tensor<9xf32>,
      atol 2.5e-07, rtol 0.0) : tensor<9xf32>
  return
}

// Rounded once for each operation in f16, or only at the end: either is near.
func.func @half() {
  %x = util.unfoldable_constant dense<[0.0, 0x7C00, 0xFC00, 0.5, -2.0]> : tensor<5xf16>
  %empty = tensor.empty() : tensor<5xf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<5xf16>) outs(%empty : tensor<5xf16>) {
  ^bb0(%a: f16, %b: f16):
    %one = arith.constant 1.0 : f16
    %tanh = math.tanh %a : f16
    %sum = arith.addf %one, %tanh : f16
    linalg.yield %sum : f16
  } -> tensor<5xf16>
  check.expect_almost_eq_const(%0, dense<[1.0, 2.0, 0.0, 1.4619, 0.0360]> : tensor<5xf16>, atol 1.0e-03) : tensor<5xf16>
  return
}
