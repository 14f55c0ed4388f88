// Products of which the blocks of a cluster compute a part of k each, and add them up in each other's shared memory.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90 --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t %s -o %t/module.vmfb
// RUN: cat %t/*odd*.ptx | FileCheck %s --check-prefixes=PARTS,ODD
// RUN: cat %t/*scalar*.ptx | FileCheck %s --check-prefixes=PARTS,SCALAR
// RUN: cat %t/*odd*.ptx | grep -c "barrier.cluster.wait" | grep -x 2
// RUN: cat %t/*scalar*.ptx | grep -c "barrier.cluster.wait" | grep -x 2
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_80 %s -o - 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: sed s/cluster1x1x4/cluster1x1x9/ %s > %t/large.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/large.mlir -o - 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: sed s/mmasync_16x16/wmma/ %s > %t/wmma.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a %t/wmma.mlir -o - 2>&1 | FileCheck %s --check-prefix=WMMA
// By default, too, where tiles are few: nine steps of k in as few parts as leave two for each, and of scalars two.
// RUN: sed 's/ {kiln.configuration = "[a-z0-9_]*"}//' %s > %t/default.mlir
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90 --iree-hal-dump-executable-files-to=%t/default %t/default.mlir -o %t/default.vmfb
// RUN: cat %t/default/*_odd_*.ptx | FileCheck %s --check-prefix=DEFAULT
// RUN: cat %t/default/*_scalar_*.ptx | FileCheck %s --check-prefix=WHOLE
// DEFAULT: .reqnctapercluster 5, 1, 1
// WHOLE: .reqnctapercluster 2, 1, 1

// All parts are there before any is read, and all are read before a block ends.
// PARTS: .explicitcluster
// ODD: .reqnctapercluster 4, 1, 1
// SCALAR: .reqnctapercluster 2, 1, 1
// PARTS: %cluster_ctarank
// PARTS: bar.sync 0;
// PARTS: st.shared
// PARTS: barrier.cluster.arrive;
// PARTS: barrier.cluster.wait;
// PARTS: ld.shared::cluster.b32
// PARTS: st.global

// OLD: has clusters, which sm_80 does not; sm_90 and newer do
// LARGE: has clusters of 1x1x9; there are 8 blocks at most
// WMMA: cuts K into parts for the blocks of a cluster; tensorcore_wmma does not, tensorcore_mmasync, tensorcore_wgmma and simt_ffma do

func.func @odd(%lhs: tensor<127x513xf16>, %rhs: tensor<513x255xf16>) -> tensor<127x255xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<127x255xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<127x255xf16>) -> tensor<127x255xf16>
  %r = linalg.matmul {kiln.configuration = "tile_config_64x32_64x4_tensorcore_mmasync_16x16_cluster1x1x4"} ins(%lhs, %rhs : tensor<127x513xf16>, tensor<513x255xf16>) outs(%fill : tensor<127x255xf16>) -> tensor<127x255xf16>
  return %r : tensor<127x255xf16>
}

func.func @scalar(%lhs: tensor<64x1000xf32>, %rhs: tensor<1000x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul {kiln.configuration = "tile_config_32x32_16x3_simt_ffma_cluster1x1x2"} ins(%lhs, %rhs : tensor<64x1000xf32>, tensor<1000x64xf32>) outs(%fill : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
