// RUN: kiln-opt %s --split-input-file --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-codegen-distribute-dispatch)))' | FileCheck %s

// What feeds the last operation is fused with it; all is computed in the result's own memory.

// CHECK-LABEL: hal.executable.export public @matmul_relu
// CHECK-SAME:    count() -> (index, index, index)
// CHECK:         hal.return %c4{{.*}}, %c2{{.*}}, %c1
// CHECK-LABEL: func.func @matmul_relu()
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     #hal.descriptor_type
// CHECK-DAG:     %[[X:.+]] = hal.interface.workgroup.id[0]
// CHECK-DAG:     %[[Y:.+]] = hal.interface.workgroup.id[1]
// CHECK:         %[[TILE:.+]] = memref.subview %{{.+}}[%{{.+}}, %{{.+}}] [32, 16] [1, 1] : memref<64x64xf32>
// CHECK:         linalg.fill {{.*}} outs(%[[TILE]]
// CHECK:         linalg.matmul {{.*}} outs(%[[TILE]]
// CHECK:         linalg.generic {{.*}} ins(%[[TILE]] {{.*}} outs(%[[TILE]]
// CHECK-NOT:     memref.copy
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @matmul_relu ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @matmul_relu() attributes {lowering = #hal.lowering<"contraction", "tile_config_32x16_0x1_fma">} {
        %zero = arith.constant 0.0 : f32
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<64x64xf32, #hal.descriptor_type<storage_buffer>>
        %a = bufferization.to_tensor %0 restrict : memref<64x64xf32, #hal.descriptor_type<storage_buffer>> to tensor<64x64xf32>
        %1 = hal.interface.binding.subspan binding(1) <readonly> : memref<64x64xf32, #hal.descriptor_type<storage_buffer>>
        %b = bufferization.to_tensor %1 restrict : memref<64x64xf32, #hal.descriptor_type<storage_buffer>> to tensor<64x64xf32>
        %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<64x64xf32, #hal.descriptor_type<storage_buffer>>
        %e = tensor.empty() : tensor<64x64xf32>
        %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
        %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
        %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%p : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
        ^bb0(%in: f32, %out: f32):
          %m = arith.maximumf %in, %zero : f32
          linalg.yield %m : f32
        } -> tensor<64x64xf32>
        bufferization.materialize_in_destination %r in restrict writable %2 : (tensor<64x64xf32>, memref<64x64xf32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

// A result on the way is stored from the same tiles.

// CHECK-LABEL: func.func @two_results()
// CHECK-NOT:     memref.alloc
// CHECK:         hal.interface.workgroup.id[0]
// CHECK:         %[[FIRST:.+]] = memref.subview
// CHECK:         linalg.exp {{.*}} outs(%[[FIRST]]
// CHECK:         linalg.tanh ins(%[[FIRST]]
// CHECK-NOT:     memref.copy
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @two_results ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [readonly, writeonly, writeonly]>)
    builtin.module {
      func.func @two_results() attributes {lowering = #hal.lowering<"elementwise", "tile_config_1x16_0x1_vector">} {
        %n = hal.interface.constant.load[0] : index
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<?xf32>{%n}
        %a = bufferization.to_tensor %0 restrict : memref<?xf32> to tensor<?xf32>
        %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<?xf32>{%n}
        %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<?xf32>{%n}
        %e = tensor.empty(%n) : tensor<?xf32>
        %x = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
        %y = linalg.tanh ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
        bufferization.materialize_in_destination %x in restrict writable %1 : (tensor<?xf32>, memref<?xf32>) -> ()
        bufferization.materialize_in_destination %y in restrict writable %2 : (tensor<?xf32>, memref<?xf32>) -> ()
        return
      }
    }
  }
}

// -----

// Rows are shared among workgroups, so that each has the sums of its rows.

// CHECK-LABEL: hal.executable.export public @normalize
// CHECK:         hal.return %c4{{.*}}, %c1{{.*}}, %c1
// CHECK-LABEL: func.func @normalize()
// CHECK:         memref.alloc() {{.*}} : memref<4xf32>
// CHECK:         memref.subview %{{.+}}[%{{.+}}, 0] [4, 64] [1, 1]
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @normalize ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      func.func @normalize() attributes {lowering = #hal.lowering<"reduction", "tile_config_1x4_0x1_vector">} {
        %zero = arith.constant 0.0 : f32
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<16x64xf32>
        %a = bufferization.to_tensor %0 restrict : memref<16x64xf32> to tensor<16x64xf32>
        %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<16x64xf32>
        %s = tensor.empty() : tensor<16xf32>
        %f = linalg.fill ins(%zero : f32) outs(%s : tensor<16xf32>) -> tensor<16xf32>
        %sum = linalg.reduce ins(%a : tensor<16x64xf32>) outs(%f : tensor<16xf32>) dimensions = [1]
          (%in: f32, %init: f32) {
            %y = arith.addf %in, %init : f32
            linalg.yield %y : f32
          }
        %e = tensor.empty() : tensor<16x64xf32>
        %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%a, %sum : tensor<16x64xf32>, tensor<16xf32>) outs(%e : tensor<16x64xf32>) {
        ^bb0(%in: f32, %total: f32, %out: f32):
          %y = arith.divf %in, %total : f32
          linalg.yield %y : f32
        } -> tensor<16x64xf32>
        bufferization.materialize_in_destination %r in restrict writable %1 : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
        return
      }
    }
  }
}

// -----

// More than three dimensions are one sequence of ids.

// CHECK-LABEL: hal.executable.export public @four
// CHECK:         hal.return %c120{{.*}}, %c1{{.*}}, %c1
// CHECK-LABEL: func.func @four()
// CHECK:         hal.interface.workgroup.id[0]
// CHECK:         arith.remui
// CHECK:         arith.divui
// CHECK-NOT:     hal.interface.workgroup.id[1]
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @four ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      func.func @four() attributes {lowering = #hal.lowering<"elementwise", "tile_config_1x8_0x1_vector">} {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<40x4x3x2xf32>
        %a = bufferization.to_tensor %0 restrict : memref<40x4x3x2xf32> to tensor<40x4x3x2xf32>
        %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<2x3x4x40xf32>
        %e = tensor.empty() : tensor<2x3x4x40xf32>
        %r = linalg.transpose ins(%a : tensor<40x4x3x2xf32>) outs(%e : tensor<2x3x4x40xf32>) permutation = [3, 2, 1, 0]
        bufferization.materialize_in_destination %r in restrict writable %1 : (tensor<2x3x4x40xf32>, memref<2x3x4x40xf32>) -> ()
        return
      }
    }
  }
}

// -----

// The insertion must come after the copy of everything else: one workgroup does both.

// CHECK-LABEL: hal.executable.export public @insert
// CHECK:         %[[ONE:.+]] = arith.constant 1 : index
// CHECK:         hal.return %[[ONE]], %[[ONE]], %[[ONE]]
// CHECK-LABEL: func.func @insert()
// CHECK-NOT:     hal.interface.workgroup.id
// CHECK:         return
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @insert ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @insert() attributes {lowering = #hal.lowering<"elementwise", "tile_config_1x8_0x1_vector">} {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8xf32>
        %a = bufferization.to_tensor %0 restrict : memref<8xf32> to tensor<8xf32>
        %1 = hal.interface.binding.subspan binding(1) <readonly> : memref<64xf32>
        %b = bufferization.to_tensor %1 restrict : memref<64xf32> to tensor<64xf32>
        %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<64xf32>
        %r = tensor.insert_slice %a into %b[20] [8] [1] : tensor<8xf32> into tensor<64xf32>
        bufferization.materialize_in_destination %r in restrict writable %2 : (tensor<64xf32>, memref<64xf32>) -> ()
        return
      }
    }
  }
}

// -----

// A tile of a padded tensor is filled, and what the tensor has of it copied: no tile asks whether it is padding alone.

// CHECK-LABEL: hal.executable.export public @pad
// CHECK:         hal.return %c4{{.*}}, %c9{{.*}}, %c1
// CHECK-LABEL: func.func @pad()
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     scf.if
// CHECK:         %[[TILE:.+]] = memref.subview %{{.+}}[%{{.+}}, %{{.+}}] [%{{.+}}, %{{.+}}] [1, 1] : memref<33x50xf32>
// CHECK:         linalg.fill ins(%{{.+}} : f32) outs(%[[TILE]]
// CHECK:         %[[PART:.+]] = memref.subview %[[TILE]]
// CHECK:         memref.copy %{{.+}}, %[[PART]]
// CHECK-NOT:     scf.if
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @pad ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      func.func @pad() attributes {lowering = #hal.lowering<"default", "tile_config_4x16_0x1_vector">} {
        %v = arith.constant 1.5 : f32
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<30x43xf32>
        %a = bufferization.to_tensor %0 restrict : memref<30x43xf32> to tensor<30x43xf32>
        %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<33x50xf32>
        %p = tensor.pad %a low[1, 3] high[2, 4] {
        ^bb0(%i: index, %j: index):
          tensor.yield %v : f32
        } : tensor<30x43xf32> to tensor<33x50xf32>
        bufferization.materialize_in_destination %p in restrict writable %1 : (tensor<33x50xf32>, memref<33x50xf32>) -> ()
        return
      }
    }
  }
}

// -----

// The difference ends the dispatch beside the root, the second maximum, and shares the rows with it only: it is cut into
// rows as well. Tiles of columns would have each compute the first maximum of the whole row again.

// CHECK-LABEL: hal.executable.export public @beside_the_root
// CHECK:         hal.return %c32{{.*}}, %c1{{.*}}, %c1
// CHECK-LABEL: func.func @beside_the_root()
// CHECK-NOT:     memref<2x2xf32
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} {{.*}} outs(%{{.+}} : memref<2x1000xf32
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @beside_the_root ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly, writeonly]>)
    builtin.module {
      func.func @beside_the_root() attributes {lowering = #hal.lowering<"reduction", "tile_config_1x2_0x1_vector">} {
        %low = arith.constant 0xFF800000 : f32
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<64x1000xf32>
        %x = bufferization.to_tensor %0 restrict : memref<64x1000xf32> to tensor<64x1000xf32>
        %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<64x1000xf32>
        %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<64xf32>
        %re = tensor.empty() : tensor<64xf32>
        %ee = tensor.empty() : tensor<64x1000xf32>
        %lows = linalg.fill ins(%low : f32) outs(%re : tensor<64xf32>) -> tensor<64xf32>
        %m = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
            ins(%x : tensor<64x1000xf32>) outs(%lows : tensor<64xf32>) {
        ^bb0(%a: f32, %s: f32):
          %t = arith.maximumf %a, %s : f32
          linalg.yield %t : f32
        } -> tensor<64xf32>
        %d = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
            ins(%x, %m : tensor<64x1000xf32>, tensor<64xf32>) outs(%ee : tensor<64x1000xf32>) {
        ^bb0(%a: f32, %b: f32, %o: f32):
          %t = arith.subf %a, %b : f32
          linalg.yield %t : f32
        } -> tensor<64x1000xf32>
        %n = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
            ins(%x, %m : tensor<64x1000xf32>, tensor<64xf32>) outs(%lows : tensor<64xf32>) {
        ^bb0(%a: f32, %b: f32, %s: f32):
          %q = arith.mulf %a, %b : f32
          %t = arith.maximumf %q, %s : f32
          linalg.yield %t : f32
        } -> tensor<64xf32>
        bufferization.materialize_in_destination %d in restrict writable %1 : (tensor<64x1000xf32>, memref<64x1000xf32>) -> ()
        bufferization.materialize_in_destination %n in restrict writable %2 : (tensor<64xf32>, memref<64xf32>) -> ()
        return
      }
    }
  }
}
