// RUN: kiln-compile %s --iree-hal-target-backends=llvm-cpu --output-format=vm-asm | FileCheck %s

// CHECK: vm.module @module
// CHECK-DAG: vm.import private @hal.device.execute "rrr(rII)*_r"
// CHECK-DAG: vm.executable private @
// CHECK: vm.func private @abs(%arg0: !vm.ref) -> !vm.ref
// CHECK: vm.call @hal.buffer_view.assert
// CHECK: vm.call @hal.device.execute
// CHECK: vm.call @hal.fence.await
// CHECK: vm.return
// CHECK: vm.export @abs as "abs" reflection {kiln.abi.declaration =
func.func @abs(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.absf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Arithmetic on scalars stays arith, with index as i64; loops are branches.
// CHECK: vm.func private @scalars(%arg0: i64, %arg1: i64) -> i64
// CHECK: cf.cond_br
// CHECK: arith.addi {{.*}} : i64
// CHECK: vm.func private @__initialize()
func.func @scalars(%n: index, %x: i64) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> i64 {
    %s = arith.addi %acc, %x : i64
    scf.yield %s : i64
  }
  return %r : i64
}
