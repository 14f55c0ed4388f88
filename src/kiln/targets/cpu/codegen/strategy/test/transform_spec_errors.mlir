// A spec that cannot be used says where: its file, the line, the op, and the dispatch.

// RUN: not kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%S/Inputs/no_such_spec.mlir})))' 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: no_such_spec.mlir:0:0: error: cannot read the transform spec '{{.*}}no_such_spec.mlir': No such file or directory

// RUN: sed -e 's/forall_to_workgroup/forall_to_workgruop/' %S/Inputs/matmul_static_spec.mlir > %t.unknown.mlir
// RUN: not kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%t.unknown.mlir})))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown.mlir:24:3: error: custom op 'transform.kiln.forall_to_workgruop' is unknown

// RUN: echo 'module {}' > %t.empty.mlir
// RUN: not kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%t.empty.mlir})))' 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: the transform spec '{{.*}}empty.mlir' holds no transform to start with; write one transform.sequence, or a transform.named_sequence @__transform_main

// RUN: sed -e 's/linalg.matmul/linalg.conv_2d/' %S/Inputs/matmul_static_spec.mlir > %t.nomatch.mlir
// RUN: not kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%t.nomatch.mlir})))' 2>&1 | FileCheck %s --check-prefix=NOMATCH
// NOMATCH: nomatch.mlir:5:13: error: 'transform.structured.match' matches nothing in dispatch '@sum', and the spec leaves it with
// NOMATCH: note: the dispatch

// RUN: sed -e 's/tile_sizes \[2\]/tile_sizes [2, 0, 2]/' %S/Inputs/matmul_static_spec.mlir | sed -e 's/gpu.block<x>/gpu.block<x>, #gpu.block<y>/' > %t.race.mlir
// RUN: not kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%t.race.mlir})))' 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: race.mlir:24:3: error: 'transform.iree.forall_to_workgroup' on dispatch '@sum': could not be applied
// RACE: note: 'linalg.matmul' op stores to the same place in all workgroups along dimension 1 of the distributed loop, so that they race; do not tile a reduction over workgroups

// The message of the op that fails may only speak of the payload; the error is at the op all the same.
// RUN: sed -e '5,$ d' %S/Inputs/matmul_codegen_default_spec.mlir > %t.fails.mlir
// RUN: echo '  transform.structured.vectorize %%matmul vector_sizes [1, 1] : !transform.any_op }' >> %t.fails.mlir
// RUN: not kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%t.fails.mlir})))' 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: fails.mlir:5:3: error: 'transform.structured.vectorize' on dispatch '@sum': failed
// FAILS: note: Attempted to vectorize, but failed

// RUN: sed -e '/forall_to_workgroup/ d' %S/Inputs/matmul_static_spec.mlir > %t.halfway.mlir
// RUN: not kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%t.halfway.mlir})))' 2>&1 | FileCheck %s --check-prefix=HALFWAY
// HALFWAY: error: dispatch '@sum' is left by the transform spec '{{.*}}halfway.mlir' with an scf.forall: distribute it (transform.iree.forall_to_workgroup)

// What it leaves is verified before other passes see it, whatever is verified between passes.
// RUN: sed -e 's/^}$/  transform.annotate %%memref_func "gpu.container_module" : !transform.any_op }/' %S/Inputs/matmul_static_spec.mlir > %t.invalid.mlir
// RUN: not kiln-opt %s --verify-each=false --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%t.invalid.mlir})))' 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: error: expected 'gpu.container_module' attribute to be attached to 'builtin.module'

hal.executable private @e {
  hal.executable.variant public @llvm_cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @sum ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readwrite]>)
    builtin.module {
      func.func @sum() {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8x8xf32>
        %a = bufferization.to_tensor %0 restrict : memref<8x8xf32> to tensor<8x8xf32>
        %1 = hal.interface.binding.subspan binding(1) <readwrite> : memref<8x8xf32>
        %c = bufferization.to_tensor %1 restrict writable : memref<8x8xf32> to tensor<8x8xf32>
        %r = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
        bufferization.materialize_in_destination %r in restrict writable %1 : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
        return
      }
    }
  }
}
