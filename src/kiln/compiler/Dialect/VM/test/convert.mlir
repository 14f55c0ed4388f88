// RUN: kiln-opt %s --kiln-vm-convert --split-input-file --verify-diagnostics | FileCheck %s

// What the program asks of the runtime becomes a call of an import; objects lose their type, and an index is an i64.
// CHECK: vm.module @module
// CHECK-DAG: vm.rodata private @__rodata_0 "input0"
// CHECK-DAG: vm.import private @hal.buffer_view.assert "{{[a-zA-Z()*]+}}_"
// CHECK: vm.executable private @ex
// CHECK-SAME: data = dense<[1, 2, 3]>
// CHECK-NEXT: vm.global private @count : i64
// CHECK-NEXT: vm.func private @__initializer_0()
// CHECK: vm.global.store %{{.+}}, @count
// CHECK: vm.func private @main(%[[VIEW:.+]]: !vm.ref, %[[N:.+]]: i64) -> i64
// CHECK: %[[NAME:.+]] = vm.const.rodata @__rodata_0
// CHECK: vm.call @hal.buffer_view.assert(%[[VIEW]], %[[NAME]],
// CHECK: %[[COUNT:.+]] = vm.global.load @count
// CHECK-NEXT: %[[SUM:.+]] = arith.addi %[[COUNT]], %[[N]] : i64
// CHECK-NEXT: vm.return %[[SUM]]
// CHECK: vm.export @main as "main" reflection {kiln.abi.declaration = "sync func @main()"}
// CHECK: vm.func private @__initialize()
// CHECK-NEXT: vm.call @__initializer_0()
hal.executable private @ex {
  hal.executable.binary public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {}>) exports([]) data(dense<[1, 2, 3]> : tensor<3xi8>)
}
util.global private @count : index
util.initializer {
  %c7 = arith.constant 7 : index
  util.global.store %c7, @count : index
  util.return
}
util.func public @main(%a: !hal.buffer_view, %n: index) -> index attributes {kiln.abi.declaration = "sync func @main()"} {
  %c64 = arith.constant 64 : index
  %type = arith.constant 16 : i32
  %0 = util.rodata("input0") : !util.buffer
  hal.buffer_view.assert(%a, %0, %type, %c64) : (!hal.buffer_view, !util.buffer, i32, index) -> ()
  %1 = util.global.load @count : index
  %2 = arith.addi %1, %n : index
  util.return %2 : index
}

// -----

// An assertion fails the call with its message; divisions that round are expanded; casts of an index are of an i64.
// CHECK: vm.rodata private @__rodata_0 "n is odd"
// CHECK: vm.func private @host(%[[N:.+]]: i64, %[[C:.+]]: i1) -> i32
// CHECK: vm.check %[[C]]
// CHECK-SAME: @__rodata_0
// CHECK-NOT: arith.ceildivsi
// CHECK: arith.divsi
// CHECK: %[[R:.+]] = arith.trunci %{{.+}} : i64 to i32
// CHECK-NEXT: vm.return %[[R]]
util.func @host(%n: index, %c: i1) -> i32 {
  %c2 = arith.constant 2 : index
  cf.assert %c, "n is odd"
  %0 = arith.ceildivsi %n, %c2 : index
  %1 = arith.index_cast %0 : index to i32
  util.return %1 : i32
}

// -----

// expected-error @+1 {{'func.func' has no form in the VM}}
func.func private @other()

// -----

util.func public @workgroups() -> index {
  // expected-error @below {{is nothing that the runtime is asked for}}
  %n = hal.interface.workgroup.count[0] : index
  util.return %n : index
}
