// RUN: kiln-opt %s --kiln-flow-form-dispatches | FileCheck %s

// A part of each row, which workgroups share as loops: the pieces of a row that are as long as the part. What starts at the front of a
// dimension stays a slice.
// CHECK-LABEL: @parts
// CHECK: tensor.expand_shape %{{.+}} {{\[\[}}0], [1, 2]] output_shape [6, 3, 16] : tensor<6x48xf32> into tensor<6x3x16xf32>
// CHECK: flow.dispatch.region
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #{{.+}}], iterator_types = ["parallel", "parallel"]}
// CHECK: flow.dispatch.region
// CHECK: tensor.extract_slice %{{.+}}[0, 0] [4, 48] [1, 1]
util.func @parts(%x: tensor<6x48xf32>) -> (tensor<6x16xf32>, tensor<4x48xf32>) {
  %middle = tensor.extract_slice %x[0, 16] [6, 16] [1, 1] : tensor<6x48xf32> to tensor<6x16xf32>
  %front = tensor.extract_slice %x[0, 0] [4, 48] [1, 1] : tensor<6x48xf32> to tensor<4x48xf32>
  util.return %middle, %front : tensor<6x16xf32>, tensor<4x48xf32>
}

// What is inserted is loaded by loops, too, unless it is little.
// CHECK-LABEL: @joined
// CHECK: flow.dispatch.region
// CHECK: %[[LOADED:.+]] = linalg.generic
// CHECK: tensor.insert_slice %[[LOADED]] into %{{.+}}[0, 64] [64, 64] [1, 1]
// CHECK: flow.dispatch.region
// CHECK-NEXT: tensor.insert_slice %{{.+}} into %{{.+}}[0, 0] [1, 128] [1, 1]
util.func @joined(%x: tensor<64x64xf32>, %row: tensor<1x128xf32>, %all: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = tensor.insert_slice %x into %all[0, 64] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<64x128xf32>
  %1 = tensor.insert_slice %row into %0[0, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<64x128xf32>
  util.return %1 : tensor<64x128xf32>
}
