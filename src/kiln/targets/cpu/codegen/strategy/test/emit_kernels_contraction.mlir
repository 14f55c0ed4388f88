// RUN: kiln-opt %s --split-input-file --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(func.func(kiln-llvmcpu-emit-kernels,canonicalize,cse)))))' | FileCheck %s

// A register tile of 4x32: the sums are carried through the loop over K, a row of B is loaded once, elements of A are
// broadcast.

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[A:.+]]: memref<8x64xf32>, %[[B:.+]]: memref<64x64xf32>, %[[C:.+]]: memref<8x64xf32>
// CHECK:         scf.for %[[J:.+]] = %c0 to %c64 step %c32
// CHECK:           scf.for %[[I:.+]] = %c0 to %c8 step %c4
// CHECK-COUNT-8:     vector.load %[[C]]
// CHECK:             scf.for %[[K:.+]] = %c0 to %c64 step %c1 iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK:               %[[A0:.+]] = memref.load %[[A]][%[[I]], %[[K]]]
// CHECK:               %[[B0:.+]] = vector.load %[[B]][%[[K]], %[[J]]] : memref<64x64xf32>, vector<16xf32>
// CHECK:               %[[ROW:.+]] = vector.broadcast %[[A0]] : f32 to vector<16xf32>
// CHECK:               math.fma %[[ROW]], %[[B0]], %{{.+}} : vector<16xf32>
// CHECK:               vector.load %[[B]]
// CHECK-NOT:           vector.load
// CHECK:               scf.yield
// CHECK-COUNT-8:     vector.store {{.*}}, %[[C]]
// CHECK-NOT:     linalg.matmul
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @matmul(%a: memref<8x64xf32>, %b: memref<64x64xf32>, %c: memref<8x64xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_8x64_0x1_fma_4x32">} {
        linalg.matmul ins(%a, %b : memref<8x64xf32>, memref<64x64xf32>) outs(%c : memref<8x64xf32>)
        return
      }
    }
  }
}

// -----

// A fill of the result before it is where the sums start; columns that are left over are masked, rows exact.

// CHECK-LABEL: func.func @filled(
// CHECK-NOT:     linalg.fill
// CHECK:         %[[MASK:.+]] = vector.constant_mask [3] : vector<16xi1>
// CHECK:         scf.for %{{.+}} = %c0 to %c5 step %c1 iter_args(%{{.+}} = %[[ZERO:cst[_0-9]*]], %{{.+}} = %[[ZERO]], %{{.+}} = %[[ZERO]], %{{.+}} = %[[ZERO]], %{{.+}} = %[[ZERO]], %{{.+}} = %[[ZERO]])
// CHECK:           vector.load %{{.+}} : memref<5x19xf32>, vector<16xf32>
// CHECK:           vector.maskedload %{{.+}}[%{{.+}}], %[[MASK]]
// CHECK:         vector.store
// CHECK:         vector.maskedstore %{{.+}}[%{{.+}}], %[[MASK]]
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @filled(%a: memref<3x5xf32>, %b: memref<5x19xf32>, %c: memref<3x19xf32>) {
        %zero = arith.constant 0.0 : f32
        linalg.fill ins(%zero : f32) outs(%c : memref<3x19xf32>)
        linalg.matmul ins(%a, %b : memref<3x5xf32>, memref<5x19xf32>) outs(%c : memref<3x19xf32>)
        return
      }
    }
  }
}

// -----

// B in panels as wide as the register tile, for 16 of K at a time. The last panel is filled up with zeros, so that only
// the result is masked.

// CHECK-LABEL: func.func @packed(
// CHECK:         %[[PANELS:.+]] = memref.alloc() {{.*}} : memref<2x16x32xf32>
// CHECK:         scf.for %[[KK:.+]] = %c0 to %c64 step %c16
// CHECK:           vector.load %{{.+}} : memref<64x40xf32>, vector<16xf32>
// CHECK:           vector.store %{{.+}}, %[[PANELS]]
// CHECK:           vector.maskedload %{{.+}} : memref<64x40xf32>
// CHECK:           vector.store %{{.+}}, %[[PANELS]]
// CHECK:           scf.for
// CHECK:             vector.load %[[PANELS]]
// CHECK:             math.fma
// CHECK:           scf.for
// CHECK:             vector.load %[[PANELS]]
// CHECK-NOT:         vector.maskedload {{.*}} : memref<64x40xf32>
// CHECK:           vector.maskedstore
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @packed(%a: memref<32x64xf32>, %b: memref<64x40xf32>, %c: memref<32x40xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_32x40_16x1_fma_8x32_packb">} {
        linalg.matmul ins(%a, %b : memref<32x64xf32>, memref<64x40xf32>) outs(%c : memref<32x40xf32>)
        return
      }
    }
  }
}

// -----

// A transposed B is turned in registers while it is packed.

// CHECK-LABEL: func.func @transposed(
// CHECK:         memref.alloc() {{.*}} : memref<2x64x32xf32>
// CHECK-COUNT-64: vector.shuffle
// CHECK:         math.fma
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @transposed(%a: memref<32x64xf32>, %b: memref<64x64xf32>, %c: memref<32x64xf32>) {
        linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
          ins(%a, %b : memref<32x64xf32>, memref<64x64xf32>) outs(%c : memref<32x64xf32>)
        return
      }
    }
  }
}

// -----

// With few rows, along K: lanes sum up apart, and are added at the end.

// CHECK-LABEL: func.func @matvec(
// CHECK:         scf.for {{.*}} -> (vector<16xf32>
// CHECK:           math.fma {{.*}} : vector<16xf32>
// CHECK:         vector.reduction <add>
// CHECK:         memref.store
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @matvec(%a: memref<32x64xf32>, %b: memref<64xf32>, %c: memref<32xf32>) {
        linalg.matvec ins(%a, %b : memref<32x64xf32>, memref<64xf32>) outs(%c : memref<32xf32>)
        return
      }
    }
  }
}

// -----

// Narrow elements are widened as vectors; integers are multiplied and added.

// CHECK-LABEL: func.func @bytes(
// CHECK:         vector.load {{.*}} : memref<16x16xi8>, vector<16xi8>
// CHECK:         arith.extsi {{.*}} : vector<16xi8> to vector<16xi32>
// CHECK:         arith.muli {{.*}} : vector<16xi32>
// CHECK:         arith.addi {{.*}} : vector<16xi32>
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @bytes(%a: memref<4x16xi8>, %b: memref<16x16xi8>, %c: memref<4x16xi32>) {
        linalg.matmul ins(%a, %b : memref<4x16xi8>, memref<16x16xi8>) outs(%c : memref<4x16xi32>)
        return
      }
    }
  }
}

// -----

// Without fused multiply-add, and without masks: what is left over is done element by element.

// CHECK-LABEL: func.func @sse(
// CHECK:         arith.mulf {{.*}} : vector<4xf32>
// CHECK:         arith.addf {{.*}} : vector<4xf32>
// CHECK-NOT:     math.fma
// CHECK-NOT:     masked
// CHECK:         arith.mulf %{{.+}}, %{{.+}} : f32
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @sse(%a: memref<3x5xf32>, %b: memref<5x9xf32>, %c: memref<3x9xf32>) {
        linalg.matmul ins(%a, %b : memref<3x5xf32>, memref<5x9xf32>) outs(%c : memref<3x9xf32>)
        return
      }
    }
  }
}

// -----

// Narrow floats are converted when their panel is filled, and those of rows once for all panels: the sums are of what
// was converted.

// CHECK-LABEL: func.func @widened(
// CHECK-DAG:       %[[ROWS:.+]] = memref.alloc() {alignment = 64 : i64} : memref<12x16xf32>
// CHECK-DAG:       %[[PANELS:.+]] = memref.alloc() {alignment = 64 : i64} : memref<2x16x16xf32>
// CHECK:           vector.load %{{.+}} : memref<36x24xbf16>
// CHECK:           arith.extf
// CHECK:           vector.store %{{.+}}, %[[PANELS]]
// CHECK:           vector.load %{{.+}} : memref<12x36xbf16>
// CHECK:           arith.extf
// CHECK:           vector.store %{{.+}}, %[[ROWS]]
// CHECK:           memref.load %{{.+}} : memref<12x36xbf16>
// CHECK:           arith.extf
// CHECK:           memref.store %{{.+}}, %[[ROWS]]
// CHECK-NOT:       arith.extf
// CHECK:           vector.load %[[PANELS]]
// CHECK-NOT:       arith.extf
// CHECK:           memref.load %[[ROWS]]
// CHECK-NOT:       arith.extf
// CHECK:           math.fma
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+fma"}>) {
    builtin.module {
      func.func @widened(%a: memref<12x36xbf16>, %b: memref<36x24xbf16>, %c: memref<12x24xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_12x24_16x1_fma_6x16_packb">} {
        linalg.matmul ins(%a, %b : memref<12x36xbf16>, memref<36x24xbf16>) outs(%c : memref<12x24xf32>)
        return
      }
    }
  }
}
