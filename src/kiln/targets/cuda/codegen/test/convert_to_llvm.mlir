// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(kiln-cuda-convert-to-llvm))))' --split-input-file --verify-diagnostics | FileCheck %s

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// Parameters: bindings, constants, the workgroup count, scratch memory. Local memory that fits is shared memory.
// CHECK: llvm.mlir.global internal @copy_shared() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<1024 x i8>
// CHECK: llvm.func @copy(
// CHECK-SAME: %[[IN:.*]]: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias, llvm.noundef, llvm.readonly},
// What other threads may have written at a barrier can change behind a pointer.
// CHECK-SAME: %[[OUT:.*]]: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noundef},
// CHECK-SAME: %[[CONSTANT:.*]]: i64 {llvm.noundef}, %{{.*}}: i64 {llvm.noundef}, %[[Y:.*]]: i64 {llvm.noundef}, %{{.*}}: i64 {llvm.noundef},
// CHECK-SAME: !llvm.ptr<1>)
// CHECK-SAME: nvvm.kernel, nvvm.maxntid = array<i32: 64, 1, 1>
// CHECK-DAG:  llvm.addrspacecast %[[IN]] : !llvm.ptr<1> to !llvm.ptr
// CHECK-DAG:  nvvm.read.ptx.sreg.tid.x
// CHECK-DAG:  nvvm.barrier0
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @copy ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [readonly, writeonly]>)
    builtin.module {
      func.func @copy(%local: memref<1024xi8> {hal.local_memory}) attributes {kiln.threads = 64 : i32} {
        %n = hal.interface.constant.load[0] : index
        %y = hal.interface.workgroup.count[1] : index
        %in = hal.interface.binding.subspan binding(0) <readonly> : memref<?xf32>{%n}
        %out = hal.interface.binding.subspan binding(1) <writeonly> : memref<?xf32>{%n}
        %thread = gpu.thread_id x
        %c0 = arith.constant 0 : index
        %shared = memref.view %local[%c0][] : memref<1024xi8> to memref<256xf32>
        %x = memref.load %in[%y] : memref<?xf32>
        memref.store %x, %shared[%thread] : memref<256xf32>
        gpu.barrier
        %z = memref.load %shared[%y] : memref<256xf32>
        memref.store %z, %out[%thread] : memref<?xf32>
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// What does not fit is a part of the scratch memory, for each block.
// CHECK: llvm.func @large(%[[OUT:.*]]: !llvm.ptr<1> {llvm.align = 64 : i64, llvm.noalias, llvm.noundef}, {{.*}}, %[[SCRATCH:[a-z0-9]*]]: !llvm.ptr<1>)
// CHECK-SAME: kiln.scratch_bytes = 65792 : i64
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[OFFSET:.*]] = llvm.mul
// CHECK: llvm.getelementptr %[[SCRATCH]][%[[OFFSET]]]
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @large ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [writeonly]>)
    builtin.module {
      func.func @large(%local: memref<65537xi8> {hal.local_memory}) {
        %out = hal.interface.binding.subspan binding(0) <writeonly> : memref<4xi8>
        %c0 = arith.constant 0 : index
        %x = memref.load %local[%c0] : memref<65537xi8>
        memref.store %x, %out[%c0] : memref<4xi8>
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// A thread whose assertion fails lowers a word that the launch names, and goes on.
// CHECK: llvm.func @checks({{.*}}, %[[WORD:[a-z0-9]+]]: !llvm.ptr<1>, %[[DISPATCH:[a-z0-9]+]]: i64)
// CHECK-SAME: kiln.assertions = ["an element is false", "another is false"]
// CHECK: llvm.cond_br %{{.*}}, ^[[NEXT:bb[0-9]+]], ^[[REPORT:bb[0-9]+]]
// CHECK: ^[[REPORT]]:
// CHECK: %[[NUMBER:.*]] = llvm.or %[[DISPATCH]], %{{.*}} : i64
// CHECK: llvm.atomicrmw umin %[[WORD]], %[[NUMBER]] syncscope("device") monotonic : !llvm.ptr<1>, i64
// CHECK: llvm.br ^[[NEXT]]
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @checks ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly]>)
    builtin.module {
      func.func @checks() {
        %in = hal.interface.binding.subspan binding(0) <readonly> : memref<4xi1>
        %c0 = arith.constant 0 : index
        %ok = memref.load %in[%c0] : memref<4xi1>
        cf.assert %ok, "an element is false"
        %c1 = arith.constant 1 : index
        %other = memref.load %in[%c1] : memref<4xi1>
        cf.assert %other, "another is false"
        cf.assert %ok, "an element is false"
        return
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// A constant takes 32 bits where no use of it needs more.
// CHECK: llvm.func @constants(%{{[^:]*}}: !llvm.ptr<1> {{{[^}]*}}}, %[[FLOAT:[a-z0-9]+]]: i32 {llvm.noundef},
// CHECK-SAME: %[[INDEX:[a-z0-9]+]]: i64 {llvm.noundef}, %[[BYTE:[a-z0-9]+]]: i32 {llvm.noundef}, %[[LONG:[a-z0-9]+]]: i64 {llvm.noundef},
// CHECK-SAME: %[[BOTH:[a-z0-9]+]]: i64 {llvm.noundef}, %[[UNUSED:[a-z0-9]+]]: i32 {llvm.noundef}, %{{[a-z0-9]+}}: i64 {llvm.noundef}
// CHECK-DAG: llvm.bitcast %[[FLOAT]] : i32 to f32
// CHECK-DAG: llvm.trunc %[[BYTE]] : i32 to i8
// CHECK-DAG: llvm.bitcast %[[LONG]] : i64 to f64
// CHECK-DAG: llvm.trunc %[[BOTH]] : i64 to i32
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @constants ordinal(0) layout(#hal.pipeline.layout<constants = 6, bindings = [writeonly]>)
    builtin.module {
      func.func @constants() {
        %float = hal.interface.constant.load[0] : f32
        %index = hal.interface.constant.load[1] : index
        %byte = hal.interface.constant.load[2] : i8
        %long = hal.interface.constant.load[3] : f64
        %both = hal.interface.constant.load[4] : i32
        %again = hal.interface.constant.load[4] : i64
        %out = hal.interface.binding.subspan binding(0) <writeonly> : memref<?xf32>{%index}
        %bytes = hal.interface.binding.subspan binding(0) <writeonly> : memref<?xi8>{%index}
        %doubles = hal.interface.binding.subspan binding(0) <writeonly> : memref<?xf64>{%index}
        %words = hal.interface.binding.subspan binding(0) <writeonly> : memref<?xi32>{%index}
        %longs = hal.interface.binding.subspan binding(0) <writeonly> : memref<?xi64>{%index}
        memref.store %float, %out[%index] : memref<?xf32>
        memref.store %byte, %bytes[%index] : memref<?xi8>
        memref.store %long, %doubles[%index] : memref<?xf64>
        memref.store %both, %words[%index] : memref<?xi32>
        memref.store %again, %longs[%index] : memref<?xi64>
        return
      }
    }
  }
}
