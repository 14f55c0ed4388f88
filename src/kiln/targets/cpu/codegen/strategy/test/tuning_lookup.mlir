// What a tuning database says is taken before the default, and after the IR.
// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering{tuning-db=%S/Inputs/tuning.json})))' \
// RUN:   2> %t.err | FileCheck %s --check-prefixes=CHECK,MOST
// RUN: FileCheck %s --check-prefix=WARNING < %t.err
// RUN: kiln-opt %s --tuning-db=%S/Inputs/tuning.json --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering)))' \
// RUN:   2> %t.err | FileCheck %s --check-prefixes=CHECK,MOST
// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering{tuning-db=%S/Inputs/tuning.json tuning-threads=1})))' \
// RUN:   2> %t.err | FileCheck %s --check-prefixes=ONE

// Of entries for the same the newest counts, whatever the order; without a wish, that of the most threads.
// MOST-LABEL: func.func @matmul(
// MOST-SAME:    "tile_config_64x256_256x1_fma_6x16">
// ONE-LABEL:  func.func @matmul(
// ONE-SAME:     "tile_config_32x128_256x1_fma_4x16_packb">
// The order of the loops and the name of the op are no matter.
// CHECK-LABEL: func.func @as_generic(
// CHECK-SAME:    "tile_config_64x256_256x1_fma_6x16">
// Neither is what is fused.
// CHECK-LABEL: func.func @fused(
// CHECK-SAME:    "tile_config_64x256_256x1_fma_6x16">
// CHECK-LABEL: func.func @batched(
// CHECK-SAME:    "tile_config_7x9_5x1_fma_7x8">
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    <"elementwise", "tile_config_1x512_0x1_vector">
// What the op says goes before it.
// CHECK-LABEL: func.func @configured(
// CHECK-SAME:    "tile_config_64x32_7x1_fma_2x16">
// Another extent, another type, another layout is another operation.
// CHECK-LABEL: func.func @wider(
// CHECK-SAME:    _fma_6x16_packb">
// CHECK-LABEL: func.func @doubles(
// CHECK-SAME:    _fma_6x8_packb">
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    _fma_6x16_packb">
// What is not legal is not taken.
// WARNING: tuning_lookup.mlir:{{[0-9]+}}:{{[0-9]+}}: warning: {{.*}}takes the default configuration, since what '{{.*}}tuning.json' says of it, tile_config_8x8_8x4_tensorcore_mmasync, is not legal for it: {{.*}}llvm-cpu has fma, vector and scalar
// WARNING-NOT: {{warning|error}}
// CHECK-LABEL: func.func @illegal(
// CHECK-SAME:    "tile_config_8x8_8x1_fma_{{.*}}">
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME:    <"default"

#avx2 = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+fma"}>
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
!square = tensor<512x512xf32>

hal.executable private @e {
  hal.executable.variant public @llvm_cpu target(#avx2) {
    builtin.module {
      func.func @matmul(%a: !square, %b: !square, %c: !square) -> !square {
        %r = linalg.matmul ins(%a, %b : !square, !square) outs(%c : !square) -> !square
        return %r : !square
      }
      func.func @as_generic(%a: !square, %b: !square, %c: !square) -> !square {
        %r = linalg.generic {indexing_maps = [affine_map<(k, n, m) -> (m, k)>, affine_map<(k, n, m) -> (k, n)>,
                                              affine_map<(k, n, m) -> (m, n)>],
                             iterator_types = ["reduction", "parallel", "parallel"]}
          ins(%a, %b : !square, !square) outs(%c : !square) {
        ^bb0(%x: f32, %y: f32, %sum: f32):
          %p = arith.mulf %x, %y : f32
          %s = arith.addf %sum, %p : f32
          linalg.yield %s : f32
        } -> !square
        return %r : !square
      }
      func.func @fused(%a: !square, %b: !square, %bias: tensor<512xf32>) -> !square {
        %zero = arith.constant 0.0 : f32
        %e = tensor.empty() : !square
        %exp = linalg.exp ins(%a : !square) outs(%e : !square) -> !square
        %z = linalg.fill ins(%zero : f32) outs(%e : !square) -> !square
        %m = linalg.matmul ins(%exp, %b : !square, !square) outs(%z : !square) -> !square
        %r = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
          ins(%m, %bias : !square, tensor<512xf32>) outs(%e : !square) {
        ^bb0(%x: f32, %y: f32, %old: f32):
          %s = arith.addf %x, %y : f32
          %p = arith.maximumf %s, %zero : f32
          linalg.yield %p : f32
        } -> !square
        return %r : !square
      }
      func.func @batched(%a: tensor<3x7x5xf16>, %b: tensor<3x9x5xf16>, %c: tensor<3x7x9xf32>) -> tensor<3x7x9xf32> {
        %r = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                                  affine_map<(b, m, n, k) -> (b, n, k)>,
                                                  affine_map<(b, m, n, k) -> (b, m, n)>]
            ins(%a, %b : tensor<3x7x5xf16>, tensor<3x9x5xf16>) outs(%c : tensor<3x7x9xf32>) -> tensor<3x7x9xf32>
        return %r : tensor<3x7x9xf32>
      }
      func.func @elementwise(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
        %e = tensor.empty() : tensor<64x64xf32>
        %r = linalg.exp ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
        return %r : tensor<64x64xf32>
      }
      func.func @configured(%a: !square, %b: !square, %c: !square) -> !square {
        %r = linalg.matmul {kiln.configuration = "tile_config_64x32_7x1_fma_2x16"}
            ins(%a, %b : !square, !square) outs(%c : !square) -> !square
        return %r : !square
      }
      func.func @wider(%a: !square, %b: tensor<512x513xf32>, %c: tensor<512x513xf32>) -> tensor<512x513xf32> {
        %r = linalg.matmul ins(%a, %b : !square, tensor<512x513xf32>) outs(%c : tensor<512x513xf32>) -> tensor<512x513xf32>
        return %r : tensor<512x513xf32>
      }
      func.func @doubles(%a: tensor<512x512xf64>, %b: tensor<512x512xf64>, %c: tensor<512x512xf64>) -> tensor<512x512xf64> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf64>, tensor<512x512xf64>) outs(%c : tensor<512x512xf64>) -> tensor<512x512xf64>
        return %r : tensor<512x512xf64>
      }
      func.func @transposed(%a: !square, %b: !square, %c: !square) -> !square {
        %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                            affine_map<(m, n, k) -> (m, n)>]
            ins(%a, %b : !square, !square) outs(%c : !square) -> !square
        return %r : !square
      }
      func.func @illegal(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
        return %r : tensor<8x8xf32>
      }
      func.func @nothing() {
        return
      }
    }
  }
}
