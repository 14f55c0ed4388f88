// The operations on tensors that programs for tests are written with: constants of unknown extents, the same bytes as
// other elements, extents that the program vouches for.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %S/Inputs/vouched-extents.mlir -o %t.vouched.vmfb
// RUN: call() { kiln-run-module --module=%t.vouched.vmfb --function="$@" 2>&1 || true; }; { call bytes --input=4xi32=1 --input=8; \
// RUN:   call bytes --input=4xi32=1 --input=9; call bytes --input=4xi32=1 --input=-8; call tie --input=4xi32=1 --input=5; } \
// RUN:   | FileCheck %s
// CHECK: result[0]: hal.buffer_view
// CHECK-NEXT: 8xi16=1 0 1 0 1 0 1 0
// CHECK: 'flow.tensor.bitcast': the result must have as many bytes as the source
// CHECK: 'flow.tensor.bitcast': an extent is negative, or the tensor is too large
// CHECK: 'flow.tensor.tie_shape': dimension 0 of the tensor is another one

func.func private @twice(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %0 = util.optimization_barrier %a : tensor<?xf32>
  %1 = flow.tensor.tie_shape %0 : tensor<?xf32>{%n}
  %2 = arith.addf %1, %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}

func.func @dynamic_constant() {
  %0 = flow.tensor.dynamic_constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> -> tensor<?xf32>
  %1 = call @twice(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = tensor.cast %1 : tensor<?xf32> to tensor<3xf32>
  check.expect_eq_const(%2, dense<[2.0, 4.0, 6.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}

func.func @bitcast() {
  %0 = util.unfoldable_constant dense<[1.0, -2.0]> : tensor<2xf32>
  %1 = flow.tensor.bitcast %0 : tensor<2xf32> -> tensor<2x2xi16>
  check.expect_eq_const(%1, dense<[[0, 16256], [0, -16384]]> : tensor<2x2xi16>) : tensor<2x2xi16>
  return
}

func.func @others() {
  %c1 = arith.constant 1 : index
  %two = util.unfoldable_constant 2 : i32
  %0 = flow.tensor.splat %two : i32, tensor<3xi32>
  %1 = flow.tensor.load %0[%c1] : tensor<3xi32> -> i32
  %2 = flow.tensor.empty : tensor<3xi32>
  %3 = linalg.fill ins(%1 : i32) outs(%2 : tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq(%3, %0) : tensor<3xi32>
  return
}
