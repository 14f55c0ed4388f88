// RUN: kiln-opt %s --kiln-hal-link-executables --iree-hal-target-backends=llvm-cpu | FileCheck %s

// One variant for each target; exports keep the executables' order and are numbered in it, before all the code.
// CHECK-LABEL: module @program
// CHECK-NOT: hal.executable private @one
// CHECK: hal.executable private @program_linked
// CHECK: hal.executable.variant public @llvm_cpu
// CHECK: hal.executable.export public @first ordinal(0)
// CHECK: hal.executable.export public @second ordinal(1)
// CHECK: hal.executable.export public @third ordinal(2)
// CHECK: builtin.module
// CHECK-NEXT: func.func @first
// CHECK: builtin.module
// CHECK-NEXT: func.func @second
// CHECK: func.func @third
// CHECK-NOT: hal.executable private
module @program {
  hal.executable private @one {
    hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @first ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly]>)
      builtin.module {
        func.func @first() {
          return
        }
      }
    }
  }
  hal.executable private @two {
    hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @second ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly]>)
      hal.executable.export public @third ordinal(1) layout(#hal.pipeline.layout<constants = 1, bindings = [readonly, writeonly]>)
      builtin.module {
        func.func @second() {
          return
        }
        func.func @third() {
          return
        }
      }
    }
  }
  // CHECK-LABEL: util.func @main
  // CHECK: stream.cmd.dispatch @program_linked::@first
  // CHECK: stream.cmd.dispatch @program_linked::@third
  util.func @main(%a: !hal.buffer_view) {
    %c64 = arith.constant 64 : index
    %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
    %1 = stream.timepoint.immediate : !stream.timepoint
    %x = arith.constant 1 : i64
    %2 = stream.cmd.execute await(%1) with(%0 : !stream.resource) {%c64} using(%x : i64) {
    ^bb0(%m: !stream.resource, %y: i64):
      %zero = arith.constant 0 : index
      %all = arith.constant 64 : index
      stream.cmd.dispatch @one::@first[] (%m : !stream.resource) at(%zero) for(%all)
      stream.cmd.dispatch @two::@third[%y : i64] (%m, %m : !stream.resource, !stream.resource) at(%zero, %zero) for(%all, %all)
    }
    stream.timepoint.await %2 : !stream.timepoint
    util.return
  }
}
