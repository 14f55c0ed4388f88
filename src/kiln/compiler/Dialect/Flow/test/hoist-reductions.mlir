// RUN: kiln-opt %s --kiln-flow-hoist-reductions --cse | FileCheck %s

// The product of what comes from outside leaves both loops, with what it is computed from; what is only added does not.
// CHECK-LABEL: util.func public @same
// CHECK-SAME: (%[[A:.*]]: tensor<4x4xf32>, %[[X:.*]]: tensor<4x4xf32>
// CHECK: %[[WIDE:.*]] = linalg.exp ins(%[[A]]
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[P:.*]] = linalg.matmul ins(%[[WIDE]], %[[A]] : {{.*}}) outs(%[[ZEROS]]
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%[[NOW:.*]] = %
// CHECK: linalg.negf ins(%[[A]]
// CHECK: linalg.matmul ins(%[[P]], %{{.*}} : {{.*}}) outs(%[[NOW]]
util.func public @same(%a: tensor<4x4xf32>, %x: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %x) -> tensor<4x4xf32> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%now = %outer) -> tensor<4x4xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x4xf32>
      %w = linalg.exp ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
      %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
      %p = linalg.matmul ins(%w, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
      %m = linalg.negf ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
      %q = linalg.matmul ins(%p, %m : tensor<4x4xf32>, tensor<4x4xf32>) outs(%now : tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %q : tensor<4x4xf32>
    }
    scf.yield %s : tensor<4x4xf32>
  }
  util.return %r : tensor<4x4xf32>
}

// What changes stays, and what asserts something or divides by what may be zero: the loop might not run.
// CHECK-LABEL: util.func public @different
// CHECK-NOT: linalg.generic
// CHECK: scf.for
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.matmul
util.func public @different(%a: tensor<4x4xf32>, %b: tensor<4xi32>, %n: index) -> (tensor<4x4xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %x = tensor.empty() : tensor<4x4xf32>
  %y = tensor.empty() : tensor<i32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%now = %a, %last = %y) -> (tensor<4x4xf32>, tensor<i32>) {
    %zeros = linalg.fill ins(%zero : f32) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
    %start = linalg.fill ins(%none : i32) outs(%y : tensor<i32>) -> tensor<i32>
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%b : tensor<4xi32>) outs(%start : tensor<i32>) {
    ^bb0(%v: i32, %o: i32):
      %isBelow = arith.cmpi slt, %v, %o : i32
      cf.assert %isBelow, "no"
      %t = arith.addi %v, %o : i32
      linalg.yield %t : i32
    } -> tensor<i32>
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%b : tensor<4xi32>) outs(%start : tensor<i32>) {
    ^bb0(%v: i32, %o: i32):
      %q = arith.divsi %o, %v : i32
      linalg.yield %q : i32
    } -> tensor<i32>
    %sum = arith.addi %s, %d : tensor<i32>
    %p = linalg.matmul ins(%a, %now : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %p, %sum : tensor<4x4xf32>, tensor<i32>
  }
  util.return %r#0, %r#1 : tensor<4x4xf32>, tensor<i32>
}

// Extents that only the call knows are checked where the product stands, and so are places of slices.
// CHECK-LABEL: util.func public @unknown
// CHECK-NOT: linalg.matmul
// CHECK: scf.for
// CHECK: linalg.matmul
// CHECK: linalg.matmul
util.func public @unknown(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<4x4xf32>, %z: tensor<?x?xf32>, %o: index, %n: index) -> (tensor<?x?xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%now = %z, %last = %c) -> (tensor<?x?xf32>, tensor<4x4xf32>) {
    %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
    %s = tensor.extract_slice %a[%o, 0] [4, 4] [1, 1] : tensor<?x?xf32> to tensor<4x4xf32>
    %q = linalg.matmul ins(%s, %s : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %p, %q : tensor<?x?xf32>, tensor<4x4xf32>
  }
  util.return %r#0, %r#1 : tensor<?x?xf32>, tensor<4x4xf32>
}

// A body may read a tensor that it captures: of unknown extents, it is checked where it stands.
// CHECK-LABEL: util.func public @captured
// CHECK: scf.for
// CHECK: linalg.generic
util.func public @captured(%x: tensor<8xf32>, %table: tensor<?xf32>, %zero: tensor<f32>, %n: index) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%now = %zero) -> tensor<f32> {
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%zero : tensor<f32>) {
    ^bb0(%v: f32, %o: f32):
      %at = linalg.index 0 : index
      %looked = tensor.extract %table[%at] : tensor<?xf32>
      %t = arith.addf %looked, %o : f32
      linalg.yield %t : f32
    } -> tensor<f32>
    %sum = arith.addf %s, %now : tensor<f32>
    scf.yield %sum : tensor<f32>
  }
  util.return %r : tensor<f32>
}
