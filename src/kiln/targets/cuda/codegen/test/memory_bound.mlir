// What memory bounds moves 16 bytes at a time, and nothing through a thread's own memory.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-dump-executable-binaries-to=%t %s -o %t/module.vmfb
// RUN: cat %t/*elementwise_dispatch*.ptx | FileCheck %s --check-prefix=ELEMENTWISE
// RUN: cat %t/*transpose_dispatch*.ptx | FileCheck %s --check-prefix=TRANSPOSE
// RUN: cat %t/*rows_dispatch*.ptx | FileCheck %s --check-prefix=ROWS
// RUN: cat %t/*columns_dispatch*.ptx | FileCheck %s --check-prefix=COLUMNS
// RUN: cat %t/*softmax_dispatch*.ptx | FileCheck %s --check-prefix=SOFTMAX
// RUN: cat %t/*softmax_dispatch*.ptx | FileCheck %s --check-prefix=INVERSE
// RUN: cat %t/*vecmat_dispatch*.ptx | FileCheck %s --check-prefix=VECMAT
// RUN: cat %t/*.ptx | FileCheck %s --check-prefix=NONE

// No division of 64 bits, no memory of a thread's own.
// NONE-NOT: {{(ld|st).local|div.u64|rem.u64|div.s64}}

// All is loaded before anything is stored.
// ELEMENTWISE: .maxntid 256
// ELEMENTWISE-NOT: ld.global{{.*}}.b32 %
// ELEMENTWISE-COUNT-6: ld.global.nc.v4.b32
// ELEMENTWISE-NOT: ld.global
// ELEMENTWISE-COUNT-2: st.global.v4.b32
// ELEMENTWISE-NOT: st.global
func.func @elementwise(%x: tensor<4096x4096xf32>, %y: tensor<4096x4096xf32>, %z: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %e = math.exp %z : tensor<4096x4096xf32>
  %p = arith.mulf %x, %y : tensor<4096x4096xf32>
  %r = arith.addf %p, %e : tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Squares of four are turned in registers.
// TRANSPOSE-COUNT-4: ld.global.nc.v4.b32
// TRANSPOSE-COUNT-4: st.shared.v4.b32
// TRANSPOSE: bar.sync
// TRANSPOSE-COUNT-4: ld.shared.v4.b32
// TRANSPOSE-COUNT-4: st.global.v4.b32
func.func @transpose(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %r = linalg.transpose ins(%x : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) permutation = [1, 0]
  return %r : tensor<4096x4096xf32>
}

// ROWS: .maxntid 256
// ROWS-COUNT-8: ld.global.nc.v4.b32
// ROWS-NOT: ld.global
// ROWS-COUNT-5: shfl.sync.bfly.b32
// ROWS: bar.sync
// ROWS-COUNT-3: shfl.sync.bfly.b32
func.func @rows(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8192x8192xf32>) outs(%f : tensor<8192xf32>) dimensions = [1]
  return %r : tensor<8192xf32>
}

// COLUMNS: .maxntid 512
// COLUMNS-COUNT-8: ld.global.nc.v4.b32
// COLUMNS-NOT: ld.global
// COLUMNS: st.global.b32
func.func @columns(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8192x8192xf32>) outs(%f : tensor<8192xf32>) dimensions = [0]
  return %r : tensor<8192xf32>
}

// The row is read once, and stays in registers as what it becomes; its sum is inverted once.
// SOFTMAX: .maxntid 128
// SOFTMAX-COUNT-4: ld.global.nc.v4.b32
// SOFTMAX-NOT: ld.global
// SOFTMAX: ex2.approx.ftz.f32
// INVERSE: rcp.approx.ftz.f32
// INVERSE-NOT: {{rcp.approx|div.rn}}
func.func @softmax(%x: tensor<8192x4096xf16>) -> tensor<8192x4096xf16> {
  %e = tensor.empty() : tensor<8192x4096xf16>
  %r = linalg.softmax dimension(1) ins(%x : tensor<8192x4096xf16>) outs(%e : tensor<8192x4096xf16>) -> tensor<8192x4096xf16>
  return %r : tensor<8192x4096xf16>
}

// Few blocks are large ones. The vector is loaded along the reduction. All that a step needs is loaded before any of it is used.
// VECMAT: .maxntid 1024
// VECMAT-COUNT-9: ld.global.nc.v4.b32
// VECMAT-NOT: {{ld.global|fma}}
// VECMAT: @p membar.cta;
// VECMAT-NOT: ld.global
// VECMAT: bar.sync
// VECMAT: st.global
func.func @vecmat(%a: tensor<1x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x4096xf16>, tensor<4096x4096xf16>) outs(%f : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}
