// Products by wgmma in clusters, as PTX: two blocks share the right input's tiles, or four both inputs'.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t %s -o %t/module.vmfb
// RUN: cat %t/*two*.ptx | FileCheck %s --check-prefix=TWO
// RUN: cat %t/*four*.ptx | FileCheck %s --check-prefix=FOUR
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_80 %s -o - 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: sed s/cluster2x2/cluster4x4/ %s > %t/large.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/large.mlir -o - 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: sed "s/wgmma_cluster2x2/mmasync_cluster2x2/" %s > %t/sync.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/sync.mlir -o - 2>&1 | FileCheck %s --check-prefix=SYNC

// TWO: .visible .entry two_dispatch_0
// TWO: .explicitcluster
// TWO: .reqnctapercluster 2, 1, 1
// No stage orders memory among blocks. What is full one thread tells, what is empty the eight warps of two blocks that multiply.
// TWO: mov.b32 [[FULL:%r[0-9]+]], 1;
// TWO: mbarrier.init.shared.b64 [kiln_shared], [[FULL]];
// TWO: mov.b32 [[EMPTY:%r[0-9]+]], 16;
// TWO: mbarrier.init.shared.b64 [kiln_shared+32], [[EMPTY]];
// TWO: fence.mbarrier_init.release.cluster;
// TWO: barrier.cluster.arrive;
// TWO: barrier.cluster.wait;
// TWO: griddepcontrol.wait;
// TWO-DAG: mbarrier.try_wait.parity.shared.b64
// TWO-DAG: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [
// TWO-DAG: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [
// TWO-DAG: mapa.shared::cluster.u64
// TWO-DAG: mbarrier.arrive.shared::cluster.b64
// TWO: barrier.cluster.arrive;
// TWO: barrier.cluster.wait;
// TWO: ret;

// FOUR: .reqnctapercluster 4, 1, 1
// The four warps of three blocks: those of the same row and column.
// FOUR: mov.b32 [[EMPTY:%r[0-9]+]], 12;
// FOUR: mbarrier.init.shared.b64 [kiln_shared+32], [[EMPTY]];
// FOUR-NOT: complete_tx::bytes [
// FOUR: complete_tx::bytes.multicast::cluster [
// FOUR-NOT: complete_tx::bytes [

// OLD: has the configuration 'tile_config_128x256_64x4_tensorcore_wgmma_cluster2x1', which asks for tensorcore_wgmma, which sm_80 does not have
// LARGE: which has clusters of 4x4; there are 8 blocks at most, and powers of two along M and N
// SYNC: which has clusters, in which blocks share what tensorcore_wgmma copies; tensorcore_mmasync does not

func.func @two(%lhs: tensor<4096x4096xf16>, %rhs: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<4096x4096xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %r = linalg.matmul {kiln.configuration = "tile_config_128x256_64x4_tensorcore_wgmma_cluster2x1"} ins(%lhs, %rhs : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%fill : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

func.func @four(%lhs: tensor<200x64xf16>, %rhs: tensor<64x96xf16>) -> tensor<200x96xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<200x96xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<200x96xf32>) -> tensor<200x96xf32>
  %r = linalg.matmul {kiln.configuration = "tile_config_64x64_64x4_tensorcore_wgmma_cluster2x2"} ins(%lhs, %rhs : tensor<200x64xf16>, tensor<64x96xf16>) outs(%fill : tensor<200x96xf32>) -> tensor<200x96xf32>
  return %r : tensor<200x96xf32>
}
