// RUN: kiln-opt %s --kiln-stream-convert --split-input-file | FileCheck %s

// A tensor that a dispatch updates is one binding, which it reads and writes; a scalar travels as 64 bits.
// CHECK-LABEL: stream.executable private @scale
// CHECK: func.func @scale_rows(%[[IN:.+]]: !stream.binding, %[[BOTH:.+]]: !stream.binding, %[[BITS:.+]]: i64)
// CHECK-SAME: access = ["readonly", "readwrite"]
// CHECK-DAG: %[[LOW:.+]] = arith.trunci %[[BITS]] : i64 to i16
// CHECK-DAG: arith.bitcast %[[LOW]] : i16 to f16
// CHECK-DAG: %[[MEMORY:.+]] = stream.binding.subspan %[[BOTH]] : memref<4x8xf16>
// CHECK-DAG: %[[OUT:.+]] = bufferization.to_tensor %[[MEMORY]] restrict writable
// CHECK: %[[SUM:.+]] = linalg.generic {{.*}} outs(%[[OUT]]
// CHECK: bufferization.materialize_in_destination %[[SUM]] in restrict writable %[[MEMORY]]
flow.executable private @scale {
  builtin.module {
    func.func @scale_rows(%a: tensor<4x8xf16>, %c: tensor<4x8xf16>, %s: f16) -> tensor<4x8xf16> {
      %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
          ins(%a : tensor<4x8xf16>) outs(%c : tensor<4x8xf16>) {
      ^bb0(%x: f16, %y: f16):
        %p = arith.mulf %x, %s : f16
        %q = arith.addf %p, %y : f16
        linalg.yield %q : f16
      } -> tensor<4x8xf16>
      return %0 : tensor<4x8xf16>
    }
  }
}
// CHECK-LABEL: util.func @main
// CHECK: %[[A:.+]] = stream.tensor.import %arg0
// CHECK: %[[C:.+]] = stream.tensor.import %arg1
// CHECK: %[[BITS:.+]] = arith.bitcast %arg2 : f16 to i16
// CHECK: %[[WIDE:.+]] = arith.extui %[[BITS]] : i16 to i64
// CHECK: %[[R:.+]] = stream.async.dispatch @scale::@scale_rows[%[[WIDE]] : i64] (%[[A]], %[[C]]) {{.*}} tied [1]
// CHECK: stream.tensor.export %[[R]]{%{{.+}}} : !stream.resource as tensor<4x8xf16>
util.func @main(%a: !hal.buffer_view, %c: !hal.buffer_view, %s: f16) -> !hal.buffer_view {
  %0 = hal.tensor.import %a : !hal.buffer_view -> tensor<4x8xf16>
  %1 = hal.tensor.import %c : !hal.buffer_view -> tensor<4x8xf16>
  %2 = flow.dispatch @scale::@scale_rows(%0, %1, %s) tied [1] : (tensor<4x8xf16>, tensor<4x8xf16>, f16) -> tensor<4x8xf16>
  %3 = hal.tensor.export %2 : tensor<4x8xf16> -> !hal.buffer_view
  util.return %3 : !hal.buffer_view
}

// -----

// A result that is made anew is written and not read. Extents that types leave open are constants of the dispatch, and
// the sizes of resources are computed from them.
// CHECK-LABEL: stream.executable private @exp
// CHECK: func.func @exp_all(%[[IN:.+]]: !stream.binding, %[[OUT:.+]]: !stream.binding, %[[N:.+]]: index)
// CHECK-SAME: access = ["readonly", "writeonly"]
// CHECK-DAG: stream.binding.subspan %[[IN]] : memref<?xf32>{%[[N]]}
// CHECK-DAG: stream.binding.subspan %[[OUT]] : memref<?xf32>{%[[N]]}
flow.executable private @exp {
  builtin.module {
    func.func @exp_all(%a: tensor<?xf32>, %n: index) -> tensor<?xf32> {
      %0 = flow.tensor.tie_shape %a : tensor<?xf32>{%n}
      %1 = tensor.empty(%n) : tensor<?xf32>
      %2 = linalg.exp ins(%0 : tensor<?xf32>) outs(%1 : tensor<?xf32>) -> tensor<?xf32>
      %3 = flow.tensor.tie_shape %2 : tensor<?xf32>{%n}
      return %3 : tensor<?xf32>
    }
  }
}
// CHECK-LABEL: util.func @computed
// CHECK: %[[READ:.+]] = arith.muli %{{.+}}, %arg1
// CHECK: %[[MADE:.+]] = arith.muli %{{.+}}, %arg1
// CHECK: stream.async.dispatch @exp::@exp_all[%arg1 : index] (%{{.+}}) {%[[READ]]} -> {%[[MADE]]} tied [-1]
util.func @computed(%a: !hal.buffer_view, %n: index) -> !hal.buffer_view {
  %0 = hal.tensor.import %a : !hal.buffer_view -> tensor<?xf32>{%n}
  %1 = flow.dispatch @exp::@exp_all(%0, %n) {%n} tied [-1] : (tensor<?xf32>, index) -> tensor<?xf32>
  %2 = hal.tensor.export %1 : tensor<?xf32>{%n} -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
}
