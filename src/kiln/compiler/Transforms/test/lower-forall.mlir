// RUN: kiln-opt %s --kiln-lower-forall | FileCheck %s

// What is inserted goes into what the loops carry; what is read is the tensor from before them. Errors name what was written.
// CHECK-LABEL: func.func @two_results
// CHECK-SAME: (%[[X:.+]]: tensor<8x6xf32>, %[[Y:.+]]: tensor<8xf32>, %[[N:.+]]: index)
// CHECK: %[[R:.+]]:2 = scf.for %[[I:.+]] = %{{.+}} to %[[N]] step %{{.+}} iter_args(%[[A:.+]] = %[[X]], %[[B:.+]] = %[[Y]])
// CHECK: %[[RR:.+]]:2 = scf.for %[[J:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[AA:.+]] = %[[A]], %[[BB:.+]] = %[[B]])
// CHECK: %[[S:.+]] = tensor.extract_slice %[[X]][%[[I]], %[[J]]] [2, 3] [1, 1]
// CHECK: %[[E:.+]] = tensor.extract_slice %[[Y]][%[[I]]] [2] [1]
// CHECK: %[[BI:.+]] = tensor.insert_slice %[[E]] into %[[BB]][%[[J]]] [2] [1]
// CHECK: %[[AI:.+]] = tensor.insert_slice %[[S]] into %[[AA]][%[[I]], %[[J]]] [2, 3] [1, 1] {kiln.name_in_source = "tensor.parallel_insert_slice"}
// CHECK: scf.yield %[[AI]], %[[BI]]
// CHECK: } {kiln.name_in_source = "scf.forall"}
// CHECK: scf.yield %[[RR]]#0, %[[RR]]#1
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @two_results(%x: tensor<8x6xf32>, %y: tensor<8xf32>, %n: index) -> (tensor<8x6xf32>, tensor<8xf32>) {
  %r:2 = scf.forall (%i, %j) = (0, 0) to (%n, 6) step (2, 3) shared_outs(%o = %x, %p = %y) -> (tensor<8x6xf32>, tensor<8xf32>) {
    %s = tensor.extract_slice %o[%i, %j] [2, 3] [1, 1] : tensor<8x6xf32> to tensor<2x3xf32>
    %e = tensor.extract_slice %p[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %p[%j] [2] [1] : tensor<2xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %s into %o[%i, %j] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<8x6xf32>
    }
  }
  return %r#0, %r#1 : tensor<8x6xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @nested
// CHECK-NOT: scf.forall (
// CHECK: return
func.func @nested(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4x4xf32> {
    %row = tensor.extract_slice %o[%i, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
    %s = scf.forall (%j) in (4) shared_outs(%p = %row) -> tensor<4xf32> {
      %e = tensor.extract_slice %row[%j] [1] [1] : tensor<4xf32> to tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %e into %p[%j] [1] [1] : tensor<1xf32> into tensor<4xf32>
      }
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x4xf32>
    }
  }
  return %r : tensor<4x4xf32>
}

// Without results there is nothing that it could do, and memory is not compiled.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: scf.forall (
// CHECK: return
func.func @nothing() {
  scf.forall (%i) in (4) {
  }
  return
}
