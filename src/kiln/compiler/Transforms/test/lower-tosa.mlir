// RUN: kiln-opt %s --split-input-file --kiln-lower-tosa | FileCheck %s
// RUN: kiln-opt %s --split-input-file --kiln-lower-tosa | FileCheck --check-prefix=GONE %s
// RUN: not kiln-opt %S/Inputs/tosa-custom.mlir --iree-common-input-transformation-pipeline 2>&1 \
// RUN:   | FileCheck --check-prefix=CUSTOM %s

// GONE-NOT: tosa
// CUSTOM: tosa-custom.mlir:2:8: error: {{.*}}tosa.custom

// CHECK-LABEL: func.func @product
// CHECK: linalg.batch_matmul
func.func @product(%a: tensor<1x4x8xf32>, %b: tensor<1x8x2xf32>) -> tensor<1x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %a, %b, %zero, %zero
    : (tensor<1x4x8xf32>, tensor<1x8x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x2xf32>
  return %0 : tensor<1x4x2xf32>
}

// A variable becomes a global, control flow scf.
// CHECK: ml_program.global private mutable @state(dense<3> : tensor<i32>)
// CHECK-LABEL: func.func @branch
// CHECK: ml_program.global_load @state
// CHECK: scf.if
tosa.variable @state = dense<3> : tensor<i32>
func.func @branch(%c: tensor<i1>, %a: tensor<i32>) -> tensor<i32> {
  %0 = tosa.variable_read @state : tensor<i32>
  %1 = tosa.cond_if %c : tensor<i1> -> tensor<i32> {
    %2 = tosa.add %0, %a : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %2 : tensor<i32>
  } else {
    tosa.yield %a : tensor<i32>
  }
  return %1 : tensor<i32>
}

// -----

// A program without TOSA stays as it is, also what canonicalization would fold.
// CHECK-LABEL: func.func @other
// CHECK: arith.addi
func.func @other() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %0, %0 : i32
  return %1 : i32
}
