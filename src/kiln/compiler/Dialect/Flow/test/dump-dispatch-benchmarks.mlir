// Each executable's benchmark is a program of its own, which launches it with inputs that an initializer fills.
// RUN: rm -rf %t && kiln-opt %s --kiln-flow-dump-dispatch-benchmarks --iree-hal-target-backends=llvm-cpu \
// RUN:   --iree-hal-dump-executable-benchmarks-to=%t 2>&1 > /dev/null | FileCheck %s --check-prefix=REMARK
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s < %t/program_one_llvm_cpu_benchmark.mlir
// Without a folder nothing is said of the dispatch that has none, and a folder that cannot be made is an error.
// RUN: kiln-opt %s --kiln-flow-dump-dispatch-benchmarks --iree-hal-target-backends=llvm-cpu 2>&1 > /dev/null | count 0
// RUN: not kiln-opt %s --kiln-flow-dump-dispatch-benchmarks --iree-hal-target-backends=llvm-cpu \
// RUN:   --iree-hal-dump-executable-benchmarks-to=%s/folder 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: cannot make the folder '{{.*}}dump-dispatch-benchmarks.mlir/folder':

// FILES: {{^}}program_one_llvm_cpu_benchmark.mlir
// FILES-NOT: {{.}}

// CHECK: flow.executable private @one {
// CHECK-NOT: flow.executable
// CHECK: util.global private @input0 : tensor<4xf32>
// CHECK-NOT: util.global private
// CHECK: util.initializer {
// CHECK: %[[X:.+]] = linalg.generic
// CHECK: arith.sitofp
// CHECK: util.global.store %[[X]], @input0
// CHECK: util.func @one_f() attributes {kiln.abi.declaration = "sync func @one_f() -> ()", kiln.benchmark = "dispatch"}
// CHECK-NEXT: %[[I:.+]] = util.global.load @input0
// CHECK-NEXT: %[[C:.+]] = arith.constant 7 : i64
// CHECK-NEXT: %[[R:.+]] = flow.dispatch @one::@one_f(%[[I]], %[[C]]) tied [0]
// CHECK-NEXT: util.optimization_barrier %[[R]]
// CHECK-NEXT: util.return
// CHECK: util.func @main() {{.*}}kiln.alias = "one_f"
module @program {
  flow.executable private @one {
    builtin.module {
      func.func @one_f(%a: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
        return %a : tensor<4xf32>
      }
    }
  }
  flow.executable private @two {
    builtin.module {
      func.func @two_f(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
        return %a : tensor<?xf32>
      }
    }
  }
  util.func public @main(%a: tensor<4xf32>, %b: tensor<?xf32>, %n: index) -> (tensor<4xf32>, tensor<?xf32>) {
    %seven = arith.constant 7 : i64
    %0 = flow.dispatch @one::@one_f(%a, %seven) tied [0] : (tensor<4xf32>, i64) -> tensor<4xf32>
    %1 = flow.dispatch @one::@one_f(%0, %seven) tied [0] : (tensor<4xf32>, i64) -> tensor<4xf32>
    // REMARK: [[@LINE+1]]:10: remark: has no benchmark of its own, since its extents or scalars are known at run time only
    %2 = flow.dispatch @two::@two_f(%b, %n) {%n} tied [0] : (tensor<?xf32>, index) -> tensor<?xf32>
    util.return %1, %2 : tensor<4xf32>, tensor<?xf32>
  }
}
