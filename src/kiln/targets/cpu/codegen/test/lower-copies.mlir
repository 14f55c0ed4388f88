// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-lower-copies))' | FileCheck %s

// CHECK-LABEL: func.func @copies
func.func @copies(%a: memref<4x?xf32>, %b: memref<4x?xf32>, %c: memref<4x?xf32, strided<[?, 1], offset: ?>>) {
  // CHECK: memref.copy %{{.*}}, %{{.*}} : memref<4x?xf32> to memref<4x?xf32>
  memref.copy %a, %b : memref<4x?xf32> to memref<4x?xf32>
  // CHECK-NOT: memref.copy
  // CHECK: linalg.generic
  memref.copy %a, %c : memref<4x?xf32> to memref<4x?xf32, strided<[?, 1], offset: ?>>
  return
}
