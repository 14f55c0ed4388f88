// RUN: kiln-opt %s --kiln-insert-checks --split-input-file | FileCheck %s

// The host is told of an index that lies outside, and of a step that is none; the place in the source comes first.
// CHECK-LABEL: func.func @host
// CHECK-SAME: (%[[T:.+]]: tensor<?x4xf32>, %[[I:.+]]: index, %[[S:.+]]: index)
// CHECK: %[[EXTENT:.+]] = tensor.dim %[[T]]
// CHECK: %[[FIRST:.+]] = arith.cmpi ult, %[[I]], %[[EXTENT]]
// CHECK: cf.assert %[[FIRST]], "insert-checks.mlir:[[#]]:8: 'tensor.extract': the index of dimension 0 lies outside of the tensor"
// CHECK: cf.assert {{.*}} the index of dimension 1 lies outside of the tensor"
// CHECK: tensor.extract %[[T]][%[[I]], %[[I]]]
// CHECK: %[[STEP:.+]] = arith.cmpi sgt, %[[S]]
// CHECK: cf.assert %[[STEP]], "insert-checks.mlir:[[#]]:8: 'scf.for': the step must be above 0"
// CHECK: scf.for
func.func @host(%t: tensor<?x4xf32>, %i: index, %s: index) -> f32 {
  %c0 = arith.constant 0 : index
  %x = tensor.extract %t[%i, %i] : tensor<?x4xf32>
  %r = scf.for %k = %c0 to %i step %s iter_args(%a = %x) -> f32 {
    %b = arith.addf %a, %x : f32
    scf.yield %b : f32
  }
  return %r : f32
}

// -----

// A division says where it stands: its divisor is not zero, and a signed one has a quotient. Narrow quotients wrap, and
// a division in a kernel is left alone.
// CHECK-LABEL: func.func @divisions
// CHECK-SAME: (%[[A:.+]]: i32, %[[B:.+]]: i32, %[[N:.+]]: i8, %{{.+}}: tensor<4xi32>)
// CHECK: %[[DIVIDES:.+]] = arith.cmpi ne, %[[B]], %{{.+}} : i32
// CHECK: cf.assert %[[DIVIDES]], "insert-checks.mlir:[[#]]:8: 'arith.divsi': integer division by zero"
// CHECK: arith.cmpi eq, %[[A]], %c-2147483648_i32
// CHECK: arith.cmpi eq, %[[B]], %c-1_i32
// CHECK: cf.assert %{{.+}}, "insert-checks.mlir:[[#]]:8: 'arith.divsi': signed overflow in an integer division: the least value by -1"
// CHECK: arith.divsi
// CHECK: cf.assert %{{.+}} 'arith.remsi': integer division by zero"
// CHECK-NEXT: arith.remsi
// CHECK: cf.assert %{{.+}} 'arith.floordivsi': integer division by zero"
// CHECK-NEXT: arith.floordivsi
// CHECK-NOT: cf.assert
func.func @divisions(%a: i32, %b: i32, %n: i8, %t: tensor<4xi32>) -> (i32, i32, i8, tensor<4xi32>) {
  %q = arith.divsi %a, %b : i32
  %r = arith.remsi %a, %b : i32
  %f = arith.floordivsi %n, %n : i8
  %k = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%t : tensor<4xi32>) {
  ^bb0(%x: i32):
    %d = arith.divui %a, %x : i32
    linalg.yield %d : i32
  } -> tensor<4xi32>
  return %q, %r, %f, %k : i32, i32, i8, tensor<4xi32>
}

// -----

// Extents that one loop has in two operands must be equal. What the types say is not asked.
// CHECK-LABEL: func.func @extents
// CHECK: cf.assert {{.*}} "insert-checks.mlir:[[#]]:8: 'linalg.add': dimension 0 of operand 0 and dimension 0 of operand 1 must be equal"
// CHECK: cf.assert {{.*}} dimension 0 of operand 0 and dimension 0 of operand 2 must be equal"
// CHECK-NOT: cf.assert
// CHECK: linalg.add
func.func @extents(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = linalg.add ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>) outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// In a kernel an index is held to its tensor, of which the host sees that it has elements.
// CHECK-LABEL: func.func @kernel
// CHECK: cf.assert {{.*}} "insert-checks.mlir:[[#]]:8: 'tensor.generate': elements are taken from a tensor that has none"
// CHECK: tensor.generate
// CHECK: %[[LOW:.+]] = arith.maxsi
// CHECK-NEXT: %[[HELD:.+]] = arith.minsi %[[LOW]],
// CHECK-NEXT: tensor.extract %{{.+}}[%[[HELD]]]
// CHECK-NOT: scf.if
// CHECK: return
func.func @kernel(%t: tensor<?xf32>, %k: index) -> tensor<8xf32> {
  %r = tensor.generate {
  ^bb0(%i: index):
    %j = arith.muli %i, %k : index
    %x = tensor.extract %t[%j] : tensor<?xf32>
    tensor.yield %x : f32
  } : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A loop of the kernel may take no element, so that the host cannot tell: it gets zero where there is none.
// CHECK-LABEL: func.func @loop
// CHECK-NOT: elements are taken
// CHECK: scf.for
// CHECK: arith.minsi
// CHECK: %[[EXTENT:.+]] = tensor.dim %{{.+}}, %c0{{.*}} : tensor<?xf32>
// CHECK: %[[ANY:.+]] = arith.cmpi ne, %[[EXTENT]], %c0
// CHECK-NEXT: scf.if %[[ANY]]
// CHECK-NEXT: tensor.extract
// CHECK: } else {
// CHECK-NEXT: arith.constant 0.0
func.func @loop(%t: tensor<?xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %zero) -> f32 {
      %x = tensor.extract %t[%j] : tensor<?xf32>
      %b = arith.addf %a, %x : f32
      scf.yield %b : f32
    }
    tensor.yield %s : f32
  } : tensor<8xf32>
  return %r : tensor<8xf32>
}
