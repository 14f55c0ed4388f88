// Products by wgmma of which the blocks of a cluster compute a part of k each, and tiles whose extents are no powers of two.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t %s -o %t/module.vmfb
// RUN: cat %t/*parts*.ptx | FileCheck %s --check-prefix=PARTS
// At first, and twice for a tile in those that copy and those that multiply.
// RUN: cat %t/*parts*.ptx | grep -c "barrier.cluster.wait" | grep -x 5
// RUN: cat %t/*wide*.ptx | FileCheck %s --check-prefix=WIDE
// RUN: sed s/cluster1x1x4/cluster2x1x4/ %s > %t/both.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/both.mlir -o - 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: sed s/192x160_64x3_tensorcore_wgmma/192x160_64x3_tensorcore_wgmma_cluster2x1/ %s > %t/shared.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/shared.mlir -o - 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: sed s/192x160/96x160/ %s > %t/rows.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/rows.mlir -o - 2>&1 | FileCheck %s --check-prefix=ROWS

// All threads of the cluster meet before its blocks read each other's sums, four at a time, and before their memory is
// written again; those that copy do so as well.
// PARTS: .reqnctapercluster 4, 1, 1
// PARTS: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// PARTS: st.shared.v4.b32
// PARTS: barrier.cluster.arrive;
// PARTS: barrier.cluster.wait;
// PARTS-DAG: ld.shared::cluster.v4.b32
// PARTS-DAG: st.global.v4.b32

// What whole rounds of tiles leave is cut along k: a tile leaves in boxes where a block has all of it, and in pieces where others
// have parts, whose sums meet first.
// RUN: sed s/128x128_64x3_tensorcore_wgmma_cluster1x1x4/128x128_64x3_tensorcore_wgmma_streamk2/ %s > %t/stream.mlir
// RUN: mkdir %t/stream && kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t/stream %t/stream.mlir -o %t/stream.vmfb
// RUN: cat %t/stream/*parts*.ptx | FileCheck %s --check-prefix=STREAM
// RUN: cat %t/stream/*parts*.ptx | grep -c "barrier.cluster.wait" | grep -x 5
// STREAM: .reqnctapercluster 2, 1, 1
// STREAM: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// STREAM-DAG: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// STREAM-DAG: ld.shared::cluster.v4.b32
// RUN: sed s/192x160_64x3_tensorcore_wgmma/64x64_64x3_tensorcore_mmasync_streamk2/ %s > %t/stays.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/stays.mlir -o - 2>&1 | FileCheck %s --check-prefix=STAYS
// STAYS: computes what whole rounds of tiles leave in parts of K; blocks of tensorcore_wgmma alone stay for that

// By default where little is left after a round of whole tiles.
// RUN: cat %t/*left*.ptx | FileCheck %s --check-prefix=LEFT
// LEFT: .reqnctapercluster 2, 1, 1
// LEFT: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16

// Three groups of warps share what the block has of registers, and three boxes have the tile's 160 columns.
// WIDE: .maxntid 512
// WIDE: setmaxnreg.dec.sync.aligned.u32 32;
// WIDE: mov.b32 [[BYTES:%r[0-9]+]], 49152;
// WIDE-NEXT: mbarrier.arrive.expect_tx.shared.b64 {{.*}}, [[BYTES]];
// WIDE: setmaxnreg.inc.sync.aligned.u32 160;
// WIDE: wgmma.mma_async.sync.aligned.m64n160k16.f32.f16.f16

// Columns are wgmma's rows where a tile's rows are no multiples of 64: what is stored as matrices is turned on its way.
// RUN: sed s/192x160_64x3_tensorcore_wgmma/112x256_64x3_tensorcore_wgmma/ %s > %t/swapped.mlir
// RUN: mkdir %t/swapped && kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t/swapped %t/swapped.mlir -o %t/swapped.vmfb
// RUN: cat %t/swapped/*wide*.ptx | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: .maxntid 640
// SWAPPED: wgmma.mma_async.sync.aligned.m64n112k16.f32.f16.f16
// SWAPPED: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// SWAPPED: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// RUN: sed s/192x160/8x128/ %s > %t/few.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/few.mlir -o - 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: has a tile of 8x128; of tensorcore_wgmma rows are multiples of 64 and columns of 32, or rows of 16 and columns of 64

// BOTH: has clusters whose blocks share copies and compute parts of K; they do one of both
// SHARED: has a tile of 192x160, of which blocks of a cluster cannot copy equal parts
// ROWS: has a tile of 96x160; of tensorcore_wgmma rows are multiples of 64 and columns of 32

// RUN: sed s/128x128_64x3_tensorcore_wgmma_cluster1x1x4/16x64_16x4_simt_ffma_5x4/ %s > %t/odd.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/odd.mlir -o - 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: has a register tile of 5x4 that does not divide its tile of 16x64
// Two groups with a tile each: one waits for its turn before it waits for stages.
// RUN: sed s/192x160_64x3_tensorcore_wgmma/128x128_64x6_tensorcore_wgmma_128x128/ %s > %t/turns.mlir
// RUN: mkdir %t/turns && kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t/turns %t/turns.mlir -o %t/turns.vmfb
// RUN: cat %t/turns/*wide*.ptx | FileCheck %s --check-prefix=TURNS
// TURNS: .maxntid 384
// TURNS: setmaxnreg.inc.sync.aligned.u32 232;
// TURNS: mbarrier.try_wait.parity
// TURNS: mbarrier.try_wait.parity
// TURNS-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// TURNS: mbarrier.arrive
// TURNS: wgmma.wait_group.sync.aligned 0;
// RUN: sed s/192x160_64x3_tensorcore_wgmma/192x128_64x3_tensorcore_wgmma_192x128/ %s > %t/many.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/many.mlir -o - 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: gives four warps 192x128; their registers hold 128x160

func.func @parts(%lhs: tensor<1024x2048xf16>, %rhs: tensor<2048x512xf16>) -> tensor<1024x512xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<1024x512xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<1024x512xf16>) -> tensor<1024x512xf16>
  %r = linalg.matmul {kiln.configuration = "tile_config_128x128_64x3_tensorcore_wgmma_cluster1x1x4"} ins(%lhs, %rhs : tensor<1024x2048xf16>, tensor<2048x512xf16>) outs(%fill : tensor<1024x512xf16>) -> tensor<1024x512xf16>
  return %r : tensor<1024x512xf16>
}

func.func @left(%lhs: tensor<4480x7040xf16>, %rhs: tensor<7040x1024xf16>) -> tensor<4480x1024xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<4480x1024xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<4480x1024xf16>) -> tensor<4480x1024xf16>
  %r = linalg.matmul ins(%lhs, %rhs : tensor<4480x7040xf16>, tensor<7040x1024xf16>) outs(%fill : tensor<4480x1024xf16>) -> tensor<4480x1024xf16>
  return %r : tensor<4480x1024xf16>
}

func.func @wide(%lhs: tensor<3456x2048xf16>, %rhs: tensor<2048x1024xf16>) -> tensor<3456x1024xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<3456x1024xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<3456x1024xf16>) -> tensor<3456x1024xf16>
  %r = linalg.matmul {kiln.configuration = "tile_config_192x160_64x3_tensorcore_wgmma"} ins(%lhs, %rhs : tensor<3456x2048xf16>, tensor<2048x1024xf16>) outs(%fill : tensor<3456x1024xf16>) -> tensor<3456x1024xf16>
  return %r : tensor<3456x1024xf16>
}
