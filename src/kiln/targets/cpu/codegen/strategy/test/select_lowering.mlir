// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering)))' | FileCheck %s

#avx512 = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>
#avx2 = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+fma"}>
#map = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#rows3 = affine_map<(d0, d1, d2) -> (d0, d1)>

hal.executable private @on_avx512 {
  hal.executable.variant public @llvm_cpu target(#avx512) {
    builtin.module {
      // Tiles share the result evenly; the register tile is AVX-512's.
      // CHECK-LABEL: func.func @matmul(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_72x64_256x1_fma_12x32_packb">
      func.func @matmul(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
      // No tile is larger than the problem, and nothing is packed for few rows.
      // CHECK-LABEL: func.func @small(
      // CHECK-SAME:    "tile_config_3x3_5x1_fma_3x16">
      func.func @small(%a: tensor<3x5xf32>, %b: tensor<5x3xf32>, %c: tensor<3x3xf32>) -> tensor<3x3xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x3xf32>) outs(%c : tensor<3x3xf32>) -> tensor<3x3xf32>
        return %r : tensor<3x3xf32>
      }
      // What the op says is taken as it is, and leaves the op.
      // CHECK-LABEL: func.func @configured(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_64x32_7x1_fma_2x16">
      // CHECK:         linalg.matmul ins
      func.func @configured(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul {kiln.configuration = "tile_config_64x32_7x1_fma_2x16"}
            ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
      // Elements of 64 bits: half as many to a register.
      // CHECK-LABEL: func.func @doubles(
      // CHECK-SAME:    _fma_12x16_packb">
      func.func @doubles(%a: tensor<?x?xf64>, %b: tensor<?x?xf64>, %c: tensor<?x?xf64>) -> tensor<?x?xf64> {
        %r = linalg.matmul ins(%a, %b : tensor<?x?xf64>, tensor<?x?xf64>) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
        return %r : tensor<?x?xf64>
      }
      // CHECK-LABEL: func.func @vecmat(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_1x256_{{[0-9]+}}x1_fma_1x128">
      func.func @vecmat(%a: tensor<512xf32>, %b: tensor<512x512xf32>, %c: tensor<512xf32>) -> tensor<512xf32> {
        %r = linalg.vecmat ins(%a, %b : tensor<512xf32>, tensor<512x512xf32>) outs(%c : tensor<512xf32>) -> tensor<512xf32>
        return %r : tensor<512xf32>
      }
      // Few rows read long rows of columns once for two of them, of few pages at a time.
      // CHECK-LABEL: func.func @five_rows(
      // CHECK-SAME:    "tile_config_5x554_160x1_fma_2x128">
      func.func @five_rows(%a: tensor<5x301xf32>, %b: tensor<301x554xf32>, %c: tensor<5x554xf32>) -> tensor<5x554xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<5x301xf32>, tensor<301x554xf32>) outs(%c : tensor<5x554xf32>) -> tensor<5x554xf32>
        return %r : tensor<5x554xf32>
      }
      // Of a large input they read a few rows from one end to the other.
      // CHECK-LABEL: func.func @streamed(
      // CHECK-SAME:    "tile_config_2x1024_8x1_fma_2x64">
      func.func @streamed(%a: tensor<2x4096xf32>, %b: tensor<4096x4096xf32>, %c: tensor<2x4096xf32>) -> tensor<2x4096xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<2x4096xf32>, tensor<4096x4096xf32>) outs(%c : tensor<2x4096xf32>) -> tensor<2x4096xf32>
        return %r : tensor<2x4096xf32>
      }
      // Short sums are stored in long rows, which stay together.
      // CHECK-LABEL: func.func @short_sums(
      // CHECK-SAME:    "tile_config_184x675_8x1_fma_2x128_packb">
      func.func @short_sums(%a: tensor<1104x8xf32>, %b: tensor<8x675xf32>, %c: tensor<1104x675xf32>) -> tensor<1104x675xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<1104x8xf32>, tensor<8x675xf32>) outs(%c : tensor<1104x675xf32>) -> tensor<1104x675xf32>
        return %r : tensor<1104x675xf32>
      }
      // Rows that are a panel as they lie are not copied into one.
      // CHECK-LABEL: func.func @narrow(
      // CHECK-SAME:    "tile_config_{{[0-9]+}}x64_{{[0-9]+}}x1_fma_6x64">
      func.func @narrow(%a: tensor<1299x512xf32>, %b: tensor<512x64xf32>, %c: tensor<1299x64xf32>) -> tensor<1299x64xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<1299x512xf32>, tensor<512x64xf32>) outs(%c : tensor<1299x64xf32>) -> tensor<1299x64xf32>
        return %r : tensor<1299x64xf32>
      }
      // What copies columns into panels does it for many rows.
      // CHECK-LABEL: func.func @copied(
      // CHECK-SAME:    "tile_config_90x39_288x1_fma_9x48_packb">
      func.func @copied(%a: tensor<356x821xf32>, %b: tensor<821x39xf32>, %c: tensor<356x39xf32>) -> tensor<356x39xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<356x821xf32>, tensor<821x39xf32>) outs(%c : tensor<356x39xf32>) -> tensor<356x39xf32>
        return %r : tensor<356x39xf32>
      }
      // The root of a dispatch is its most expensive operation, here the sum.
      // CHECK-LABEL: func.func @sum_of_exp(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x{{[0-9]+}}_0x1_vector">
      func.func @sum_of_exp(%a: tensor<100x200xf32>, %s: tensor<100xf32>) -> tensor<100xf32> {
        %e = tensor.empty() : tensor<100x200xf32>
        %x = linalg.exp ins(%a : tensor<100x200xf32>) outs(%e : tensor<100x200xf32>) -> tensor<100x200xf32>
        %r = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<100x200xf32>) outs(%s : tensor<100xf32>) {
        ^bb0(%in: f32, %sum: f32):
          %y = arith.addf %in, %sum : f32
          linalg.yield %y : f32
        } -> tensor<100xf32>
        return %r : tensor<100xf32>
      }
      // So few rows are a workgroup each.
      // CHECK-LABEL: func.func @few_rows(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x1_0x1_vector">
      func.func @few_rows(%a: tensor<4x262144xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
        %r = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel", "reduction"]}
          ins(%a : tensor<4x262144xf32>) outs(%s : tensor<4xf32>) {
        ^bb0(%in: f32, %out: f32):
          %v = arith.addf %in, %out : f32
          linalg.yield %v : f32
        } -> tensor<4xf32>
        return %r : tensor<4xf32>
      }
      // Of rows that are kept between the operations, as many are in a tile as stay in a cache: here two.
      // CHECK-LABEL: func.func @kept_rows(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x2_0x1_vector">
      func.func @kept_rows(%a: tensor<4x64x262144xf32>, %m: tensor<4x64xf32>, %s: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
        %e = tensor.empty() : tensor<4x64x262144xf32>
        %d = linalg.generic {indexing_maps = [#map3, #rows3, #map3], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a, %m : tensor<4x64x262144xf32>, tensor<4x64xf32>) outs(%e : tensor<4x64x262144xf32>) {
        ^bb0(%in: f32, %max: f32, %out: f32):
          %y = arith.subf %in, %max : f32
          linalg.yield %y : f32
        } -> tensor<4x64x262144xf32>
        %r = linalg.generic {indexing_maps = [#map3, #rows3], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%d : tensor<4x64x262144xf32>) outs(%s : tensor<4x64xf32>) {
        ^bb0(%in: f32, %sum: f32):
          %y = arith.addf %in, %sum : f32
          linalg.yield %y : f32
        } -> tensor<4x64xf32>
        %n = linalg.generic {indexing_maps = [#map3, #rows3], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%d : tensor<4x64x262144xf32>) outs(%s : tensor<4x64xf32>) {
        ^bb0(%in: f32, %sum: f32):
          %y = arith.minimumf %in, %sum : f32
          linalg.yield %y : f32
        } -> tensor<4x64xf32>
        return %r, %n : tensor<4x64xf32>, tensor<4x64xf32>
      }
      // Whole bindings: elementwise work on a matrix is work on one row.
      // CHECK-LABEL: func.func @elementwise(
      // CHECK-SAME:    lowering = #hal.lowering<"elementwise", "tile_config_1x16000_0x1_vector">
      func.func @elementwise() {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<320x100xf32>
        %a = bufferization.to_tensor %0 restrict : memref<320x100xf32> to tensor<320x100xf32>
        %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<320x100xf32>
        %e = tensor.empty() : tensor<320x100xf32>
        %x = linalg.exp ins(%a : tensor<320x100xf32>) outs(%e : tensor<320x100xf32>) -> tensor<320x100xf32>
        bufferization.materialize_in_destination %x in restrict writable %1 : (tensor<320x100xf32>, memref<320x100xf32>) -> ()
        return
      }
      // CHECK-LABEL: func.func @pad(
      // CHECK-SAME:    lowering = #hal.lowering<"default", "tile_config_
      func.func @pad(%a: tensor<30x40xf32>) -> tensor<32x44xf32> {
        %zero = arith.constant 0.0 : f32
        %p = tensor.pad %a low[1, 2] high[1, 2] {
        ^bb0(%i: index, %j: index):
          tensor.yield %zero : f32
        } : tensor<30x40xf32> to tensor<32x44xf32>
        return %p : tensor<32x44xf32>
      }
      // CHECK-LABEL: func.func @no_rows(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction"
      func.func @no_rows(%a: tensor<0x64xf32>, %b: tensor<64x40xf32>, %c: tensor<0x40xf32>) -> tensor<0x40xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<0x64xf32>, tensor<64x40xf32>) outs(%c : tensor<0x40xf32>) -> tensor<0x40xf32>
        return %r : tensor<0x40xf32>
      }
      // Rows of results are long, but not without end.
      // CHECK-LABEL: func.func @outer_product(
      // CHECK-SAME:    x4096_
      func.func @outer_product(%a: tensor<5000x1xf32>, %b: tensor<1x65536xf32>, %c: tensor<5000x65536xf32>) -> tensor<5000x65536xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<5000x1xf32>, tensor<1x65536xf32>) outs(%c : tensor<5000x65536xf32>) -> tensor<5000x65536xf32>
        return %r : tensor<5000x65536xf32>
      }
      // CHECK-LABEL: func.func @nothing(
      // CHECK-SAME:    lowering = #hal.lowering<"default", "tile_config_0x0_0x1_vector">
      func.func @nothing() {
        return
      }
      // What is there already stays.
      // CHECK-LABEL: func.func @given(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_32x64_0x1_fma_4x16">
      func.func @given(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32>
          attributes {lowering = #hal.lowering<"contraction", "tile_config_32x64_0x1_fma_4x16">} {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
    }
  }
}

hal.executable private @on_avx2 {
  hal.executable.variant public @llvm_cpu target(#avx2) {
    builtin.module {
      // CHECK-LABEL: func.func @matmul(
      // CHECK-SAME:    _fma_6x16_packb">
      func.func @matmul(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
    }
  }
}
