// RUN: kiln-opt %s --kiln-bound-loops --split-input-file | FileCheck %s

// Steps of one, and ends that leave room for a step, stay as they are.
// CHECK-LABEL: func.func @ordinary
// CHECK-SAME: (%[[N:.+]]: i32, %[[T:.+]]: tensor<?xf32>)
// CHECK-NOT: arith.{{max|div}}
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[N]] step %c1_i32
// CHECK: scf.for %{{.+}} = %{{.+}} to %c2147483646_i32 step %c2_i32
// CHECK: scf.for %{{.+}} = %{{.+}} to %dim step %c64
func.func @ordinary(%n: i32, %t: tensor<?xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c2147483646_i32 = arith.constant 2147483646 : i32
  %i0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %dim = tensor.dim %t, %i0 : tensor<?xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
  }
  scf.for %i = %c0 to %c2147483646_i32 step %c2 : i32 {
  }
  scf.for %i = %i0 to %dim step %c64 {
  }
  return
}

// -----

// From 0 on, unsigned numbers have room for a step from any signed end.
// CHECK-LABEL: func.func @from_zero
// CHECK-SAME: (%[[N:.+]]: index, %[[S:.+]]: index)
// CHECK: scf.for unsigned %{{.+}} = %{{.+}} to %c2147483647_i32 step %c2_i32
// CHECK-NEXT: }
// CHECK: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK: %[[END:.+]] = arith.maxsi %[[N]], %[[ZERO]]
// CHECK: scf.for unsigned %{{.+}} = %{{.+}} to %[[END]] step %[[S]] {
// CHECK-NEXT: }
func.func @from_zero(%n: index, %s: index) {
  %c0 = arith.constant 0 : i32
  %c2_i32 = arith.constant 2 : i32
  %c2147483647_i32 = arith.constant 2147483647 : i32
  %i0 = arith.constant 0 : index
  scf.for %i = %c0 to %c2147483647_i32 step %c2_i32 : i32 {
  }
  scf.for %i = %i0 to %n step %s {
  }
  return
}

// -----

// What starts anywhere counts its turns, and so does what compares as unsigned already.
// CHECK-LABEL: func.func @from_anywhere
// CHECK-SAME: (%[[M:.+]]: i32, %[[N:.+]]: i32, %[[S:.+]]: i32)
// CHECK: %[[DISTANCE:.+]] = arith.subi %[[N]], %[[M]]
// CHECK-NEXT: %[[LAST:.+]] = arith.subi %[[DISTANCE]], %[[ONE:.+]] :
// CHECK-NEXT: %[[STEPS:.+]] = arith.divui %[[LAST]], %[[S]]
// CHECK-NEXT: %[[COUNT:.+]] = arith.addi %[[STEPS]], %[[ONE]]
// CHECK-NEXT: %[[ANY:.+]] = arith.cmpi slt, %[[M]], %[[N]]
// CHECK-NEXT: %[[TURNS:.+]] = arith.select %[[ANY]], %[[COUNT]], %[[ZERO:.+]] :
// CHECK-NEXT: scf.for unsigned %[[K:.+]] = %[[ZERO]] to %[[TURNS]] step %[[ONE]]
// CHECK-SAME: iter_args(%[[ACC:.+]] = %[[M]])
// CHECK-NEXT: %[[OFFSET:.+]] = arith.muli %[[K]], %[[S]]
// CHECK-NEXT: %[[INDEX:.+]] = arith.addi %[[M]], %[[OFFSET]]
// CHECK-NEXT: arith.xori %[[ACC]], %[[INDEX]]
// CHECK: arith.cmpi ult, %[[M]], %[[N]]
// CHECK: scf.for unsigned
func.func @from_anywhere(%m: i32, %n: i32, %s: i32) -> i32 {
  %0 = scf.for %i = %m to %n step %s iter_args(%a = %m) -> i32 : i32 {
    %b = arith.xori %a, %i : i32
    scf.yield %b : i32
  }
  scf.for unsigned %i = %m to %n step %s : i32 {
  }
  return %0 : i32
}

// -----

// A distance that is no signed number is one to upstream's folding only where it is unsigned; here also in steps of one.
// CHECK-LABEL: func.func @far
// CHECK: scf.for unsigned
// CHECK-NEXT: arith.muli
func.func @far() {
  %start = arith.constant -2147483648 : i32
  %end = arith.constant 2147483647 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %start to %end step %one : i32 {
  }
  return
}

// -----

// In a kernel no one would be told of a step of 0.
// CHECK-LABEL: func.func @in_kernel
// CHECK: ^bb0(%{{.+}}: index):
// CHECK: %[[ONE:.+]] = arith.constant 1 : index
// CHECK: %[[STEP:.+]] = arith.maxsi %arg0, %[[ONE]]
// CHECK: scf.for unsigned %{{.+}} = %{{.+}} to %c8 step %[[STEP]]
func.func @in_kernel(%s: index) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %x = scf.for %k = %c0 to %c8 step %s iter_args(%a = %zero) -> f32 {
      %b = arith.addf %a, %one : f32
      scf.yield %b : f32
    }
    tensor.yield %x : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
