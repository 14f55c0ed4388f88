// Products by wgmma of elements of four bytes of which one input does not run along K: its elements go through registers,
// and are wgmma's rows. Of a row-major B they are the columns of the result.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t %s -o %t/module.vmfb
// RUN: cat %t/*right*.ptx | FileCheck %s --check-prefixes=TURNED,RIGHT
// RUN: cat %t/*left*.ptx | FileCheck %s --check-prefixes=TURNED,LEFT
// RUN: sed s/256x128_32x4/128x256_32x3/ %s > %t/wide.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/wide.mlir -o - 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: sed s/128x128_32x4_tensorcore_wgmma/256x64_32x3_tensorcore_wgmma/ %s > %t/high.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/high.mlir -o - 2>&1 | FileCheck %s --check-prefix=HIGH
// RUN: sed s/256x128_32x4_tensorcore_wgmma/256x128_32x4_tensorcore_wgmma_cluster2x1/ %s > %t/cluster.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/cluster.mlir -o - 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: sed s/256x128_32x4_tensorcore_wgmma/256x128_32x4_tensorcore_wgmma_64x128/ %s > %t/parts.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/parts.mlir -o - 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: sed s/256x128_32x4_tensorcore_wgmma/256x128_32x4_tensorcore_wgmma_256x64/ %s > %t/said.mlir
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-cuda-fallback-arch=none %t/said.mlir -o %t/said.vmfb

// The first stage is loaded before the loop, and each next one while one is multiplied; nothing is awaited in between.
// RIGHT: .visible .entry right_dispatch_0
// LEFT: .visible .entry left_dispatch_0
// TURNED: setmaxnreg.inc.sync.aligned.u32 232;
// TURNED-COUNT-8: ld.shared.v2.b32
// TURNED: wgmma.fence.sync.aligned;
// TURNED-NOT: wgmma.wait_group
// RIGHT-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {{{.*}}}, {{{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+}}}, %rd
// LEFT-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {{{.*}}}, {{{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+}}}, %rd
// TURNED: wgmma.commit_group.sync.aligned;
// TURNED: mbarrier.try_wait.parity
// TURNED-COUNT-8: ld.shared.v2.b32
// TURNED: wgmma.wait_group.sync.aligned 0;
// TURNED-NEXT: // end inline asm
// TURNED-NEXT: bar.warp.sync -1;
// Results leave as boxes.
// TURNED: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// TURNED-NOT: st.global

// WIDE: 'tile_config_128x256_32x3_tensorcore_wgmma', which has 256 columns in a tile; of the input that goes through registers there are 128 at most, by two groups of four warps
// HIGH: 'tile_config_256x64_32x3_tensorcore_wgmma', which has 256 rows in a tile; of the input that goes through registers there are 128 at most
// CLUSTER: which has clusters, whose blocks share what wgmma reads by itself; here an input goes through registers
// PARTS: 'tile_config_256x128_32x4_tensorcore_wgmma_64x128', which gives four warps 64x128; of these inputs they compute 256x64

func.func @right(%lhs: tensor<3456x2048xf32>, %rhs: tensor<2048x1024xf32>) -> tensor<3456x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3456x1024xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<3456x1024xf32>) -> tensor<3456x1024xf32>
  %r = linalg.matmul {kiln.configuration = "tile_config_256x128_32x4_tensorcore_wgmma"} ins(%lhs, %rhs : tensor<3456x2048xf32>, tensor<2048x1024xf32>) outs(%fill : tensor<3456x1024xf32>) -> tensor<3456x1024xf32>
  return %r : tensor<3456x1024xf32>
}

func.func @left(%lhs: tensor<2048x1000xf32>, %rhs: tensor<1024x2048xf32>) -> tensor<1000x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1000x1024xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {kiln.configuration = "tile_config_128x128_32x4_tensorcore_wgmma"} ins(%lhs, %rhs : tensor<2048x1000xf32>, tensor<1024x2048xf32>) outs(%fill : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}
