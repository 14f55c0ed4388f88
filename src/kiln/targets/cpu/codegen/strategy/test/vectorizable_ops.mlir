// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering,kiln-llvmcpu-lower-executable-target)))' | FileCheck %s

// What is computed on vectors rather than element by element. One dispatch with all of it for floats, one for integers.

#target = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>
#id = affine_map<(d0) -> (d0)>

hal.executable private @floats {
  hal.executable.variant public @llvm_cpu target(#target) {
    hal.executable.export public @floats ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      // CHECK-LABEL: func.func @floats()
      // CHECK-DAG:     arith.addf {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.subf {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.mulf {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.divf {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.remf {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.negf {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.maximumf {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.minnumf {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.cmpf olt, {{.*}} : vector<16xf32>
      // CHECK-DAG:     arith.select {{.*}} : vector<16xi1>, vector<16xf32>
      // CHECK-DAG:     arith.truncf {{.*}} : vector<16xf32> to vector<16xf16>
      // CHECK-DAG:     arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
      // CHECK-DAG:     arith.fptosi {{.*}} : vector<16xf32> to vector<16xi32>
      // CHECK-DAG:     arith.sitofp {{.*}} : vector<16xi32> to vector<16xf32>
      // CHECK-DAG:     arith.bitcast {{.*}} : vector<16xf32> to vector<16xi32>
      // CHECK-DAG:     math.absf {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.exp {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.log {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.tanh {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.sqrt {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.rsqrt {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.sin {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.cos {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.erf {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.floor {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.powf {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.fma {{.*}} : vector<16xf32>
      // CHECK-DAG:     math.copysign {{.*}} : vector<16xf32>
      func.func @floats() {
        %n = hal.interface.constant.load[0] : index
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<?xf32>{%n}
        %a = bufferization.to_tensor %0 restrict : memref<?xf32> to tensor<?xf32>
        %1 = hal.interface.binding.subspan binding(1) <readonly> : memref<?xf32>{%n}
        %b = bufferization.to_tensor %1 restrict : memref<?xf32> to tensor<?xf32>
        %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<?xf32>{%n}
        %e = tensor.empty(%n) : tensor<?xf32>
        %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
        ^bb0(%x: f32, %y: f32, %out: f32):
          %v0 = arith.addf %x, %y : f32
          %v1 = arith.subf %y, %v0 : f32
          %v2 = arith.mulf %v1, %y : f32
          %v3 = arith.divf %v2, %y : f32
          %v4 = arith.remf %v3, %y : f32
          %v5 = arith.negf %v4 : f32
          %v6 = arith.maximumf %v5, %y : f32
          %v7 = arith.minnumf %v6, %y : f32
          %v8 = arith.cmpf olt, %v7, %y : f32
          %v9 = arith.select %v8, %v7, %x : f32
          %v10 = arith.truncf %v9 : f32 to f16
          %v11 = arith.extf %v10 : f16 to f32
          %v12 = arith.fptosi %v11 : f32 to i32
          %v13 = arith.sitofp %v12 : i32 to f32
          %v14 = arith.bitcast %v13 : f32 to i32
          %c1 = arith.constant 1 : i32
          %v15 = arith.addi %v14, %c1 : i32
          %v16 = arith.bitcast %v15 : i32 to f32
          %v17 = math.absf %v16 : f32
          %v18 = math.exp %v17 : f32
          %v19 = math.log %v18 : f32
          %v20 = math.tanh %v19 : f32
          %v21 = math.sqrt %v20 : f32
          %v22 = math.rsqrt %v21 : f32
          %v23 = math.sin %v22 : f32
          %v24 = math.cos %v23 : f32
          %v25 = math.erf %v24 : f32
          %v26 = math.floor %v25 : f32
          %v27 = math.powf %v26, %y : f32
          %v28 = math.fma %v27, %x, %y : f32
          %v29 = math.copysign %v28, %x : f32
          linalg.yield %v29 : f32
        } -> tensor<?xf32>
        bufferization.materialize_in_destination %r in restrict writable %2 : (tensor<?xf32>, memref<?xf32>) -> ()
        return
      }
    }
  }
}

hal.executable private @integers {
  hal.executable.variant public @llvm_cpu target(#target) {
    hal.executable.export public @integers ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      // CHECK-LABEL: func.func @integers()
      // CHECK-DAG:     arith.addi {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.subi {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.muli {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.divsi {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.remui {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.andi {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.ori {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.xori {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.shli {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.shrsi {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.maxsi {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.minui {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.cmpi slt, {{.*}} : vector<16xi32>
      // CHECK-DAG:     arith.trunci {{.*}} : vector<16xi32> to vector<16xi8>
      // CHECK-DAG:     arith.extsi {{.*}} : vector<16xi8> to vector<16xi32>
      // CHECK-DAG:     arith.extui {{.*}} : vector<16xi1> to vector<16xi32>
      // CHECK-DAG:     math.absi {{.*}} : vector<16xi32>
      // CHECK-DAG:     math.ctpop {{.*}} : vector<16xi32>
      func.func @integers() {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<4096xi32>
        %a = bufferization.to_tensor %0 restrict : memref<4096xi32> to tensor<4096xi32>
        %1 = hal.interface.binding.subspan binding(1) <readonly> : memref<4096xi32>
        %b = bufferization.to_tensor %1 restrict : memref<4096xi32> to tensor<4096xi32>
        %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<4096xi32>
        %e = tensor.empty() : tensor<4096xi32>
        %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%a, %b : tensor<4096xi32>, tensor<4096xi32>) outs(%e : tensor<4096xi32>) {
        ^bb0(%x: i32, %y: i32, %out: i32):
          %v0 = arith.addi %x, %y : i32
          %v1 = arith.subi %y, %v0 : i32
          %v2 = arith.muli %v1, %y : i32
          %v3 = arith.divsi %v2, %y : i32
          %v4 = arith.remui %v3, %y : i32
          %v5 = arith.andi %v4, %y : i32
          %v6 = arith.ori %v5, %x : i32
          %v7 = arith.xori %v6, %y : i32
          %v8 = arith.shli %v7, %y : i32
          %v9 = arith.shrsi %v8, %y : i32
          %v10 = arith.maxsi %v9, %y : i32
          %v11 = arith.minui %v10, %y : i32
          %v12 = arith.cmpi slt, %v11, %y : i32
          %v13 = arith.extui %v12 : i1 to i32
          %v14 = arith.addi %v13, %v11 : i32
          %v15 = arith.trunci %v14 : i32 to i8
          %v16 = arith.extsi %v15 : i8 to i32
          %v17 = math.absi %v16 : i32
          %v18 = math.ctpop %v17 : i32
          linalg.yield %v18 : i32
        } -> tensor<4096xi32>
        bufferization.materialize_in_destination %r in restrict writable %2 : (tensor<4096xi32>, memref<4096xi32>) -> ()
        return
      }
    }
  }
}
