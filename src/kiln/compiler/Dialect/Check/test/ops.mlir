// RUN: kiln-opt -split-input-file -verify-diagnostics %s | FileCheck %s
// What is expected of values: as it is written, and as it crosses the boundary of the program.

// CHECK-LABEL: @all
func.func @all(%flag: i1, %count: i32, %tensor: tensor<4xf32>, %dynamic: tensor<?xi32>) {
  // CHECK: check.expect_true(%{{.*}}) : i1
  check.expect_true(%flag) : i1
  // CHECK: check.expect_false(%{{.*}}) : i32
  check.expect_false(%count) : i32
  // CHECK: check.expect_all_true(%{{.*}}) : tensor<?xi32>
  check.expect_all_true(%dynamic) : tensor<?xi32>
  // CHECK: check.expect_eq(%[[T:.*]], %[[T]]) : tensor<4xf32>
  check.expect_eq(%tensor, %tensor) : tensor<4xf32>
  // CHECK: check.expect_eq_const(%{{.*}}, dense<1.000000e+00> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%tensor, dense<1.0> : tensor<4xf32>) : tensor<4xf32>
  // CHECK: check.expect_almost_eq(%{{.*}}, %{{.*}}) : tensor<4xf32>
  check.expect_almost_eq(%tensor, %tensor) : tensor<4xf32>
  // CHECK: check.expect_almost_eq(%{{.*}}, %{{.*}}, atol 1.000000e-02, rtol 1.000000e-03) : tensor<4xf32>
  check.expect_almost_eq(%tensor, %tensor, atol 1.0e-2, rtol 1.0e-3) : tensor<4xf32>
  // CHECK: check.expect_almost_eq_const(%{{.*}}, dense<1.000000e+00> : tensor<4xf32>, rtol 1.000000e-03) : tensor<4xf32>
  check.expect_almost_eq_const(%tensor, dense<1.0> : tensor<4xf32>, rtol 1.0e-3) : tensor<4xf32>
  return
}

// -----

func.func @types(%tensor: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {actual, expected} have same type}}
  "check.expect_eq_const"(%tensor) <{expected = dense<1> : tensor<4xi32>}> : (tensor<4xf32>) -> ()
  return
}
