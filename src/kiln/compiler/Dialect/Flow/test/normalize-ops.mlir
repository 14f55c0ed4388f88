// RUN: kiln-opt %s --kiln-flow-normalize-ops | FileCheck %s

// A sum of nothing is what it starts from.
// CHECK-LABEL: util.func @sum_of_nothing
// CHECK-SAME: %[[A:.+]]: tensor<4x0xf32>, %[[B:.+]]: tensor<0x?xf32>, %[[C:.+]]: tensor<4x?xf32>
// CHECK-NEXT: util.return %[[C]]
util.func @sum_of_nothing(%a: tensor<4x0xf32>, %b: tensor<0x?xf32>, %c: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x0xf32>, tensor<0x?xf32>) outs(%c : tensor<4x?xf32>) -> tensor<4x?xf32>
  util.return %r : tensor<4x?xf32>
}

// CHECK-LABEL: util.func @nothing_inserted
// CHECK-SAME: %{{.+}}: tensor<0x3xf32>, %[[INTO:.+]]: tensor<5x3xf32>
// CHECK-NEXT: util.return %[[INTO]]
util.func @nothing_inserted(%a: tensor<0x3xf32>, %into: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %r = tensor.insert_slice %a into %into[2, 0] [0, 3] [1, 1] : tensor<0x3xf32> into tensor<5x3xf32>
  util.return %r : tensor<5x3xf32>
}

// CHECK-LABEL: util.func @nothing_taken
// CHECK-SAME: %{{.+}}, %[[N:.+]]: index
// CHECK: %[[E:.+]] = tensor.empty(%[[N]]) : tensor<0x?xf32>
// CHECK-NEXT: util.return %[[E]]
util.func @nothing_taken(%a: tensor<5x9xf32>, %n: index) -> tensor<0x?xf32> {
  %r = tensor.extract_slice %a[1, 0] [0, %n] [1, 1] : tensor<5x9xf32> to tensor<0x?xf32>
  util.return %r : tensor<0x?xf32>
}

// CHECK-LABEL: util.func @strides
// CHECK: tensor.extract_slice {{.+}}[1, 3, 0] [2, 1, 1] [2, 1, 1] : tensor<5x9x1xf32> to tensor<2x1x1xf32>
// CHECK: tensor.collapse_shape %{{.+}} {{\[\[0\], \[1, 2\]\]}} :
// CHECK: tensor.insert_slice {{.+}}[0, 2] [2, 1] [3, 1] :
util.func @strides(%a: tensor<5x9x1xf32>, %into: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = tensor.extract_slice %a[1, 3, 0] [2, 1, 1] [2, 2, 5] : tensor<5x9x1xf32> to tensor<2x1xf32>
  %r = tensor.insert_slice %s into %into[0, 2] [2, 1] [3, 2] : tensor<2x1xf32> into tensor<8x4xf32>
  util.return %r : tensor<8x4xf32>
}

// Which of the dimensions of one element the slice has is said by a reshape.
// CHECK-LABEL: util.func @reshaped
// CHECK: %[[S:.+]] = tensor.extract_slice %{{.+}}[0, 1, 3, 0] [%[[N:.+]], 1, 1, 1] [3, 1, 1, 1] : tensor<4x2x4x12xf32> to tensor<?x1x1x1xf32>
// CHECK: %[[C:.+]] = tensor.collapse_shape %[[S]]
// CHECK: %[[E:.+]] = tensor.expand_shape %[[C]] {{.+}} output_shape [%[[N]], 1, 1, 1]
// CHECK: tensor.insert_slice %[[E]] into %{{.+}}[0, 0, 0, 5] [%[[N]], 1, 1, 1] [1, 1, 1, 1] : tensor<?x1x1x1xf32> into tensor<9x2x2x9xf32>
util.func @reshaped(%a: tensor<4x2x4x12xf32>, %into: tensor<9x2x2x9xf32>, %n: index) -> tensor<9x2x2x9xf32> {
  %s = tensor.extract_slice %a[0, 1, 3, 0] [%n, 1, 1, 1] [3, 1, 1, 1] : tensor<4x2x4x12xf32> to tensor<?x1x1xf32>
  %r = tensor.insert_slice %s into %into[0, 0, 0, 5] [%n, 1, 1, 1] [1, 1, 1, 1] : tensor<?x1x1xf32> into tensor<9x2x2x9xf32>
  util.return %r : tensor<9x2x2x9xf32>
}

// CHECK-LABEL: util.func @transposed_to_the_same
// CHECK-SAME: %[[A:.+]]: tensor<3x?xf32>, %{{.+}}
// CHECK-NEXT: util.return %[[A]]
util.func @transposed_to_the_same(%a: tensor<3x?xf32>, %b: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %r = linalg.transpose ins(%a : tensor<3x?xf32>) outs(%b : tensor<3x?xf32>) permutation = [0, 1]
  util.return %r : tensor<3x?xf32>
}

// CHECK-LABEL: util.func @padding_alone
// CHECK-SAME: %{{.+}}: tensor<0x?xf32>, %[[LOW:.+]]: index, %[[V:.+]]: f32
// CHECK: %[[E:.+]] = tensor.empty(%{{.+}}) : tensor<2x?xf32>
// CHECK: %[[F:.+]] = linalg.fill ins(%[[V]] : f32) outs(%[[E]] : tensor<2x?xf32>)
// CHECK: util.return %[[F]]
util.func @padding_alone(%a: tensor<0x?xf32>, %low: index, %v: f32) -> tensor<2x?xf32> {
  %r = tensor.pad %a low[2, %low] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<0x?xf32> to tensor<2x?xf32>
  util.return %r : tensor<2x?xf32>
}

// The extents say that the tensor has no rows.
// CHECK-LABEL: util.func @no_rows
// CHECK: %[[G:.+]] = tensor.generate {
// CHECK-NEXT: ^bb0(%[[I:.+]]: index, %[[J:.+]]: index):
// CHECK-NEXT: %[[SUM:.+]] = arith.addi %[[I]], %[[J]]
// CHECK-NEXT: tensor.yield %[[SUM]]
// CHECK: util.return %[[G]]
util.func @no_rows(%a: tensor<?x3xindex>, %low: index) -> tensor<2x4xindex> {
  %r = tensor.pad %a low[%low, 1] high[2, 0] {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    tensor.yield %s : index
  } : tensor<?x3xindex> to tensor<2x4xindex>
  util.return %r : tensor<2x4xindex>
}

// CHECK-LABEL: util.func @a_row
// CHECK: tensor.pad
util.func @a_row(%a: tensor<?x3xf32>, %low: index, %v: f32) -> tensor<2x4xf32> {
  %r = tensor.pad %a low[%low, 1] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x3xf32> to tensor<2x4xf32>
  util.return %r : tensor<2x4xf32>
}
