// RUN: kiln-opt %s --split-input-file --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(func.func(kiln-llvmcpu-emit-kernels,canonicalize,cse)))))' | FileCheck %s

#target = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>

// A register tile of 4 pixels by 32 filters: the sums are carried through the pixels of a filter and 8 channels at a
// time; pixels are broadcast.

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    %[[IMAGE:[a-z0-9]+]]: memref<1x10x10x16xf32>, %[[FILTER:[a-z0-9]+]]: memref<3x3x16x32xf32>, %[[OUT:[a-z0-9]+]]:
// CHECK:         scf.for %[[BLOCK:.+]] = %c0 to %c16 step %c8
// CHECK:           %[[END:.+]] = arith.addi %[[BLOCK]], %c8
// CHECK:           scf.for %[[Y:.+]] = %c0 to %c8 step %c1
// CHECK:             scf.for %[[X:.+]] = %c0 to %c8 step %c4
// CHECK-COUNT-8:       vector.load %[[OUT]]
// CHECK:               scf.for %{{.+}} = %c0 to %c3 step %c1 iter_args
// CHECK:                 scf.for %{{.+}} = %c0 to %c3 step %c1 iter_args
// CHECK:                   scf.for %[[C:.+]] = %[[BLOCK]] to %{{.+}} step %c1 iter_args
// CHECK:                     memref.load %[[IMAGE]]
// CHECK:                     vector.load %[[FILTER]][%{{.+}}, %{{.+}}, %[[C]], %c0]
// CHECK-COUNT-8:             math.fma
// CHECK-NOT:                 math.fma
// CHECK-COUNT-8:       vector.store {{.*}}, %[[OUT]]
hal.executable private @e {
  hal.executable.variant public @llvm_cpu target(#target) {
    builtin.module {
      func.func @blocks(%image: memref<1x10x10x16xf32>, %filter: memref<3x3x16x32xf32>, %out: memref<1x8x8x32xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_64x32_8x1_fma_4x32">} {
        linalg.conv_2d_nhwc_hwcf ins(%image, %filter : memref<1x10x10x16xf32>, memref<3x3x16x32xf32>) outs(%out : memref<1x8x8x32xf32>)
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>

// The filters of a block in panels, all pixels of them; what is beyond the last filter becomes zero.

// CHECK-LABEL: func.func @panels(
// CHECK:         %[[PANELS:.+]] = memref.alloc() {{.*}} : memref<2x3x3x8x32xf32>
// CHECK:         scf.for {{.*}} step %c8
// CHECK:           scf.for %[[R:.+]] = %c0 to %c3
// CHECK:             scf.for %[[S:.+]] = %c0 to %c3
// CHECK:               vector.load %{{.+}} : memref<3x3x16x40xf32>, vector<16xf32>
// CHECK:               vector.store %{{.+}}, %[[PANELS]][%c0, %[[R]], %[[S]],
// CHECK:               vector.maskedload %{{.+}} : memref<3x3x16x40xf32>
// CHECK:               vector.store %{{.+}}, %[[PANELS]][%c1,
// CHECK-NOT:       memref<3x3x16x40xf32>
// CHECK:           vector.load %[[PANELS]]
// CHECK:           math.fma
hal.executable private @e {
  hal.executable.variant public @llvm_cpu target(#target) {
    builtin.module {
      func.func @panels(%image: memref<1x10x10x16xf32>, %filter: memref<3x3x16x40xf32>, %out: memref<1x8x8x40xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_64x40_8x1_fma_4x32_packb">} {
        linalg.conv_2d_nhwc_hwcf ins(%image, %filter : memref<1x10x10x16xf32>, memref<3x3x16x40xf32>) outs(%out : memref<1x8x8x40xf32>)
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>

// Vectors are pixels, rows are filters, whose weights are broadcast. Of two neighbouring vectors every second pixel is
// picked; the second one ends with the last pixel that is wanted, and what is left over is masked in the same way: of 3
// pixels the first 5 are read.

// CHECK-LABEL: func.func @strided(
// CHECK-SAME:    %[[IMAGE:[a-z0-9]+]]: memref<1x2x9x39xf32>
// CHECK:         vector.load %[[IMAGE]]{{.*}} : memref<1x2x9x39xf32>, vector<16xf32>
// CHECK:         vector.load %[[IMAGE]][{{.*}}] : memref<1x2x9x39xf32>, vector<16xf32>
// CHECK:         vector.shuffle %{{.+}}, %{{.+}} [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31] : vector<16xf32>, vector<16xf32>
// CHECK-COUNT-4: math.fma
// CHECK:         %[[MASK:.+]] = vector.constant_mask [5] : vector<16xi1>
// CHECK:         vector.maskedload %[[IMAGE]][{{.*}}], %[[MASK]]
// CHECK:         vector.maskedstore
// CHECK-NOT:     vector.from_elements
hal.executable private @e {
  hal.executable.variant public @llvm_cpu target(#target) {
    builtin.module {
      func.func @strided(%image: memref<1x2x9x39xf32>, %filter: memref<4x2x3x3xf32>, %out: memref<1x4x4x19xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_16x19_2x1_fma_4x16">} {
        linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%image, %filter : memref<1x2x9x39xf32>, memref<4x2x3x3xf32>) outs(%out : memref<1x4x4x19xf32>)
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>

// Depthwise: pixels and weights are both vectors; a weight serves all rows. There is nothing to do in blocks.

// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME:    %[[IMAGE:[a-z0-9]+]]: memref<1x10x10x16xf32>, %[[FILTER:[a-z0-9]+]]: memref<3x3x16xf32>
// CHECK:         scf.for {{.*}} to %c3
// CHECK:           scf.for {{.*}} to %c3
// CHECK:             vector.load %[[IMAGE]]
// CHECK:             vector.load %[[FILTER]]
// CHECK-NOT:         vector.load %[[FILTER]]
// CHECK-COUNT-4:     math.fma
hal.executable private @e {
  hal.executable.variant public @llvm_cpu target(#target) {
    builtin.module {
      func.func @depthwise(%image: memref<1x10x10x16xf32>, %filter: memref<3x3x16xf32>, %out: memref<1x8x8x16xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_64x16_1x1_fma_4x16">} {
        linalg.depthwise_conv_2d_nhwc_hwc ins(%image, %filter : memref<1x10x10x16xf32>, memref<3x3x16xf32>) outs(%out : memref<1x8x8x16xf32>)
        return
      }
    }
  }
}
