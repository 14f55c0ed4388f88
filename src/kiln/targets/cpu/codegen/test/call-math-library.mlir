// RUN: kiln-opt %s --pass-pipeline='builtin.module(kiln-llvmcpu-call-math-library)' --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: func.func private @sinf(f32) -> f32
// CHECK-DAG: func.func private @pow(f64, f64) -> f64

// One declaration serves all calls; a vector takes a call for each element.
// CHECK-LABEL: func.func @functions
func.func @functions(%x: f32, %v: vector<2xf32>, %y: f64) -> (f32, vector<2xf32>, f64) {
  // CHECK: call @sinf(%{{.*}}) : (f32) -> f32
  %a = math.sin %x : f32
  // CHECK: %[[E0:.*]] = vector.extract %{{.*}}[0]
  // CHECK: %[[R0:.*]] = {{.*}}call @sinf(%[[E0]])
  // CHECK: %[[R1:.*]] = {{.*}}call @sinf
  // CHECK: vector.from_elements %[[R0]], %[[R1]] : vector<2xf32>
  %b = math.sin %v : vector<2xf32>
  // CHECK: call @pow
  %c = math.powf %y, %y : f64
  return %a, %b, %c : f32, vector<2xf32>, f64
}

// -----

func.func @narrow(%x: f16) -> f16 {
  // expected-error @+1 {{has no function in the C library for elements of 'f16'}}
  %a = math.sin %x : f16
  return %a : f16
}
