// Long rows of floats are added up in parts, so that a sum is nearer to the true one than a running sum would be: whether
// the length is known or not, whether blocks fit in or not, and beside what needs no parts.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic %s -o %t.generic.vmfb
// RUN: kiln-check-module --module=%t.vmfb
// RUN: kiln-check-module --module=%t.generic.vmfb

#e = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func private @sums(%a: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r:2 = linalg.generic {indexing_maps = [#e, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<?x?xf32>) outs(%init, %init : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %sum: f32, %most: f32):
    %s = arith.addf %sum, %x : f32
    %m = arith.maximumf %most, %x : f32
    linalg.yield %s, %m : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

func.func @known() {
  %a = util.unfoldable_constant dense<0.001> : tensor<6x40960xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#e, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<6x40960xf32>) outs(%init : tensor<6xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %s = arith.addf %sum, %x : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  check.expect_almost_eq_const(%r, dense<40.96> : tensor<6xf32>, atol 1.0e-04) : tensor<6xf32>
  return
}

func.func @unknown() {
  %a = flow.tensor.dynamic_constant dense<0.001> : tensor<5x40960xf32> -> tensor<?x?xf32>
  %r:2 = call @sums(%a) : (tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  %s = tensor.cast %r#0 : tensor<?xf32> to tensor<5xf32>
  %m = tensor.cast %r#1 : tensor<?xf32> to tensor<5xf32>
  check.expect_almost_eq_const(%s, dense<40.96> : tensor<5xf32>, atol 1.0e-04) : tensor<5xf32>
  check.expect_eq_const(%m, dense<0.001> : tensor<5xf32>) : tensor<5xf32>
  return
}

// Some blocks, and then vectors and elements that make none.
func.func @uneven() {
  %a = flow.tensor.dynamic_constant dense<1.0> : tensor<3x20011xf32> -> tensor<?x?xf32>
  %r:2 = call @sums(%a) : (tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  %s = tensor.cast %r#0 : tensor<?xf32> to tensor<3xf32>
  check.expect_eq_const(%s, dense<20011.0> : tensor<3xf32>) : tensor<3xf32>
  return
}

func.func @uneven_known() {
  %a = util.unfoldable_constant dense<1.0> : tensor<3x20011xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3xf64>
  %init = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %r = linalg.generic {indexing_maps = [#e, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<3x20011xf64>) outs(%init : tensor<3xf64>) {
  ^bb0(%x: f64, %sum: f64):
    %s = arith.addf %sum, %x : f64
    linalg.yield %s : f64
  } -> tensor<3xf64>
  check.expect_eq_const(%r, dense<20011.0> : tensor<3xf64>) : tensor<3xf64>
  return
}
