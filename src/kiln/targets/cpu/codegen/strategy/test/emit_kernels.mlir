// RUN: kiln-opt %s --split-input-file --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(func.func(kiln-llvmcpu-emit-kernels,canonicalize,cse)))))' | FileCheck %s

#target = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>
hal.executable private @e {
  hal.executable.variant public @v target(#target) {
    builtin.module {
      // Full vectors without masks, then what is left with one.
      // CHECK-LABEL: func.func @dynamic(
      // CHECK:         scf.for {{.*}} step %c64
      // CHECK-NOT:       masked
      // CHECK-COUNT-4:   vector.store
      // CHECK:         scf.for {{.*}} step %c16
      // CHECK:           %[[MASK:.+]] = vector.create_mask %{{.+}} : vector<16xi1>
      // CHECK:           vector.maskedload {{.*}}, %[[MASK]]
      // CHECK:           vector.maskedstore {{.*}}, %[[MASK]]
      func.func @dynamic(%a: memref<?xf32>, %b: memref<?xf32>) {
        linalg.negf ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
        return
      }

      // Whoever reads a tile last asks for the next one, a line at a time, if others have read it before.
      // CHECK-LABEL: func.func @ahead(
      // CHECK-NOT:     memref.prefetch
      // CHECK:         vector.reduction <maximumf>
      // CHECK-COUNT-4: memref.prefetch {{.*}} read, locality<2>, data
      // CHECK-NOT:     memref.prefetch
      // CHECK:         return
      func.func @ahead(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %at: index) {
        %tile = memref.subview %a[%at, 0] [8, 64] [1, 1] : memref<64x64xf32> to memref<8x64xf32, strided<[64, 1], offset: ?>>
        %to = memref.subview %b[%at, 0] [8, 64] [1, 1] : memref<64x64xf32> to memref<8x64xf32, strided<[64, 1], offset: ?>>
        %most = memref.alloc() : memref<8xf32>
        linalg.reduce {arith.maximumf} ins(%tile : memref<8x64xf32, strided<[64, 1], offset: ?>>) outs(%most : memref<8xf32>) dimensions = [1]
        linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                        iterator_types = ["parallel", "parallel"]}
            ins(%tile, %most : memref<8x64xf32, strided<[64, 1], offset: ?>>, memref<8xf32>)
            outs(%to : memref<8x64xf32, strided<[64, 1], offset: ?>>) {
        ^bb0(%x: f32, %m: f32, %o: f32):
          %r = arith.subf %x, %m : f32
          linalg.yield %r : f32
        }
        return
      }

      // Integers may be divided by a lane that is not there, so there are no masks.
      // CHECK-LABEL: func.func @divide(
      // CHECK:         arith.divsi {{.*}} : vector<16xi32>
      // CHECK-NOT:     masked
      // CHECK:         arith.divsi {{.*}} : i32
      func.func @divide(%a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>) {
        linalg.div ins(%a, %b : memref<?xi32>, memref<?xi32>) outs(%c : memref<?xi32>)
        return
      }

      // All lanes of a vector are checked before what comes after it; masks would check lanes that are not there.
      // CHECK-LABEL: func.func @checked(
      // CHECK:         %[[FINE:.+]] = arith.cmpi sge, {{.*}} : vector<16xi32>
      // CHECK:         %[[ALL:.+]] = vector.reduction <and>, %[[FINE]] : vector<16xi1> into i1
      // CHECK:         cf.assert %[[ALL]], "negative"
      // CHECK:         vector.store
      // CHECK-NOT:     masked
      // CHECK:         %[[ONE:.+]] = arith.cmpi sge, {{.*}} : i32
      // CHECK:         cf.assert %[[ONE]], "negative"
      func.func @checked(%a: memref<?xi32>, %b: memref<?xi32>) {
        %zero = arith.constant 0 : i32
        linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%a : memref<?xi32>) outs(%b : memref<?xi32>) {
        ^bb0(%x: i32, %y: i32):
          %fine = arith.cmpi sge, %x, %zero : i32
          cf.assert %fine, "negative"
          linalg.yield %x : i32
        }
        return
      }

      // A vector that all rows share is loaded for each row, a scalar that a row shares is broadcast.
      // CHECK-LABEL: func.func @broadcasts(
      // CHECK:         memref.load %{{.+}} : memref<4xf32>
      // CHECK:         vector.load %{{.+}} : memref<32xf32>, vector<16xf32>
      // CHECK:         vector.broadcast
      // CHECK:         arith.addf {{.*}} : vector<16xf32>
      func.func @broadcasts(%a: memref<4xf32>, %b: memref<32xf32>, %c: memref<4x32xf32>) {
        linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%a, %b : memref<4xf32>, memref<32xf32>) outs(%c : memref<4x32xf32>) {
        ^bb0(%x: f32, %y: f32, %z: f32):
          %s = arith.addf %x, %y : f32
          linalg.yield %s : f32
        }
        return
      }

      // Squares of 16x16 are turned in registers.
      // CHECK-LABEL: func.func @transpose(
      // CHECK-COUNT-16: vector.load {{.*}} : memref<32x64xf32>, vector<16xf32>
      // CHECK-COUNT-64: vector.shuffle
      // CHECK-COUNT-16: vector.store {{.*}} : memref<64x32xf32>, vector<16xf32>
      func.func @transpose(%a: memref<32x64xf32>, %b: memref<64x32xf32>) {
        linalg.transpose ins(%a : memref<32x64xf32>) outs(%b : memref<64x32xf32>) permutation = [1, 0]
        return
      }

      // Along the rows: four at a time, and lanes that are combined at the end.
      // CHECK-LABEL: func.func @row_sums(
      // CHECK:         scf.for {{.*}} step %c4
      // CHECK:           scf.for {{.*}} step %c32 iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
      // CHECK-COUNT-4:   vector.reduction <add>
      func.func @row_sums(%a: memref<16x64xf32>, %s: memref<16xf32>) {
        linalg.reduce ins(%a : memref<16x64xf32>) outs(%s : memref<16xf32>) dimensions = [1]
          (%in: f32, %init: f32) {
            %y = arith.addf %in, %init : f32
            linalg.yield %y : f32
          }
        return
      }

      // A tail of a reduction keeps the sum of the lanes that are not there.
      // CHECK-LABEL: func.func @row_max(
      // CHECK:         %[[MASK:.+]] = vector.constant_mask [5]
      // CHECK:         %[[LOADED:.+]] = vector.maskedload {{.*}}, %[[MASK]]
      // CHECK:         %[[LANES:.+]] = arith.select %[[MASK]], %[[LOADED]]
      // CHECK:         arith.maximumf %{{.+}}, %[[LANES]]
      // CHECK:         vector.reduction <maximumf>
      func.func @row_max(%a: memref<1x21xf32>, %s: memref<1xf32>) {
        linalg.reduce ins(%a : memref<1x21xf32>) outs(%s : memref<1xf32>) dimensions = [1]
          (%in: f32, %init: f32) {
            %y = arith.maximumf %in, %init : f32
            linalg.yield %y : f32
          }
        return
      }

      // Down the columns: sums stay in registers, nothing is combined.
      // CHECK-LABEL: func.func @column_sums(
      // CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
      // CHECK-NOT:     vector.reduction
      func.func @column_sums(%a: memref<16x64xf32>, %s: memref<64xf32>) {
        linalg.reduce ins(%a : memref<16x64xf32>) outs(%s : memref<64xf32>) dimensions = [0]
          (%in: f32, %init: f32) {
            %y = arith.addf %in, %init : f32
            linalg.yield %y : f32
          }
        return
      }

      // A convolution is a contraction with more loops: rows are neighbours of the image, vectors run along the features.
      // CHECK-LABEL: func.func @conv(
      // CHECK:         scf.for
      // CHECK:         vector.load %{{.+}} : memref<3x3x4x16xf32>, vector<16xf32>
      // CHECK:         math.fma {{.*}} : vector<16xf32>
      func.func @conv(%a: memref<1x10x10x4xf32>, %f: memref<3x3x4x16xf32>, %c: memref<1x8x8x16xf32>) {
        linalg.conv_2d_nhwc_hwcf ins(%a, %f : memref<1x10x10x4xf32>, memref<3x3x4x16xf32>) outs(%c : memref<1x8x8x16xf32>)
        return
      }

      // Truth values are bytes in memory.
      // CHECK-LABEL: func.func @compare()
      // CHECK:         hal.interface.binding.subspan binding(1) <writeonly> : memref<64xi8>
      // CHECK:         %[[BITS:.+]] = arith.cmpf olt, {{.*}} : vector<16xf32>
      // CHECK:         %[[BYTES:.+]] = arith.extui %[[BITS]] : vector<16xi1> to vector<16xi8>
      // CHECK:         vector.store %[[BYTES]]
      func.func @compare() {
        %a = hal.interface.binding.subspan binding(0) <readonly> : memref<64xf32>
        %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<64xi1>
        linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%a : memref<64xf32>) outs(%b : memref<64xi1>) {
        ^bb0(%x: f32, %y: i1):
          %zero = arith.constant 0.0 : f32
          %s = arith.cmpf olt, %x, %zero : f32
          linalg.yield %s : i1
        }
        return
      }

      // Positions are vectors of steps.
      // CHECK-LABEL: func.func @positions(
      // CHECK:         vector.step : vector<8xindex>
      // CHECK:         arith.index_cast {{.*}} : vector<8xindex> to vector<8xi64>
      func.func @positions(%a: memref<4x32xi64>) {
        linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          outs(%a : memref<4x32xi64>) {
        ^bb0(%x: i64):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %s = arith.addi %i, %j : index
          %c = arith.index_cast %s : index to i64
          linalg.yield %c : i64
        }
        return
      }

      // A copy is a kernel like any other.
      // CHECK-LABEL: func.func @copy(
      // CHECK-NOT:     memref.copy
      // CHECK:         vector.load
      // CHECK:         vector.store
      func.func @copy(%a: memref<4x32xf32>, %b: memref<4x32xf32, strided<[64, 1]>>) {
        memref.copy %a, %b : memref<4x32xf32> to memref<4x32xf32, strided<[64, 1]>>
        return
      }

      // The instruction class of the configuration can ask for no vectors at all.
      // CHECK-LABEL: func.func @scalar(
      // CHECK-NOT:     vector
      // CHECK:         memref.store
      func.func @scalar(%a: memref<64xf32>, %b: memref<64xf32>) attributes {lowering = #hal.lowering<"elementwise", "tile_config_1x64_0x1_scalar">} {
        linalg.negf ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
        return
      }
    }
  }
}
