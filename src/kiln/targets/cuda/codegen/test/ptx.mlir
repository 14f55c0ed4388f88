// From programs to PTX: the product of document 001, reductions and what is between them.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-dump-executable-binaries-to=%t %s -o %t/module.vmfb
// RUN: cat %t/*matmul*.ptx | FileCheck %s --check-prefix=MATMUL
// RUN: cat %t/*softmax*.ptx | FileCheck %s --check-prefix=SOFTMAX
// RUN: kiln-dump-module %t/module.vmfb | FileCheck %s --check-prefix=MODULE
// The same program gives the same bytes, and H100 is a name for sm_90a.
// RUN: kiln-compile --iree-hal-target-backends=cuda --mlir-disable-threading %s -o %t/again.vmfb && cmp %t/module.vmfb %t/again.vmfb
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=h100 %s -o %t/h100.vmfb
// RUN: kiln-dump-module %t/h100.vmfb | FileCheck %s --check-prefix=H100
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_1 %s -o - 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// MATMUL: .target sm_80
// MATMUL: .visible .entry matmul_dispatch_0_matmul_3456x1024x2048_f16xf16xf32(
// MATMUL: .maxntid 256
// MATMUL-DAG: cp.async.cg.shared.global
// MATMUL-DAG: bar.sync
// MATMUL-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// MATMUL-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// MATMUL-DAG: st.global.v2.b32

// A warp has a row: it is read once, and nobody waits for others.
// SOFTMAX: .maxntid 128
// SOFTMAX-NOT: bar.sync
// SOFTMAX-COUNT-8: ld.global.nc.v4.b32
// SOFTMAX-NOT: ld.global
// SOFTMAX-COUNT-10: shfl.sync.bfly.b32
// SOFTMAX-NOT: ld.global

// MODULE: cuda, ptx, {{.*}} made for sm_80
// H100: cuda, ptx, {{.*}} made for sm_90a
// UNKNOWN: error: --kiln-hal-cuda-llvm-target-arch: 'sm_1' is no GPU that this compiler generates code for; it knows sm_75,

func.func @matmul(%lhs: tensor<3456x2048xf16>, %rhs: tensor<2048x1024xf16>) -> tensor<3456x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3456x1024xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<3456x1024xf32>) -> tensor<3456x1024xf32>
  %r = linalg.matmul ins(%lhs, %rhs : tensor<3456x2048xf16>, tensor<2048x1024xf16>) outs(%fill : tensor<3456x1024xf32>) -> tensor<3456x1024xf32>
  return %r : tensor<3456x1024xf32>
}

func.func @softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %e = tensor.empty() : tensor<64x1000xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<64x1000xf32>) outs(%e : tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %r : tensor<64x1000xf32>
}
