// RUN: kiln-opt %s --kiln-convert-dynamic-elementwise | FileCheck %s
// RUN: kiln-opt %s --kiln-convert-dynamic-elementwise --canonicalize | FileCheck %s --check-prefix=FOLDED

// Nothing folds, as a constant of this type could not be.
// CHECK-LABEL: func.func @with_itself(
// CHECK-NOT: arith.constant dense
// CHECK: linalg.generic
// CHECK: arith.cmpi slt, %{{.+}}, %{{.+}} : i32
// FOLDED-LABEL: func.func @with_itself(
// FOLDED-NOT: arith.constant dense
// FOLDED: return %{{.+}} : tensor<?x4xi1>
func.func @with_itself(%x: tensor<?x4xi32>) -> tensor<?x4xi1> {
  %0 = arith.cmpi slt, %x, %x : tensor<?x4xi32>
  return %0 : tensor<?x4xi1>
}

// What has known extents keeps its folds.
// CHECK-LABEL: func.func @known(
// CHECK-NEXT: arith.xori %{{.+}} : tensor<4xi32>
// FOLDED-LABEL: func.func @known(
// FOLDED-NEXT: arith.constant dense<0> : tensor<4xi32>
func.func @known(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = arith.xori %x, %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}
