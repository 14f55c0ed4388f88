// A file for each executable, with nothing else in it. A folder that cannot be made is an error.
// RUN: rm -rf %t && kiln-opt %s --pass-pipeline='builtin.module(kiln-hal-dump-executables{path=%t/a/b prefix=before_})' \
// RUN:   > %t.kept && ls %t/a/b | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s < %t/a/b/before_program_one.mlir
// RUN: kiln-opt %s | diff %t.kept -
// RUN: rm -rf %t.none && mkdir %t.none && cd %t.none && kiln-opt %s --kiln-hal-dump-executables > /dev/null && ls %t.none | count 0
// RUN: not kiln-opt %s --pass-pipeline='builtin.module(kiln-hal-dump-executables{path=%s/x})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ERROR
// RUN: rm -rf %t.full && mkdir -p %t.full/program_one.mlir \
// RUN:   && not kiln-opt %s --pass-pipeline='builtin.module(kiln-hal-dump-executables{path=%t.full})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WRITE

// FILES: {{^}}before_program_one.mlir
// FILES-NEXT: {{^}}before_program_two.mlir
// FILES-NOT: {{.}}
// CHECK: hal.executable private @one {
// CHECK: hal.executable.export public @first
// CHECK-NOT: @second
// CHECK-NOT: util.func
// ERROR: error: cannot make the folder '{{.*}}dump-executables.mlir/x': Not a directory
// WRITE: dump-executables.mlir:[[@LINE+2]]:3: error: cannot write '{{.*}}/program_one.mlir': Is a directory
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
      builtin.module {
        func.func @second() {
          return
        }
      }
    }
  }
  util.func @main() {
    util.return
  }
}
