// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-opt --kiln-zero-fill-elided %s | FileCheck %s --check-prefix=ZERO
// RUN: kiln-opt --kiln-zero-fill-elided --kiln-export-parameters --kiln-parameter-export=model=%t/x.irpa \
// RUN:   --kiln-parameter-export-minimum-size=16 %s | FileCheck %s
// RUN: kiln-dump-parameters --parameters=%t/x.irpa | FileCheck %s --check-prefix=ARCHIVE
// RUN: not kiln-opt --kiln-export-parameters --kiln-parameter-export=%t/absent/x.irpa %s 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: cannot write '{{.*}}/absent/x.irpa'

// ZERO-LABEL: @f
// ZERO: arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-LABEL: @f
func.func @f() -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<16xi1>, tensor<2x2xf32>, tensor<4xf32>) {
  // What has the same elements everywhere stays, and what is small or has elements of less than a byte.
  // CHECK: arith.constant dense<0.000000e+00> : tensor<4xf32>
  %0 = arith.constant dense_resource<__elided__> : tensor<4xf32>
  // CHECK: flow.tensor.parameter #flow.parameter.named<"model"::"weights"> : tensor<4xf32>
  %1 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> loc("weights")
  // CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %2 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: arith.constant dense<[true
  %3 = arith.constant dense<[true, false, true, true, true, true, true, true, true, true, true, true, true, true, true, true]> : tensor<16xi1>
  // CHECK: flow.tensor.parameter #flow.parameter.named<"model"::"weights_1"> : tensor<2x2xf32>
  %4 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> loc("weights")
  // The same once more.
  // CHECK: flow.tensor.parameter #flow.parameter.named<"model"::"weights"> : tensor<4xf32>
  %5 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<16xi1>, tensor<2x2xf32>, tensor<4xf32>
}
// What the program is given of this scope already is another's.
// CHECK-LABEL: @g
func.func @g() -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: #flow.parameter.named<"model"::"constant"> : tensor<4xf32>
  %0 = flow.tensor.parameter #flow.parameter.named<"model"::"constant"> : tensor<4xf32>
  // CHECK: #flow.parameter.named<"model"::"constant_1"> : tensor<4xf32>
  %1 = arith.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
// ARCHIVE: (3 entries, 48 total bytes)
// ARCHIVE: `weights`
// ARCHIVE: `weights_1`
// ARCHIVE: `constant_1`
