// RUN: kiln-opt --kiln-wrap-entry-points %s | FileCheck %s --check-prefix=ABI
// RUN: kiln-compile --compile-to=vm --kiln-hal-target-backends=llvm-cpu %s | FileCheck %s --check-prefix=VM
// What is expected of a tensor is asked of who runs the program, when the work that computes it has been awaited.

func.func @test() {
  %input = util.unfoldable_constant dense<[1.0, -2.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %abs = linalg.abs ins(%input : tensor<2xf32>) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  // ABI: %[[EXPECTED:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]>
  // ABI: %[[A:.*]] = hal.tensor.export %{{.*}} : tensor<2xf32> -> !hal.buffer_view
  // ABI: %[[B:.*]] = hal.tensor.export %[[EXPECTED]] : tensor<2xf32> -> !hal.buffer_view
  // ABI: check.expect_almost_eq(%[[A]], %[[B]], rtol 1.000000e-03) : !hal.buffer_view
  check.expect_almost_eq_const(%abs, dense<[1.0, 2.0]> : tensor<2xf32>, rtol 1.0e-3) : tensor<2xf32>
  %yes = arith.constant true
  // ABI: arith.extui %{{.*}} : i1 to i32
  // ABI: check.expect_true(%{{.*}}) : i32
  check.expect_true(%yes) : i1
  return
}

// VM-DAG: vm.import private @check.expect_almost_eq "rrrFF_"
// VM-DAG: vm.import private @check.expect_true "ri_"
// VM: call @hal.device.execute
// VM: call @hal.fence.await
// VM: call @check.expect_almost_eq
// VM: call @check.expect_true
