// RUN: kiln-opt %s --split-input-file --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(func.func(kiln-llvmcpu-emit-kernels,canonicalize,cse)))))' | FileCheck %s

// One slice of a reduction, whose loop over slices runs once, is packed like any other matrix.

// CHECK-LABEL: func.func @one_slice(
// CHECK:         memref.alloc() {{.*}} : memref<2x17x32xf32>
// CHECK:         scf.for
// CHECK-NOT:     linalg.generic
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @one_slice(%a: memref<8x17xf32>, %b: memref<17x40xf32>, %extent: memref<17xf32>, %c: memref<1x8x40xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_8x40_64x1_fma_4x32_packb">} {
        linalg.generic {
          indexing_maps = [affine_map<(s, m, n, k) -> (m, s * 17 + k)>, affine_map<(s, m, n, k) -> (s * 17 + k, n)>, affine_map<(s, m, n, k) -> (k)>, affine_map<(s, m, n, k) -> (s, m, n)>],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]
        } ins(%a, %b, %extent : memref<8x17xf32>, memref<17x40xf32>, memref<17xf32>) outs(%c : memref<1x8x40xf32>) {
        ^bb0(%x: f32, %y: f32, %none: f32, %sum: f32):
          %product = arith.mulf %x, %y : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        }
        return
      }
    }
  }
}

// -----

// A slice that starts further on is a view.

// CHECK-LABEL: func.func @last_slice(
// CHECK-SAME:    %[[A:.+]]: memref<8x65xf32>, %[[B:.+]]: memref<65x40xf32>
// CHECK-DAG:     memref.subview %[[A]][0, 51] [8, 14] [1, 1]
// CHECK-DAG:     memref.subview %[[B]][51, 0] [14, 40] [1, 1]
// CHECK:         memref.alloc() {{.*}} : memref<2x14x32xf32>
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @last_slice(%a: memref<8x65xf32>, %b: memref<65x40xf32>, %extent: memref<14xf32>, %c: memref<8x40xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_8x40_64x1_fma_4x32_packb">} {
        linalg.generic {
          indexing_maps = [affine_map<(m, n, k) -> (m, k + 51)>, affine_map<(m, n, k) -> (k + 51, n)>, affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>],
          iterator_types = ["parallel", "parallel", "reduction"]
        } ins(%a, %b, %extent : memref<8x65xf32>, memref<65x40xf32>, memref<14xf32>) outs(%c : memref<8x40xf32>) {
        ^bb0(%x: f32, %y: f32, %none: f32, %sum: f32):
          %product = arith.mulf %x, %y : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        }
        return
      }
    }
  }
}

// -----

// Several slices, and loops of a filter, stay as they are.

// CHECK-LABEL: func.func @slices(
// CHECK-NOT:     memref.subview
// CHECK:         scf.for
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @slices(%a: memref<8x34xf32>, %b: memref<34x40xf32>, %extent: memref<17xf32>, %c: memref<2x8x40xf32>) attributes {lowering = #hal.lowering<"contraction", "tile_config_8x40_64x1_fma_4x32_packb">} {
        linalg.generic {
          indexing_maps = [affine_map<(s, m, n, k) -> (m, s * 17 + k)>, affine_map<(s, m, n, k) -> (s * 17 + k, n)>, affine_map<(s, m, n, k) -> (k)>, affine_map<(s, m, n, k) -> (s, m, n)>],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]
        } ins(%a, %b, %extent : memref<8x34xf32>, memref<34x40xf32>, memref<17xf32>) outs(%c : memref<2x8x40xf32>) {
        ^bb0(%x: f32, %y: f32, %none: f32, %sum: f32):
          %product = arith.mulf %x, %y : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        }
        return
      }
    }
  }
}

// -----

// Sums that are kept in f16 are rounded at each step, after one multiplication and addition in f32.

// CHECK-LABEL: func.func @sums_in_f16(
// CHECK:         scf.for %{{.+}} = %c0 to %c17 step %c1 iter_args({{.*}}) -> (vector<16xf16>
// CHECK:           arith.extf %{{.+}} : vector<16xf16> to vector<16xf32>
// CHECK:           math.fma {{.*}} : vector<16xf32>
// CHECK:           arith.truncf {{.*}} : vector<16xf32> to vector<16xf16>
// CHECK:           scf.yield
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    builtin.module {
      func.func @sums_in_f16(%a: memref<8x17xf16>, %b: memref<17x32xf16>, %c: memref<8x32xf16>) attributes {lowering = #hal.lowering<"contraction", "tile_config_8x32_64x1_fma_4x32">} {
        linalg.generic {
          indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
          iterator_types = ["parallel", "parallel", "reduction"]
        } ins(%a, %b : memref<8x17xf16>, memref<17x32xf16>) outs(%c : memref<8x32xf16>) {
        ^bb0(%x: f16, %y: f16, %sum: f16):
          %wx = arith.extf %x : f16 to f32
          %wy = arith.extf %y : f16 to f32
          %ws = arith.extf %sum : f16 to f32
          %product = arith.mulf %wx, %wy : f32
          %next = arith.addf %ws, %product : f32
          %rounded = arith.truncf %next : f32 to f16
          linalg.yield %rounded : f16
        }
        return
      }
    }
  }
}
