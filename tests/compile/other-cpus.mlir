// Every function is compiled for CPUs that this one need not be.

// RUN: for cpu in x86-64 haswell skylake-avx512 sapphirerapids znver4; do \
// RUN:   kiln-compile %s -o %t.$cpu.vmfb --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=$cpu --kiln-hal-dump-executable-files-to=%t.$cpu || exit 1; \
// RUN: done
// RUN: cat %t.skylake-avx512/*_softmax_dispatch_*.s %t.skylake-avx512/*_exp_dispatch_*.s | FileCheck %s
// CHECK: vscalefps {{.*}}zmm
// CHECK: vscalefps {{.*}}zmm

func.func @exp(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.exp %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @exp_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.exp %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @exp2(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.exp2 %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @exp2_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.exp2 %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @expm1(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.expm1 %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @expm1_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.expm1 %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @log(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.log %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @log_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.log %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @log10(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.log10 %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @log10_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.log10 %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @log1p(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.log1p %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @log1p_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.log1p %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @log2(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.log2 %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @log2_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.log2 %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @tanh(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.tanh %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @tanh_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.tanh %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @erf(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.erf %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @erf_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.erf %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @sin(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.sin %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @sin_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.sin %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @cos(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.cos %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @cos_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.cos %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @tan(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.tan %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @tan_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.tan %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @atan(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.atan %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @atan_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.atan %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @sqrt(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.sqrt %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @sqrt_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.sqrt %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @rsqrt(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.rsqrt %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @rsqrt_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.rsqrt %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @cbrt(%x: tensor<100x33xf32>) -> tensor<100x33xf32> {
  %y = math.cbrt %x : tensor<100x33xf32>
  return %y : tensor<100x33xf32>
}
func.func @cbrt_f16(%x: tensor<100x33xf16>) -> tensor<100x33xf16> {
  %y = math.cbrt %x : tensor<100x33xf16>
  return %y : tensor<100x33xf16>
}
func.func @softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %empty = tensor.empty() : tensor<64x1000xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<64x1000xf32>) outs(%empty : tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %y : tensor<64x1000xf32>
}
