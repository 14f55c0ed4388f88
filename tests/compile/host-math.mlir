// Scalars of the host: what its virtual machine has no instruction for is made of what it has.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=bits --input=i8=-128 --input=i16=6 --input=i64=0 | FileCheck %s --check-prefix=BITS
// RUN: kiln-run-module --module=%t.vmfb --function=wide --input=i64=-3 --input=i64=-9223372036854775808 --input=i8=-100 --input=i8=100 | FileCheck %s --check-prefix=WIDE
// RUN: kiln-run-module --module=%t.vmfb --function=floats --input=f32=-2.5 --input=f64=0.49999999999999994 --input=f16=-0.0 | FileCheck %s --check-prefix=FLOATS
// RUN: kiln-run-module --module=%t.vmfb --function=numbers --input=f32=nan --input=f32=-3 | FileCheck %s --check-prefix=NUMBERS

// BITS: result[0]: i8=-128
// BITS: result[1]: i8=1
// BITS: result[2]: i16=2
// BITS: result[3]: i16=13
// BITS: result[4]: i16=1
// BITS: result[5]: i64=64
// BITS: result[6]: i64=64
func.func @bits(%a: i8, %b: i16, %c: i64) -> (i8, i8, i16, i16, i16, i64, i64) {
  %0 = math.absi %a : i8
  %1 = math.ctpop %a : i8
  %2 = math.ctpop %b : i16
  %3 = math.ctlz %b : i16
  %4 = math.cttz %b : i16
  %5 = math.ctlz %c : i64
  %6 = math.cttz %c : i64
  return %0, %1, %2, %3, %4, %5, %6 : i8, i8, i16, i16, i16, i64, i64
}

// -3 * -2^63 = 2^64 + 2^63; as unsigned numbers (2^64 - 3) * 2^63 = 2^127 - 3 * 2^63. -100 * 100 = -40 * 256 + 240.
// WIDE: result[0]: i64=-9223372036854775808
// WIDE: result[1]: i64=1
// WIDE: result[2]: i64=9223372036854775806
// WIDE: result[3]: i8=-16
// WIDE: result[4]: i8=-40
// WIDE: result[5]: i8=0
// WIDE: result[6]: i1=1
func.func @wide(%a: i64, %b: i64, %c: i8, %d: i8) -> (i64, i64, i64, i8, i8, i8, i1) {
  %0:2 = arith.mulsi_extended %a, %b : i64
  %1:2 = arith.mului_extended %a, %b : i64
  %2:2 = arith.mulsi_extended %c, %d : i8
  %3, %carries = arith.addui_extended %c, %d : i8, i1
  return %0#0, %0#1, %1#1, %2#0, %2#1, %3, %carries : i64, i64, i64, i8, i8, i8, i1
}

// FLOATS: result[0]: f32=-2
// FLOATS: result[1]: f32=-3
// FLOATS: result[2]: f64=0
// FLOATS: result[3]: f16=-0
// FLOATS: result[4]: f32=-2.5
// FLOATS: result[5]: f16=0
func.func @floats(%a: f32, %b: f64, %c: f16) -> (f32, f32, f64, f16, f32, f16) {
  %two_and_a_half = arith.constant 2.5 : f32
  %one = arith.constant 1.0 : f16
  %0 = math.trunc %a : f32
  %1 = math.round %a : f32
  %2 = math.round %b : f64
  %3 = math.round %c : f16
  %4 = math.copysign %two_and_a_half, %a : f32
  %5 = math.copysign %c, %one : f16
  return %0, %1, %2, %3, %4, %5 : f32, f32, f64, f16, f32, f16
}

// NUMBERS: result[0]: f32=-3
// NUMBERS: result[1]: f32=-3
// NUMBERS: result[2]: f32=-3
func.func @numbers(%nan: f32, %a: f32) -> (f32, f32, f32) {
  %one = arith.constant 1.0 : f32
  %0 = arith.maxnumf %nan, %a : f32
  %1 = arith.minnumf %a, %nan : f32
  %2 = arith.minnumf %a, %one : f32
  return %0, %1, %2 : f32, f32, f32
}
