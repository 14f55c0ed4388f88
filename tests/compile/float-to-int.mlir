// Floats to integers: the same for what is in range, whether the host converts, a kernel does, or a constant is folded.
// The ranges end before the next whole number beyond them: -128.9 is -128. Outside of them arith says poison.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=host --input=-128.9 --input=255.9 --input=-32768.5 --input=-0.5 \
// RUN:   --input=18446742974197923840 --input=-1 | FileCheck %s --check-prefix=SCALARS
// RUN: kiln-run-module --module=%t.vmfb --function=folded | FileCheck %s --check-prefix=SCALARS
// SCALARS:      result[0]: i8=-128
// SCALARS-NEXT: result[1]: i8=-1
// SCALARS-NEXT: result[2]: i16=-32768
// SCALARS-NEXT: result[3]: i32=0
// SCALARS-NEXT: result[4]: i64=-1099511627776
// SCALARS-NEXT: result[5]: i1=1
// RUN: kiln-run-module --module=%t.vmfb --function=signed --input="7xf32=-128.9 -2.5 -0.5 0.9 2.5 100 127.9" \
// RUN:   --expected_output="7xi8=-128 -2 0 0 2 100 127"
// RUN: kiln-run-module --module=%t.vmfb --function=unsigned --input="7xf16=-0.9 0 0.9 127.9 128 200.75 255.5" \
// RUN:   --expected_output="7xi8=0 0 0 127 -128 -56 -1"
// RUN: kiln-run-module --module=%t.vmfb --function=wide --input="3xf64=0.9 9223372036854775808 18446742974197923840" \
// RUN:   --expected_output="3xi64=0 -9223372036854775808 -1099511627776"
// RUN: kiln-run-module --module=%t.vmfb --function=bits --input="5xbf16=-1.5 -1 -0.5 0 0.5" \
// RUN:   --expected_output="5xi1=1 1 0 0 0"

func.func @host(%a: f32, %b: f32, %c: f64, %d: f32, %e: f64, %f: bf16) -> (i8, i8, i16, i32, i64, i1) {
  %0 = arith.fptosi %a : f32 to i8
  %1 = arith.fptoui %b : f32 to i8
  %2 = arith.fptosi %c : f64 to i16
  %3 = arith.fptoui %d : f32 to i32
  %4 = arith.fptoui %e : f64 to i64
  %5 = arith.fptosi %f : bf16 to i1
  return %0, %1, %2, %3, %4, %5 : i8, i8, i16, i32, i64, i1
}
func.func @folded() -> (i8, i8, i16, i32, i64, i1) {
  %a = arith.constant -128.9 : f32
  %b = arith.constant 255.9 : f32
  %c = arith.constant -32768.5 : f64
  %d = arith.constant -0.5 : f32
  %e = arith.constant 18446742974197923840.0 : f64
  %f = arith.constant -1.0 : bf16
  %0 = arith.fptosi %a : f32 to i8
  %1 = arith.fptoui %b : f32 to i8
  %2 = arith.fptosi %c : f64 to i16
  %3 = arith.fptoui %d : f32 to i32
  %4 = arith.fptoui %e : f64 to i64
  %5 = arith.fptosi %f : bf16 to i1
  return %0, %1, %2, %3, %4, %5 : i8, i8, i16, i32, i64, i1
}
func.func @signed(%a: tensor<7xf32>) -> tensor<7xi8> {
  %0 = arith.fptosi %a : tensor<7xf32> to tensor<7xi8>
  return %0 : tensor<7xi8>
}
func.func @unsigned(%a: tensor<7xf16>) -> tensor<7xi8> {
  %0 = arith.fptoui %a : tensor<7xf16> to tensor<7xi8>
  return %0 : tensor<7xi8>
}
func.func @wide(%a: tensor<3xf64>) -> tensor<3xi64> {
  %0 = arith.fptoui %a : tensor<3xf64> to tensor<3xi64>
  return %0 : tensor<3xi64>
}
func.func @bits(%a: tensor<5xbf16>) -> tensor<5xi1> {
  %0 = arith.fptosi %a : tensor<5xbf16> to tensor<5xi1>
  return %0 : tensor<5xi1>
}
