// RUN: kiln-opt %s --kiln-wrap-entry-points | FileCheck %s

// Shapes are checked before extents are asked for; the declaration is kept for reflection.
// CHECK-LABEL: util.func @tensors(%arg0: !hal.buffer_view) -> !hal.buffer_view
// CHECK-SAME: kiln.abi.declaration = "sync func @tensors(%input0: tensor<?x4xf32>) -> (%output0: tensor<?x4xf32>)"
// CHECK: %[[LABEL:.+]] = util.rodata("input0")
// CHECK: hal.buffer_view.assert(%arg0, %[[LABEL]],
// CHECK: %[[DIM:.+]] = hal.buffer_view.dim(%arg0,
// CHECK: hal.tensor.import %arg0 : !hal.buffer_view -> tensor<?x4xf32>{%[[DIM]]}
// CHECK: hal.tensor.export
func.func @tensors(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %a : tensor<?x4xf32>
}

// What is given away is taken when all arguments have been checked, and is not to be memory of another one.
// CHECK-LABEL: util.func @donated(%arg0: !hal.buffer_view, %arg1: i32, %arg2: !hal.buffer_view)
// CHECK-SAME: kiln.abi.declaration = "sync func @donated(%input0: tensor<4xf32>, %input1: i32, %input2: tensor<4xf32> {kiln.donated}) ->
// CHECK: hal.tensor.import %arg0 : !hal.buffer_view -> tensor<4xf32>
// CHECK: %[[IMPORTED:.+]] = hal.tensor.import %arg2 {donated} : !hal.buffer_view -> tensor<4xf32>
// CHECK: %[[LABEL:.+]] = util.rodata("input2")
// CHECK: hal.buffer_view.donate(%arg2, %[[LABEL]], %arg0)
// CHECK: hal.tensor.export %[[IMPORTED]]
func.func @donated(%a: tensor<4xf32>, %b: i32, %c: tensor<4xf32> {kiln.donated}) -> tensor<4xf32> {
  return %c : tensor<4xf32>
}

// Scalars travel in the VM's types.
// CHECK-LABEL: util.func @scalars(%arg0: i32, %arg1: i32, %arg2: i64, %arg3: f32) -> (i32, i32, i64, f32)
// CHECK: arith.trunci %arg0 : i32 to i1
// CHECK: arith.trunci %arg1 : i32 to i8
// CHECK: arith.index_cast %arg2 : i64 to index
// CHECK: arith.truncf %arg3 : f32 to bf16
// CHECK: arith.extui {{.*}} : i1 to i32
// CHECK: arith.extsi {{.*}} : i8 to i32
// CHECK: arith.extf {{.*}} : bf16 to f32
func.func @scalars(%a: i1, %b: i8, %c: index, %d: bf16) -> (i1, i8, index, bf16) {
  return %a, %b, %c, %d : i1, i8, index, bf16
}

// Nothing calls a private function any more.
// CHECK-NOT: @unused
func.func private @unused() {
  return
}
