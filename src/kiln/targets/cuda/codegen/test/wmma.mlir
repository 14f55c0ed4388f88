// Products by wmma, as PTX: inputs go to shared memory by cp.async, and sums through it to what follows them.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_80 --iree-hal-dump-executable-binaries-to=%t %s -o %t/module.vmfb
// RUN: cat %t/*halves*.ptx | FileCheck %s --check-prefix=HALVES
// RUN: cat %t/*brains*.ptx | FileCheck %s --check-prefix=BRAINS
// RUN: cat %t/*tf32*.ptx | FileCheck %s --check-prefix=TF32
// RUN: cat %t/*bytes*.ptx | FileCheck %s --check-prefix=BYTES
// RUN: cat %t/*mixed*.ptx | FileCheck %s --check-prefix=MIXED
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_75 %s -o - 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: sed s/64x64_64x3/128x8_64x3/ %s > %t/narrow.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_80 %t/narrow.mlir -o - 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: sed s/64x64_64x3/64x64_16x3/ %s > %t/shallow.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_80 %t/shallow.mlir -o - 2>&1 | FileCheck %s --check-prefix=SHALLOW
// RUN: sed s/64x64_64x3/128x256_64x4/ %s > %t/large.mlir
// RUN: not kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_80 %t/large.mlir -o - 2>&1 | FileCheck %s --check-prefix=LARGE

// Rows of 64 f16 are 160 bytes apart in shared memory, 80 elements. The bias is added to neighbours that a thread has read.
// HALVES: .visible .entry halves_dispatch_0
// HALVES: .maxntid 128
// HALVES: cp.async.cg.shared.global
// HALVES: cp.async.wait_group 1;
// HALVES: bar{{(rier)?}}.sync
// HALVES: mov.b32 [[STRIDE:%r[0-9]+]], 80;
// HALVES: wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {{.*}}, [[STRIDE]];
// HALVES: wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{.*}}, [[STRIDE]];
// HALVES-COUNT-16: wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32
// HALVES-NOT: wmma.mma
// HALVES: bar{{(rier)?}}.sync
// HALVES: mov.b32 [[SUMS:%r[0-9]+]], 40;
// HALVES: wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 {{.*}}, [[SUMS]];
// HALVES: bar.warp.sync -1;
// HALVES: ld.shared.v4.b32
// HALVES: max
// HALVES: st.global.v2.b32
// HALVES: bar.warp.sync -1;
// HALVES: wmma.store.d
func.func @halves(%lhs: tensor<192x128xf16>, %rhs: tensor<128x128xf16>, %bias: tensor<128xf16>) -> tensor<192x128xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<192x128xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<192x128xf16>) -> tensor<192x128xf16>
  %product = linalg.matmul {kiln.configuration = "tile_config_64x64_64x3_tensorcore_wmma"} ins(%lhs, %rhs : tensor<192x128xf16>, tensor<128x128xf16>) outs(%fill : tensor<192x128xf16>) -> tensor<192x128xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%product, %bias : tensor<192x128xf16>, tensor<128xf16>) outs(%empty : tensor<192x128xf16>) {
  ^bb0(%x: f16, %y: f16, %old: f16):
    %sum = arith.addf %x, %y : f16
    %relu = arith.maximumf %sum, %zero : f16
    linalg.yield %relu : f16
  } -> tensor<192x128xf16>
  return %result : tensor<192x128xf16>
}

// Rows are 16 bytes longer than the tile's.
// BRAINS: mov.b32 [[STRIDE:%r[0-9]+]], 72;
// BRAINS: wmma.load.b.sync.aligned.col.m16n16k16.shared.bf16 {{.*}}, [[STRIDE]];
// BRAINS: wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {{.*}}, [[STRIDE]];
// BRAINS: wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32
func.func @brains(%lhs: tensor<64x128xbf16>, %rhs: tensor<64x128xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%lhs, %rhs : tensor<64x128xbf16>, tensor<64x128xbf16>) outs(%fill : tensor<64x64xf32>) attrs = {kiln.configuration = "tile_config_64x64_64x2_tensorcore_wmma"} {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %wideX = arith.extf %x : bf16 to f32
    %wideY = arith.extf %y : bf16 to f32
    %p = arith.mulf %wideX, %wideY : f32
    %sum = arith.addf %s, %p : f32
    linalg.yield %sum : f32
  } -> tensor<64x64xf32>
  return %product : tensor<64x64xf32>
}

// TF32: mov.b32 [[STRIDE:%r[0-9]+]], 36;
// TF32: wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {{.*}}, [[STRIDE]];
// TF32: cvt.rna.tf32.f32
// TF32: wmma.mma.sync.aligned.row.row.m16n16k8.f32.tf32.tf32.f32
func.func @tf32(%lhs: tensor<64x128xf32>, %rhs: tensor<128x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %product = linalg.matmul {kiln.configuration = "tile_config_64x64_32x3_tensorcore_wmma"} ins(%lhs, %rhs : tensor<64x128xf32>, tensor<128x64xf32>) outs(%fill : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %product : tensor<64x64xf32>
}

// Bytes need not lie along K, as they do for mma.sync.
// BYTES: mov.b32 [[STRIDE:%r[0-9]+]], 80;
// BYTES: wmma.load.b.sync.aligned.row.m16n16k16.shared.s8 {{.*}}, [[STRIDE]];
// BYTES: wmma.mma.sync.aligned.row.row.m16n16k16.s32.s8.s8.s32
func.func @bytes(%lhs: tensor<64x128xi8>, %rhs: tensor<128x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x64xi32>
  %fill = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x64xi32>) -> tensor<64x64xi32>
  %product = linalg.matmul {kiln.configuration = "tile_config_64x64_128x2_tensorcore_wmma"} ins(%lhs, %rhs : tensor<64x128xi8>, tensor<128x64xi8>) outs(%fill : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %product : tensor<64x64xi32>
}

// It has no products of signed and unsigned bytes.
// MIXED-NOT: wmma
// MIXED: .visible .entry mixed
// MIXED-NOT: wmma
func.func @mixed(%lhs: tensor<64x128xi8>, %rhs: tensor<128x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<64x64xi32>
  %fill = linalg.fill ins(%zero : i32) outs(%empty : tensor<64x64xi32>) -> tensor<64x64xi32>
  %product = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%lhs, %rhs : tensor<64x128xi8>, tensor<128x64xi8>) outs(%fill : tensor<64x64xi32>) attrs = {kiln.configuration = "tile_config_64x64_128x2_tensorcore_wmma"} {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %wideX = arith.extsi %x : i8 to i32
    %wideY = arith.extui %y : i8 to i32
    %p = arith.muli %wideX, %wideY : i32
    %sum = arith.addi %s, %p : i32
    linalg.yield %sum : i32
  } -> tensor<64x64xi32>
  return %product : tensor<64x64xi32>
}

// OLD: has the configuration 'tile_config_64x64_64x3_tensorcore_wmma', which asks for tensorcore_wmma, whose asynchronous copies sm_75 does not have; sm_80 and newer do
// NARROW: 'tile_config_128x8_64x3_tensorcore_wmma', which gives a warp {{[0-9]+x8}}; tensorcore_wmma wants 16x16 at least
// SHALLOW: has a tile of 16 along K that is not 32 or 64, as tensorcore_wmma wants for these elements
// LARGE: which needs 221184 bytes of shared memory; sm_80 has 166912 for a block
