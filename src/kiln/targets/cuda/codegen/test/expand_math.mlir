// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-cuda-expand-math))' --split-input-file --verify-diagnostics | FileCheck %s
// What belongs to no dialect that is known stays.
// RUN: echo 'func.func @f() { "test.use"() : () -> () return }' | kiln-opt --allow-unregistered-dialect --pass-pipeline='builtin.module(func.func(kiln-cuda-expand-math))' | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: "test.use"

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

// What is rounded to f16 needs no more than the hardware's power of two.
// CHECK-LABEL: func.func @narrow_exp
//       CHECK:   llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
//   CHECK-NOT:   math.fma
//       CHECK:   arith.truncf {{.*}} : f32 to f16
func.func @narrow_exp(%x: f16) -> f16 {
  %r = math.exp %x : f16
  return %r : f16
}

// GELU's 1 + tanh takes two instructions of the hardware; a tanh that something else needs too stays.
// CHECK-LABEL: func.func @one_and_tanh
//       CHECK:   %[[POWER:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
//       CHECK:   %[[SUM:.*]] = arith.addf %[[POWER]], %cst{{.*}} : f32
//       CHECK:   %[[INVERSE:.*]] = nvvm.rcp.approx.ftz.f %[[SUM]]
//       CHECK:   %[[RESULT:.*]] = arith.addf %[[INVERSE]], %[[INVERSE]] : f32
//       CHECK:   return %[[RESULT]]
func.func @one_and_tanh(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %t = math.tanh %x : f32
  %r = arith.addf %one, %t : f32
  return %r : f32
}

// CHECK-LABEL: func.func @tanh_and_one
//       CHECK:   arith.divf
func.func @tanh_and_one(%x: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %t = math.tanh %x : f32
  %r = arith.addf %t, %one : f32
  return %r, %t : f32, f32
}

// bf16 has subnormal numbers where f32 has them.
// CHECK-LABEL: func.func @narrower_exp
//       CHECK:   llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"
func.func @narrower_exp(%x: bf16) -> bf16 {
  %r = math.exp %x : bf16
  return %r : bf16
}

// The hardware rounds to bf16; what wgmma has summed up, two at a time.
// CHECK-LABEL: func.func @round_to_bf16
// CHECK: llvm.inline_asm {{.*}}"cvt.rn.bf16.f32 $0, $1;"
// CHECK-NOT: arith.shrui
// CHECK: return
func.func @round_to_bf16(%x: f32) -> bf16 {
  %r = arith.truncf %x : f32 to bf16
  return %r : bf16
}

// CHECK-LABEL: func.func @round_sums
// CHECK: llvm.inline_asm {{.*}}"cvt.rn.bf16x2.f32 $0, $1, $2;"
// CHECK-NOT: inline_asm
// CHECK: return
func.func @round_sums(%sums: !llvm.struct<(f32, f32)>) -> (bf16, bf16) {
  %0 = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32)>
  %1 = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32)>
  %a = arith.truncf %0 : f32 to bf16
  %b = arith.truncf %1 : f32 to bf16
  return %a, %b : bf16, bf16
}

// CHECK-LABEL: func.func @narrow_quotient
//       CHECK:   %[[INVERSE:.*]] = nvvm.rcp.approx.ftz.f
//   CHECK-NOT:   arith.divf
//       CHECK:   math.fma {{.*}}, %[[INVERSE]]
func.func @narrow_quotient(%x: f16, %y: f16) -> f16 {
  %r = arith.divf %x, %y : f16
  return %r : f16
}

// -----

func.func @without_form(%x: f64) -> f64 {
  // expected-error @+1 {{has no form for GPUs here yet, for elements of 'f64'}}
  %r = math.erfc %x : f64
  return %r : f64
}
