// RUN: kiln-opt %s --kiln-scalarize-bodies --split-input-file --verify-diagnostics | FileCheck %s

// The elements of a slice are read from the whole; a reduction to one element becomes a loop.
// CHECK-LABEL: func.func @row_sums
// CHECK-SAME: (%[[A:.+]]: tensor<8x16xf32>, %[[X:.+]]: f32)
// CHECK: tensor.generate
// CHECK-NEXT: ^bb0(%[[I:.+]]: index):
// CHECK: %[[SUM:.+]] = scf.for %[[J:.+]] = %c0{{.*}} to %c16 step %c1{{.*}} iter_args(%[[ACC:.+]] = %[[X]]) -> (f32)
// CHECK: %[[E:.+]] = tensor.extract %[[A]][%[[I]], %[[J]]]
// CHECK: %[[NEXT:.+]] = arith.addf %[[ACC]], %[[E]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: tensor.yield %[[SUM]]
func.func @row_sums(%a: tensor<8x16xf32>, %x: f32) -> tensor<8xf32> {
  %r = tensor.generate {
  ^bb0(%i: index):
    %row = tensor.extract_slice %a[%i, 0] [1, 16] [1, 1] : tensor<8x16xf32> to tensor<16xf32>
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%x : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%row : tensor<16xf32>) outs(%f : tensor<f32>) dimensions = [0]
    %y = tensor.extract %s[] : tensor<f32>
    tensor.yield %y : f32
  } : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// What does not depend on the element is computed once, in front.
// CHECK-LABEL: func.func @invariant
// CHECK: %[[S:.+]] = linalg.reduce
// CHECK: tensor.pad
// CHECK-NOT: scf.for
// CHECK: %[[X:.+]] = tensor.extract %[[S]][]
// CHECK-NEXT: tensor.yield %[[X]]
func.func @invariant(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<6xf32> {
  %r = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    %s = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
    %x = tensor.extract %s[] : tensor<f32>
    tensor.yield %x : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// A tensor of one element is computed once, though two read it, one of them in the loop of the other.
// CHECK-LABEL: func.func @shared
// CHECK: linalg.generic
// CHECK: %[[MAX:.+]] = scf.for
// CHECK: arith.maximumf
// CHECK: %[[SUM:.+]] = scf.for
// CHECK-NOT: scf.for
// CHECK: arith.subf %{{.+}}, %[[MAX]]
// CHECK-NOT: scf.for
// CHECK: arith.addf %[[MAX]], %[[SUM]]
// CHECK: linalg.yield
func.func @shared(%a: tensor<8x?xf32>, %low: tensor<f32>, %zero: tensor<f32>, %n: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %row = tensor.extract_slice %a[%i, 0] [1, %n] [1, 1] : tensor<8x?xf32> to tensor<?xf32>
    %m = linalg.reduce { arith.maximumf } ins(%row : tensor<?xf32>) outs(%low : tensor<f32>) dimensions = [0]
    %d = linalg.generic {indexing_maps = [affine_map<(j) -> ()>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]}
        ins(%m : tensor<f32>) outs(%row : tensor<?xf32>) {
    ^bb0(%max: f32, %x: f32):
      %y = arith.subf %x, %max : f32
      linalg.yield %y : f32
    } -> tensor<?xf32>
    %s = linalg.reduce { arith.addf } ins(%d : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %x = tensor.extract %m[] : tensor<f32>
    %y = tensor.extract %s[] : tensor<f32>
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @carried(%a: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    // expected-error @+1 {{'scf.for' passes on a tensor in the body of 'tensor.generate'; Kiln computes single elements there, so pass on those}}
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%acc = %a) -> tensor<8xf32> {
      %x = tensor.extract %acc[%i] : tensor<8xf32>
      %q = tensor.insert %x into %acc[%j] : tensor<8xf32>
      scf.yield %q : tensor<8xf32>
    }
    %y = tensor.extract %t[%i] : tensor<8xf32>
    tensor.yield %y : f32
  } : tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// The sum over the diagonals is at no fixed place for each loop.
func.func @diagonals(%a: tensor<4x4xf32>, %z: tensor<7xf32>) -> tensor<7xf32> {
  %r = tensor.generate {
  ^bb0(%i: index):
    %row = tensor.extract_slice %z[%i] [4] [1] : tensor<7xf32> to tensor<4xf32>
    // expected-error @+1 {{'linalg.generic' in the body of 'tensor.generate' has results whose elements Kiln cannot compute one by one}}
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (3 - i)>], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x4xf32>) outs(%row : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      linalg.yield %x : f32
    } -> tensor<4xf32>
    %y = tensor.extract %s[%i] : tensor<4xf32>
    tensor.yield %y : f32
  } : tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

func.func @written_as_forall(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    // expected-error @+1 {{'scf.forall' gives a tensor in the body of 'tensor.generate', of which Kiln does not compute single elements}}
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%t = %a) -> tensor<4xf32> {
      %e = tensor.extract %a[%j] : tensor<4xf32>
      %n = tensor.insert %e into %t[%j] : tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } {kiln.name_in_source = "scf.forall"}
    %y = tensor.extract %s[%i] : tensor<4xf32>
    tensor.yield %y : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
