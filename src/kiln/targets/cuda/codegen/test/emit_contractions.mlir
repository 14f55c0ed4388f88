// RUN: kiln-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(func.func(kiln-codegen-prepare-dispatch)),kiln-cuda-emit-contractions)))' | FileCheck %s

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>
#columns = affine_map<(d0, d1) -> (d1)>
#each = affine_map<(d0, d1) -> (d0, d1)>

// A product with its bias and relu, 200x96 in tiles of 64x64: tails are filled up where they are read, and left out where
// they are written. Nothing between the product and what is stored goes through memory.
// CHECK-LABEL: hal.executable.export public @bias_relu
//       CHECK:   hal.return %c2, %c4, %c1
// CHECK-LABEL: func.func @bias_relu
//  CHECK-SAME:   kiln.distributed, kiln.dynamic_shared_bytes = 49152 : i64, kiln.threads = 128 : i32
//   CHECK-NOT:   tensor<
//   CHECK-NOT:   memref.alloc
//       CHECK:   nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %{{.*}}
//       CHECK:   nvvm.cp.async.commit.group
//       CHECK:   scf.for
//       CHECK:     nvvm.cp.async.wait.group 1
//       CHECK:     gpu.barrier
//       CHECK:     nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<row>
//       CHECK:     nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<col>
//       CHECK:     nvvm.mma.sync {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>
//       CHECK:   arith.addf
//       CHECK:   arith.maximumf
//       CHECK:   vector.store {{.*}} {alignment = 4 : i64} : memref<200x96xf16>, vector<2xf16>
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @bias_relu ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, readonly, writeonly]>)
    builtin.module {
      func.func @bias_relu() attributes {lowering = #hal.lowering<"contraction", "tile_config_64x64_64x3_tensorcore_mmasync">} {
        %zero = arith.constant 0.0 : f16
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<200x128xf16, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<200x128xf16, #hal.descriptor_type<storage_buffer>> to tensor<200x128xf16>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<128x96xf16, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict : memref<128x96xf16, #hal.descriptor_type<storage_buffer>> to tensor<128x96xf16>
        %4 = hal.interface.binding.subspan binding(2) <readonly> : memref<96xf16, #hal.descriptor_type<storage_buffer>>
        %5 = bufferization.to_tensor %4 restrict : memref<96xf16, #hal.descriptor_type<storage_buffer>> to tensor<96xf16>
        %6 = hal.interface.binding.subspan binding(3) <writeonly> : memref<200x96xf16, #hal.descriptor_type<storage_buffer>>
        %7 = tensor.empty() : tensor<200x96xf16>
        %8 = linalg.fill ins(%zero : f16) outs(%7 : tensor<200x96xf16>) -> tensor<200x96xf16>
        %9 = linalg.matmul ins(%1, %3 : tensor<200x128xf16>, tensor<128x96xf16>) outs(%8 : tensor<200x96xf16>) -> tensor<200x96xf16>
        %10 = linalg.generic {indexing_maps = [#each, #columns, #each], iterator_types = ["parallel", "parallel"]} ins(%9, %5 : tensor<200x96xf16>, tensor<96xf16>) outs(%7 : tensor<200x96xf16>) {
        ^bb0(%a: f16, %b: f16, %c: f16):
          %11 = arith.addf %a, %b : f16
          %12 = arith.maximumf %11, %zero : f16
          linalg.yield %12 : f16
        } -> tensor<200x96xf16>
        bufferization.materialize_in_destination %10 in restrict writable %6 : (tensor<200x96xf16>, memref<200x96xf16, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_90a"}>

// Blocks that stay: one group of warps copies boxes, two multiply, and the results leave through shared memory.
// CHECK-LABEL: hal.executable.export public @grouped
//       CHECK:   hal.return %c4, %c8, %c1
// CHECK-LABEL: func.func @grouped(
//  CHECK-SAME:   !llvm.ptr {kiln.tensor_map = {binding = 0 : i64, box = array<i64: 64, 128>, data_type = 6 : i64, element_bytes = 2 : i64, extents = array<i64: 512, 1024>}}
//  CHECK-SAME:   !llvm.ptr {kiln.tensor_map = {binding = 1 : i64, box = array<i64: 64, 64>, data_type = 6 : i64, element_bytes = 2 : i64, extents = array<i64: 1024, 512>}}
//  CHECK-SAME:   !llvm.ptr {kiln.tensor_map = {binding = 2 : i64, box = array<i64: 64, 64>, data_type = 6 : i64, element_bytes = 2 : i64, extents = array<i64: 1024, 1024>}}
//  CHECK-SAME:   kiln.blocks_per_multiprocessor = 1 : i32, kiln.distributed, kiln.dynamic_shared_bytes = 230400 : i64, kiln.starts_early, kiln.threads = 384 : i32
//       CHECK:   nvvm.griddepcontrol launch_dependents
//       CHECK:   nvvm.mbarrier.init
//       CHECK:   nvvm.fence.mbarrier.init
//       CHECK:   gpu.barrier
//       CHECK:   llvm.inline_asm {{.*}}griddepcontrol.wait
//       CHECK:   nvvm.setmaxregister decrease 40
//       CHECK:   nvvm.mbarrier.try_wait.parity
//       CHECK:   nvvm.mbarrier.arrive.expect_tx
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global
//       CHECK:   nvvm.setmaxregister increase 232
//       CHECK:   nvvm.wgmma.fence.aligned
//   CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 256, k = 16>
//       CHECK:   nvvm.wgmma.commit.group.sync.aligned
//       CHECK:   nvvm.wgmma.wait.group.sync.aligned 1
//       CHECK:   nvvm.wgmma.wait.group.sync.aligned 0
//       CHECK:   nvvm.cp.async.bulk.wait_group 1 {read}
//       CHECK:   nvvm.barrier id =
//  CHECK-COUNT-4:   nvvm.stmatrix
//       CHECK:   nvvm.fence.proxy
//       CHECK:   nvvm.barrier id =
//       CHECK:   nvvm.cp.async.bulk.tensor.global.shared.cta
//       CHECK:   nvvm.cp.async.bulk.commit.group
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @grouped ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @grouped() attributes {lowering = #hal.lowering<"contraction", "tile_config_128x256_64x4_tensorcore_wgmma">} {
        %zero = arith.constant 0.0 : f16
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<1024x512xf16, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<1024x512xf16, #hal.descriptor_type<storage_buffer>> to tensor<1024x512xf16>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<512x1024xf16, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict : memref<512x1024xf16, #hal.descriptor_type<storage_buffer>> to tensor<512x1024xf16>
        %6 = hal.interface.binding.subspan binding(2) <writeonly> : memref<1024x1024xf16, #hal.descriptor_type<storage_buffer>>
        %7 = tensor.empty() : tensor<1024x1024xf16>
        %8 = linalg.fill ins(%zero : f16) outs(%7 : tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
        %9 = linalg.matmul ins(%1, %3 : tensor<1024x512xf16>, tensor<512x1024xf16>) outs(%8 : tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
        bufferization.materialize_in_destination %9 in restrict writable %6 : (tensor<1024x1024xf16>, memref<1024x1024xf16, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----
#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_90a"}>

// Clusters of two blocks below each other, which are 8 x 4 tiles of 1000 rows: each block copies its own tile of the left input
// and half of the boxes of the right one, to both; who multiplies tells both when a stage is free.
// CHECK-LABEL: hal.executable.export public @clustered
//       CHECK:   hal.return %c4, %c8, %c1
// CHECK-LABEL: func.func @clustered(
//  CHECK-SAME:   box = array<i64: 64, 128>
//  CHECK-SAME:   box = array<i64: 64, 64>
//  CHECK-SAME:   kiln.cluster_blocks = 2 : i32
//       CHECK:   %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
//       CHECK:   nvvm.mbarrier.init %{{.*}}, %[[ONE:.*]] :
//       CHECK:   nvvm.mbarrier.init
//       CHECK:   nvvm.fence.mbarrier.init
//       CHECK:   nvvm.cluster.arrive
//       CHECK:   nvvm.cluster.wait
//       CHECK:   llvm.inline_asm {{.*}}griddepcontrol.wait
//       CHECK:   nvvm.read.ptx.sreg.clusterid.x
//       CHECK:   nvvm.read.ptx.sreg.nclusterid.x
//       CHECK:   nvvm.mbarrier.try_wait.parity
//       CHECK:   nvvm.mbarrier.arrive.expect_tx
//       CHECK:   nvvm.cp.async.bulk.tensor.shared.cluster.global
//   CHECK-NOT:   multicast_mask
//   CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %
//   CHECK-NOT:   nvvm.cp.async.bulk
//       CHECK:   nvvm.setmaxregister increase 232
//       CHECK:   nvvm.wgmma.wait.group.sync.aligned 1
//       CHECK:   %[[REMOTE:.*]] = nvvm.mapa %
//       CHECK:   nvvm.mbarrier.arrive %[[REMOTE]] : !llvm.ptr<7>
//       CHECK:   nvvm.cluster.arrive
//       CHECK:   nvvm.cluster.wait
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @clustered ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @clustered() attributes {lowering = #hal.lowering<"contraction", "tile_config_128x256_64x4_tensorcore_wgmma_cluster2x1">} {
        %zero = arith.constant 0.0 : f16
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<1000x512xf16, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<1000x512xf16, #hal.descriptor_type<storage_buffer>> to tensor<1000x512xf16>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<512x1024xf16, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict : memref<512x1024xf16, #hal.descriptor_type<storage_buffer>> to tensor<512x1024xf16>
        %6 = hal.interface.binding.subspan binding(2) <writeonly> : memref<1000x1024xf16, #hal.descriptor_type<storage_buffer>>
        %7 = tensor.empty() : tensor<1000x1024xf16>
        %8 = linalg.fill ins(%zero : f16) outs(%7 : tensor<1000x1024xf16>) -> tensor<1000x1024xf16>
        %9 = linalg.matmul ins(%1, %3 : tensor<1000x512xf16>, tensor<512x1024xf16>) outs(%8 : tensor<1000x1024xf16>) -> tensor<1000x1024xf16>
        bufferization.materialize_in_destination %9 in restrict writable %6 : (tensor<1000x1024xf16>, memref<1000x1024xf16, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// Scalar arithmetic: what lies otherwise than threads read it is turned on its way, four bytes at a time; and a result that
// is stored in another order than n runs is no group, so it keeps the simple form.
// CHECK-LABEL: func.func @scalar
//  CHECK-SAME:   kiln.threads = 64 : i32
//       CHECK:   nvvm.cp.async.shared.global {{.*}}, 4, cache = ca
//       CHECK:   nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
//       CHECK:   llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
//       CHECK:   arith.mulf
//       CHECK:   arith.addf
//       CHECK:   vector.store {{.*}} vector<4xf32>
// CHECK-LABEL: func.func @reduced
//  CHECK-SAME:   #util.remark<scalar_loop, "reduced", "computes its contraction without tiles in shared memory, since it is more
//  CHECK-SAME:   lowering = #hal.lowering<"contraction", "tile_config_32x32_0x1_simt">
//       CHECK:   linalg.
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @scalar ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    hal.executable.export public @reduced ordinal(1) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly, writeonly]>)
    builtin.module {
      func.func @scalar() attributes {lowering = #hal.lowering<"contraction", "tile_config_64x64_16x2_simt_ffma_8x8">} {
        %zero = arith.constant 0.0 : f32
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<128x64xf32, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<128x64xf32, #hal.descriptor_type<storage_buffer>> to tensor<128x64xf32>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<64x128xf32, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict : memref<64x128xf32, #hal.descriptor_type<storage_buffer>> to tensor<64x128xf32>
        %6 = hal.interface.binding.subspan binding(2) <writeonly> : memref<128x128xf32, #hal.descriptor_type<storage_buffer>>
        %7 = tensor.empty() : tensor<128x128xf32>
        %8 = linalg.fill ins(%zero : f32) outs(%7 : tensor<128x128xf32>) -> tensor<128x128xf32>
        %9 = linalg.matmul ins(%1, %3 : tensor<128x64xf32>, tensor<64x128xf32>) outs(%8 : tensor<128x128xf32>) -> tensor<128x128xf32>
        bufferization.materialize_in_destination %9 in restrict writable %6 : (tensor<128x128xf32>, memref<128x128xf32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
      func.func @reduced() attributes {lowering = #hal.lowering<"contraction", "tile_config_64x64_16x2_simt_ffma">} {
        %zero = arith.constant 0.0 : f32
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<64x64xf32, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<64x64xf32, #hal.descriptor_type<storage_buffer>> to tensor<64x64xf32>
        %6 = hal.interface.binding.subspan binding(1) <writeonly> : memref<64xf32, #hal.descriptor_type<storage_buffer>>
        %7 = tensor.empty() : tensor<64x64xf32>
        %8 = linalg.fill ins(%zero : f32) outs(%7 : tensor<64x64xf32>) -> tensor<64x64xf32>
        %9 = linalg.matmul ins(%1, %1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%8 : tensor<64x64xf32>) -> tensor<64x64xf32>
        %10 = tensor.empty() : tensor<64xf32>
        %11 = linalg.fill ins(%zero : f32) outs(%10 : tensor<64xf32>) -> tensor<64xf32>
        %12 = linalg.reduce { arith.addf } ins(%9 : tensor<64x64xf32>) outs(%11 : tensor<64xf32>) dimensions = [1]
        bufferization.materialize_in_destination %12 in restrict writable %6 : (tensor<64xf32>, memref<64xf32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @deep ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      // expected-error @below {{has the configuration 'tile_config_64x64_48x3_tensorcore_mmasync_32x32', which has 48 in it; tiles of tensorcore_mmasync are powers of two}}
      func.func @deep() attributes {lowering = #hal.lowering<"contraction", "tile_config_64x64_48x3_tensorcore_mmasync">} {
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_90"}>

hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @portable ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      // expected-error @below {{which asks for tensorcore_wgmma, which sm_90 does not have; sm_90a has it alone}}
      func.func @portable() attributes {lowering = #hal.lowering<"contraction", "tile_config_64x64_64x3_tensorcore_wgmma">} {
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80", fallback}>

// A fallback that lacks the shared memory which a configuration needs takes its own.
// CHECK-LABEL: func.func @large(
//  CHECK-SAME:   kiln.dynamic_shared_bytes = 131072 : i64, {{.*}} "tile_config_128x128_64x4_tensorcore_mmasync_64x64"
hal.executable private @executable {
  hal.executable.variant public @cuda_sm_80 target(#target) {
    hal.executable.export public @large ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @large() attributes {lowering = #hal.lowering<"contraction", "tile_config_128x256_64x4_tensorcore_mmasync">} {
        %zero = arith.constant 0.0 : f16
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<1024x512xf16, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<1024x512xf16, #hal.descriptor_type<storage_buffer>> to tensor<1024x512xf16>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<512x1024xf16, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict : memref<512x1024xf16, #hal.descriptor_type<storage_buffer>> to tensor<512x1024xf16>
        %6 = hal.interface.binding.subspan binding(2) <writeonly> : memref<1024x1024xf16, #hal.descriptor_type<storage_buffer>>
        %7 = tensor.empty() : tensor<1024x1024xf16>
        %8 = linalg.fill ins(%zero : f16) outs(%7 : tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
        %9 = linalg.matmul ins(%1, %3 : tensor<1024x512xf16>, tensor<512x1024xf16>) outs(%8 : tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
        bufferization.materialize_in_destination %9 in restrict writable %6 : (tensor<1024x1024xf16>, memref<1024x1024xf16, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// Rows of odd length go through registers. Where there are few tiles of k they are written out: the first five are all on
// their way before one is stored, and only the last is looked at for where it ends.
// CHECK-LABEL: func.func @odd
//   CHECK-NOT:   scf.for
//   CHECK-NOT:   llvm.store
//   CHECK-COUNT-80: {{llvm.load|@p ld.global.u16}}
//       CHECK:   llvm.store {{.*}} {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr<3>
//       CHECK:   gpu.barrier
//       CHECK:   nvvm.mma.sync
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @odd ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @odd() attributes {lowering = #hal.lowering<"contraction", "tile_config_32x32_64x4_tensorcore_mmasync_16x16">} {
        %zero = arith.constant 0.0 : f16
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<127x513xf16, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<127x513xf16, #hal.descriptor_type<storage_buffer>> to tensor<127x513xf16>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<513x255xf16, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict : memref<513x255xf16, #hal.descriptor_type<storage_buffer>> to tensor<513x255xf16>
        %4 = hal.interface.binding.subspan binding(2) <writeonly> : memref<127x255xf16, #hal.descriptor_type<storage_buffer>>
        %5 = tensor.empty() : tensor<127x255xf16>
        %6 = linalg.fill ins(%zero : f16) outs(%5 : tensor<127x255xf16>) -> tensor<127x255xf16>
        %7 = linalg.matmul ins(%1, %3 : tensor<127x513xf16>, tensor<513x255xf16>) outs(%6 : tensor<127x255xf16>) -> tensor<127x255xf16>
        bufferization.materialize_in_destination %7 in restrict writable %4 : (tensor<127x255xf16>, memref<127x255xf16, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// And otherwise in a loop: a tile is loaded ahead of the barrier and of the products, which nothing waits for, and one
// that was loaded two steps before is stored after them.
// CHECK-LABEL: func.func @odd_loop
//       CHECK:   scf.for
//       CHECK:     llvm.inline_asm {{.*}}@p ld.global.u16
//   CHECK-NOT:     llvm.store
//       CHECK:     gpu.barrier
//   CHECK-NOT:     ld.global
//   CHECK-NOT:     llvm.store
//       CHECK:     nvvm.mma.sync
//       CHECK:     llvm.store {{.*}} {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr<3>
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @odd_loop ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @odd_loop() attributes {lowering = #hal.lowering<"contraction", "tile_config_32x32_64x4_tensorcore_mmasync_16x16">} {
        %zero = arith.constant 0.0 : f16
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<127x1025xf16, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<127x1025xf16, #hal.descriptor_type<storage_buffer>> to tensor<127x1025xf16>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<1025x255xf16, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict : memref<1025x255xf16, #hal.descriptor_type<storage_buffer>> to tensor<1025x255xf16>
        %4 = hal.interface.binding.subspan binding(2) <writeonly> : memref<127x255xf16, #hal.descriptor_type<storage_buffer>>
        %5 = tensor.empty() : tensor<127x255xf16>
        %6 = linalg.fill ins(%zero : f16) outs(%5 : tensor<127x255xf16>) -> tensor<127x255xf16>
        %7 = linalg.matmul ins(%1, %3 : tensor<127x1025xf16>, tensor<1025x255xf16>) outs(%6 : tensor<127x255xf16>) -> tensor<127x255xf16>
        bufferization.materialize_in_destination %7 in restrict writable %4 : (tensor<127x255xf16>, memref<127x255xf16, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// Rows of unknown length are copied by 16 bytes where their length turns out to allow it.
// CHECK-LABEL: func.func @dynamic
//       CHECK:   %[[REST:.*]] = arith.remui %{{.*}}, %c8
//       CHECK:   arith.cmpi eq, %[[REST]], %c0
//       CHECK:   scf.if
//   CHECK-NOT:     ld.global
//       CHECK:     nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
//       CHECK:   } else {
//   CHECK-NOT:     nvvm.cp.async.shared.global
//       CHECK:     @p ld.global.u16
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @dynamic ordinal(0) layout(#hal.pipeline.layout<constants = 3, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @dynamic() attributes {lowering = #hal.lowering<"contraction", "tile_config_32x32_64x4_tensorcore_mmasync_16x16">} {
        %zero = arith.constant 0.0 : f16
        %d0 = hal.interface.constant.load[0] : index
        %d1 = hal.interface.constant.load[1] : index
        %d2 = hal.interface.constant.load[2] : index
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<?x?xf16, #hal.descriptor_type<storage_buffer>>{%d0, %d2}
        %1 = bufferization.to_tensor %0 restrict : memref<?x?xf16, #hal.descriptor_type<storage_buffer>> to tensor<?x?xf16>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<?x?xf16, #hal.descriptor_type<storage_buffer>>{%d2, %d1}
        %3 = bufferization.to_tensor %2 restrict : memref<?x?xf16, #hal.descriptor_type<storage_buffer>> to tensor<?x?xf16>
        %4 = hal.interface.binding.subspan binding(2) <writeonly> : memref<?x?xf16, #hal.descriptor_type<storage_buffer>>{%d0, %d1}
        %5 = tensor.empty(%d0, %d1) : tensor<?x?xf16>
        %6 = linalg.fill ins(%zero : f16) outs(%5 : tensor<?x?xf16>) -> tensor<?x?xf16>
        %7 = linalg.matmul ins(%1, %3 : tensor<?x?xf16>, tensor<?x?xf16>) outs(%6 : tensor<?x?xf16>) -> tensor<?x?xf16>
        bufferization.materialize_in_destination %7 in restrict writable %4 : (tensor<?x?xf16>, memref<?x?xf16, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}
