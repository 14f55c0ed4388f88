// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(kiln-hal-serialize-executables))' \
// RUN:   --split-input-file --verify-diagnostics | FileCheck %s
// The error comes first: linking forgets the pipeline for what follows in the file.

hal.executable private @ex {
  // expected-error @+1 {{needs the target backend 'other', which this build does not have}}
  hal.executable.variant public @other target(<"other", "other", {}>) {
    builtin.module {
    }
  }
}

// -----

// The bytes of an ELF file stand in the place of the code, with what is known of its exports.
// CHECK: hal.executable private @ex {
// CHECK-NEXT: hal.executable.binary public @llvm_cpu target(<"llvm-cpu", "elf-x86_64"
// CHECK-SAME: exports([{layout = #hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>, name = "f"}])
// CHECK-SAME: data(dense<"0x7F454C46
// CHECK-NOT: llvm.func
hal.executable private @ex {
  hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {cpu = "generic", cpu_features = "", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", native_vector_bits = 128 : i64, target_triple = "x86_64-unknown-linux-gnu"}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>) count() -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module attributes {llvm.data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", llvm.target_triple = "x86_64-unknown-linux-gnu"} {
      llvm.func @f(%launch: !llvm.ptr, %workgroup: !llvm.ptr) -> i32 {
        %zero = llvm.mlir.constant(0 : i32) : i32
        llvm.return %zero : i32
      }
    }
  }
}
