// The VM's program as C: each function with its own control flow, then data and tables, then the one function that is
// exported.
// RUN: kiln-compile %s --iree-hal-target-backends=llvm-cpu --output-format=vm-c -o %t.c
// RUN: FileCheck %s --input-file=%t.c
// RUN: kiln-compile %s --iree-hal-target-backends=llvm-cpu --output-format=vm-c | cmp - %t.c

// CHECK: #include "kiln_compiled.h"
// CHECK: static int [[SUM:f[0-9]+_sum]](const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);

// A loop is a label and a jump back, which asks now and then whether the call is over.
// CHECK: /* @sum IIi_Ii, c.mlir:[[#@LINE+25]]:3 */
// CHECK-NEXT: static int [[SUM]](
// CHECK: uint64_t v0 = values[0];
// CHECK: L[[HEAD:[0-9]+]]:
// CHECK-NEXT: [[C:v[0-9]+]] = (int64_t)[[V:v[0-9]+]] < (int64_t)v0;
// CHECK-NEXT: if ([[C]] != 0) {
// CHECK: {{v[0-9]+}} = {{v[0-9]+}} + v1;
// CHECK: if (++rounds % KILN_ROUNDS_PER_ASKING == 0 && runtime->is_over(frame, {{[0-9]+}}))
// CHECK: goto L[[HEAD]];
// Division fails by name; a result stands behind the arguments.
// CHECK: if ((uint32_t)[[D:v[0-9]+]] == 0 || kiln_overflows_i32([[N:v[0-9]+]], [[D]]))
// CHECK-NEXT: return runtime->fail_division(frame, {{[0-9]+}}, (uint32_t)[[D]] == 0);
// CHECK-NEXT: [[Q:v[0-9]+]] = (uint32_t)((int32_t)[[N]] / (int32_t)[[D]]);
// CHECK: values[4] = [[Q]];
// CHECK-NEXT: return runtime->leave(frame, 0, NULL);

// CHECK: /* @abs r_r, c.mlir:
// CHECK: runtime->call_import(frame, {{[0-9]+}}, {{[0-9]+}} /* hal.device.execute */, passed,
// CHECK: _Alignas(64) static const char constant_0[] = "input0";
// CHECK: _Alignas(64) static const uint64_t executable_0[
// CHECK: {"sum", {{[0-9]+}}, 1, attributes_0},
// CHECK: {"hal.buffer_view.assert", "rriI*_"},
// CHECK: {"hal", 1, {{[0-9]+}}},
// CHECK: KILN_COMPILED_API const kiln_compiled_module_t *kiln_register_two_things(void);
module @two_things {
  func.func @sum(%n: index, %x: i64, %d: i32) -> (i64, i32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> i64 {
      %s = arith.addi %acc, %x : i64
      scf.yield %s : i64
    }
    %low = arith.trunci %r : i64 to i32
    %q = arith.divsi %low, %d : i32
    return %r, %q : i64, i32
  }
  func.func @abs(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = math.absf %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
