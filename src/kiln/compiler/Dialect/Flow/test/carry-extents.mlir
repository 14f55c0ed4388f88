// RUN: kiln-opt %s --kiln-flow-carry-extents | FileCheck %s

// What a loop carries has extents of its own in each round, which are carried beside it.
// CHECK-LABEL: util.func @grows
// CHECK: %[[FIRST:.+]] = tensor.dim %arg0
// CHECK: %[[LOOP:.+]]:2 = scf.for {{.*}} iter_args(%[[TENSOR:.+]] = %arg0, %[[EXTENT:.+]] = %[[FIRST]])
// CHECK: %[[TIED:.+]] = flow.tensor.tie_shape %[[TENSOR]] : tensor<?xf32>{%[[EXTENT]]}
// CHECK: %[[PADDED:.+]] = tensor.pad %[[TIED]]
// CHECK: %[[NEXT:.+]] = tensor.dim %[[PADDED]]
// CHECK: scf.yield %[[PADDED]], %[[NEXT]] : tensor<?xf32>, index
// CHECK: flow.tensor.tie_shape %[[LOOP]]#0 : tensor<?xf32>{%[[LOOP]]#1}
util.func @grows(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (tensor<?xf32>) {
    %p = tensor.pad %t low[0] high[1] {
    ^bb0(%x: index):
      %z = arith.constant 0.0 : f32
      tensor.yield %z : f32
    } : tensor<?xf32> to tensor<?xf32>
    scf.yield %p : tensor<?xf32>
  }
  util.return %r : tensor<?xf32>
}

// Only the extents that types leave open; each branch has its own.
// CHECK-LABEL: util.func @chooses
// CHECK: %[[IF:.+]]:2 = scf.if %arg0 -> (tensor<?x4xf32>, index)
// CHECK: %[[A:.+]] = tensor.dim %arg1
// CHECK: scf.yield %arg1, %[[A]] : tensor<?x4xf32>, index
// CHECK: %[[B:.+]] = tensor.dim %arg2
// CHECK: scf.yield %arg2, %[[B]] : tensor<?x4xf32>, index
// CHECK: flow.tensor.tie_shape %[[IF]]#0 : tensor<?x4xf32>{%[[IF]]#1}
util.func @chooses(%c: i1, %a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = scf.if %c -> tensor<?x4xf32> {
    scf.yield %a : tensor<?x4xf32>
  } else {
    scf.yield %b : tensor<?x4xf32>
  }
  util.return %r : tensor<?x4xf32>
}

// Both blocks of a while loop; the extents follow all tensors, in the tensors' order.
// CHECK-LABEL: util.func @repeats
// CHECK: scf.while (%{{.+}} = %arg0, %{{.+}} = %arg1, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) : (tensor<?xf32>, tensor<?xf32>, index, index)
// CHECK-COUNT-2: flow.tensor.tie_shape
// CHECK: scf.condition(%{{.+}}) %{{.+}}, %{{.+}}, %[[ONE:.+]], %[[OTHER:.+]] : tensor<?xf32>, tensor<?xf32>, index, index
// CHECK: ^bb0(%[[X:.+]]: tensor<?xf32>, %[[Y:.+]]: tensor<?xf32>, %[[XE:.+]]: index, %[[YE:.+]]: index):
// CHECK-DAG: flow.tensor.tie_shape %[[X]] : tensor<?xf32>{%[[XE]]}
// CHECK-DAG: flow.tensor.tie_shape %[[Y]] : tensor<?xf32>{%[[YE]]}
util.func @repeats(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %r:2 = scf.while (%x = %a, %y = %b) : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %more = arith.cmpi ult, %d, %n : index
    scf.condition(%more) %x, %y : tensor<?xf32>, tensor<?xf32>
  } do {
  ^bb0(%x: tensor<?xf32>, %y: tensor<?xf32>):
    %both = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %both, %x : tensor<?xf32>, tensor<?xf32>
  }
  util.return %r#0 : tensor<?xf32>
}

// What has a static type needs nothing.
// CHECK-LABEL: util.func @known
// CHECK: scf.if %arg0 -> (tensor<4xf32>)
// CHECK-NOT: tie_shape
util.func @known(%c: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  util.return %r : tensor<4xf32>
}
