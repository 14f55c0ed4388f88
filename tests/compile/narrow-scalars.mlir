// Arithmetic on f16 and bf16 on the host rounds once for each operation.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=f16 --input=2049 --input=3 | FileCheck %s --check-prefix=F16
// RUN: kiln-run-module --module=%t.vmfb --function=bf16 --input=2.5 --input=257 --input=1.005 | FileCheck %s --check-prefix=BF16
// RUN: kiln-run-module --module=%t.vmfb --function=tensors --input="4xf16=[1 2 3 4]" --input=2 --input=0.1 | FileCheck %s --check-prefix=TENSORS
// RUN: kiln-run-module --module=%t.vmfb --function=loop --input=1000 --input=1 | FileCheck %s --check-prefix=LOOP

// F16: result[0]: f16=2052
// F16: result[1]: f16=682.5
// F16: result[2]: f16=inf
// F16: result[3]: i1=0
// F16: result[4]: i32=2052
// F16: result[5]: f32=682.5
func.func @f16(%a: f16, %b: f16) -> (f16, f16, f16, i1, i32, f32) {
  %0 = arith.addf %a, %b : f16
  %1 = arith.divf %a, %b : f16
  %2 = math.exp %a : f16
  %3 = arith.cmpf olt, %a, %b : f16
  %4 = arith.fptosi %0 : f16 to i32
  %5 = arith.extf %1 : f16 to f32
  return %0, %1, %2, %3, %4, %5 : f16, f16, f16, i1, i32, f32
}

// BF16: result[0]: bf16=3.75
// BF16: result[1]: bf16=256
// BF16: result[2]: bf16=1.00781
func.func @bf16(%a: bf16, %n: i32, %x: f64) -> (bf16, bf16, bf16) {
  %c = arith.constant 1.5 : bf16
  %0 = arith.mulf %a, %c : bf16
  %1 = arith.sitofp %n : i32 to bf16
  %2 = arith.truncf %x : f64 to bf16
  return %0, %1, %2 : bf16, bf16, bf16
}

// TENSORS: 3xf16=3.09961 3.09961 3.09961
// TENSORS: result[1]: f16=3.09961
func.func @tensors(%t: tensor<4xf16>, %i: index, %s: f16) -> (tensor<3xf16>, f16) {
  %v = tensor.extract %t[%i] : tensor<4xf16>
  %w = arith.addf %v, %s : f16
  %e = tensor.empty() : tensor<3xf16>
  %f = linalg.fill ins(%w : f16) outs(%e : tensor<3xf16>) -> tensor<3xf16>
  return %f, %w : tensor<3xf16>, f16
}

// Where a sum no longer changes: 256 + 1 rounds to 256.
// LOOP: result[0]: bf16=256
func.func @loop(%n: index, %s: bf16) -> bf16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : bf16
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> bf16 {
    %b = arith.addf %a, %s : bf16
    scf.yield %b : bf16
  }
  return %r : bf16
}
