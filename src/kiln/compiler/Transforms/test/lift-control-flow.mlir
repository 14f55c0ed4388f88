// RUN: kiln-opt %s --kiln-lift-control-flow -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @two_returns
// CHECK: %[[R:.+]] = scf.if %{{.+}} -> (tensor<4xf32>)
// CHECK: return %[[R]]
func.func @two_returns(%which: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %which, ^bb1, ^bb2
^bb1:
  return %a : tensor<4xf32>
^bb2:
  return %b : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK: scf.while
// CHECK-NOT: {{[ ]cf[.]}}
func.func @loop(%n: index) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  cf.br ^head(%zero, %one : index, index)
^head(%i: index, %x: index):
  %more = arith.cmpi ult, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %next = arith.addi %i, %one : index
  %twice = arith.addi %x, %x : index
  cf.br ^head(%next, %twice : index, index)
^end:
  return %x : index
}

// -----

// CHECK-LABEL: func.func @cases
// CHECK-NOT: index_switch
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: } else {
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK-NOT: index_switch
// CHECK: return
func.func @cases(%which: i32, %a: f32, %b: f32, %c: f32) -> f32 {
  cf.switch %which : i32, [
    default: ^end(%a : f32),
    3: ^end(%b : f32),
    5: ^end(%c : f32)
  ]
^end(%r: f32):
  return %r : f32
}

// -----

// What was a switch from the start.
// CHECK-LABEL: func.func @switch
// CHECK-NOT: index_switch
// CHECK: arith.cmpi eq
// CHECK: scf.if %{{.+}} -> (tensor<4xf32>)
// CHECK-NOT: index_switch
// CHECK: return
func.func @switch(%which: index, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.index_switch %which -> tensor<4xf32>
  case 2 {
    scf.yield %b : tensor<4xf32>
  }
  default {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A block that nothing goes to.
// CHECK-LABEL: func.func @unreachable
// CHECK-NEXT: return
func.func @unreachable() {
  return
^bb1:
  cf.br ^bb1
}
