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
