// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-cuda-expand-math))' --split-input-file --verify-diagnostics | FileCheck %s

// Functions become polynomials, and f16 is computed in f32.
// CHECK-LABEL: func.func @exp
//   CHECK-NOT:   math.exp
//       CHECK:   math.fma
func.func @exp(%x: f32) -> f32 {
  %r = math.exp %x : f32
  return %r : f32
}

// CHECK-LABEL: func.func @sum
//       CHECK:   arith.extf {{.*}} : f16 to f32
//       CHECK:   arith.addf {{.*}} : f32
//       CHECK:   arith.truncf {{.*}} : f32 to f16
func.func @sum(%x: f16) -> f16 {
  %r = arith.addf %x, %x : f16
  return %r : f16
}

// -----

func.func @without_form(%x: f64) -> f64 {
  // expected-error @+1 {{has no form for GPUs here yet, for elements of 'f64'}}
  %r = math.erf %x : f64
  return %r : f64
}
