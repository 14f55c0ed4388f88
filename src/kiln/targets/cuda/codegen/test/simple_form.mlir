// A convolution of channels that come first, with a filter of the call, is computed in the simple form, which is a remark that is counted; a product with a vector loses nothing by it.
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-remarks %s -o %t.vmfb 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: kiln-dump-module %t.vmfb --output=metadata | FileCheck %s --check-prefix=COUNT

// CHECK: remark: scalar_loop: convolution_dispatch_0_{{.*}} computes its contraction without tiles in shared memory, since it reads an input at what is computed of several loops, as a convolution does
// COUNT: kiln.remarks: scalar_loop 1{{$}}

func.func @convolution(%image: tensor<1x64x34x34xf16>, %filter: tensor<64x64x3x3xf16>) -> tensor<1x64x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64x32x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  %result = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x64x34x34xf16>, tensor<64x64x3x3xf16>) outs(%zeros : tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  return %result : tensor<1x64x32x32xf32>
}

func.func @vector(%matrix: tensor<512x512xf16>, %vector: tensor<512xf16>) -> tensor<512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<512xf32>) -> tensor<512xf32>
  %result = linalg.matvec ins(%matrix, %vector : tensor<512x512xf16>, tensor<512xf16>) outs(%zeros : tensor<512xf32>) -> tensor<512xf32>
  return %result : tensor<512xf32>
}
