// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(func.func(kiln-llvmcpu-emit-kernels,canonicalize,cse)))))' | FileCheck %s

#target = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+fma"}>
hal.executable private @e {
  hal.executable.variant public @v target(#target) {
    builtin.module {
      // Numbers of four bits, two in a byte, with a scale for each block: what they are multiplied by is taken apart once,
      // a byte is loaded once for both, and their sum is scaled.
      // CHECK-LABEL: func.func @packed(
      // CHECK:         %[[APART:.+]] = memref.alloc() {alignment = 64 : i64} : memref<1x4x2x16xf32>
      // CHECK-COUNT-2: vector.shuffle
      // CHECK-COUNT-2: vector.store {{.*}}, %[[APART]]
      // CHECK:         scf.for
      // CHECK:           %[[SUM:.+]] = scf.for {{.*}} iter_args(%[[BEFORE:.+]] = %{{.+}}) -> (vector<8xf32>)
      // CHECK-COUNT-2:     vector.load %{{.+}} : memref<8x4x16xi8>, vector<8xi8>
      // CHECK-NOT:         memref<8x4x16xi8>
      // CHECK:             memref.load %{{.+}} : memref<8x4xf32>
      // CHECK:             math.fma %{{.+}}, %{{.+}}, %[[BEFORE]]
      // CHECK:         vector.reduction <add>, %[[SUM]]
      func.func @packed(%x: memref<1x4x16x2xf32>, %w: memref<8x4x16xi8>, %s: memref<8x4xf32>, %y: memref<1x8xf32>) {
        %c15 = arith.constant 15 : i32
        %c4 = arith.constant 4 : i32
        linalg.generic {indexing_maps = [affine_map<(m, n, b, i, h) -> (m, b, i, h)>, affine_map<(m, n, b, i, h) -> (n, b, i)>,
                                         affine_map<(m, n, b, i, h) -> (n, b)>, affine_map<(m, n, b, i, h) -> (m, n)>],
                        iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%x, %w, %s : memref<1x4x16x2xf32>, memref<8x4x16xi8>, memref<8x4xf32>) outs(%y : memref<1x8xf32>) {
        ^bb0(%a: f32, %byte: i8, %scale: f32, %before: f32):
          %h = linalg.index 4 : index
          %place = arith.index_cast %h : index to i32
          %by = arith.muli %place, %c4 : i32
          %wide = arith.extui %byte : i8 to i32
          %moved = arith.shrui %wide, %by : i32
          %number = arith.andi %moved, %c15 : i32
          %float = arith.sitofp %number : i32 to f32
          %scaled = arith.mulf %float, %scale : f32
          %product = arith.mulf %a, %scaled : f32
          %sum = arith.addf %before, %product : f32
          linalg.yield %sum : f32
        }
        return
      }

      // Taken out alone they are stored in the order that they have.
      // CHECK-LABEL: func.func @unpacked(
      // CHECK-COUNT-1: vector.load %{{.+}} : memref<4x16xi8>, vector<8xi8>
      // CHECK-COUNT-2: vector.shuffle
      // CHECK-COUNT-2: vector.store %{{.+}} : memref<4x16x2xf32>, vector<8xf32>
      func.func @unpacked(%w: memref<4x16xi8>, %y: memref<4x16x2xf32>) {
        %c15 = arith.constant 15 : i32
        %c4 = arith.constant 4 : i32
        linalg.generic {indexing_maps = [affine_map<(b, i, h) -> (b, i)>, affine_map<(b, i, h) -> (b, i, h)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%w : memref<4x16xi8>) outs(%y : memref<4x16x2xf32>) {
        ^bb0(%byte: i8, %before: f32):
          %h = linalg.index 2 : index
          %place = arith.index_cast %h : index to i32
          %by = arith.muli %place, %c4 : i32
          %wide = arith.extui %byte : i8 to i32
          %moved = arith.shrui %wide, %by : i32
          %number = arith.andi %moved, %c15 : i32
          %float = arith.sitofp %number : i32 to f32
          linalg.yield %float : f32
        }
        return
      }
    }
  }
}
