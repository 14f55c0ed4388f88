// RUN: kiln-opt %s --kiln-insert-checks=in-bodies=true -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @from_data
// CHECK: tensor.generate
// CHECK: %[[AT:.+]] = tensor.extract %
// CHECK: cf.assert {{.*}} "'tensor.extract_slice': the slice lies outside of dimension 0 of its tensor"
// CHECK-NEXT: tensor.extract_slice %{{.+}}[%[[AT]], 0]
// CHECK-NOT: cf.assert
func.func @from_data(%a: tensor<8x4xf32>, %at: tensor<3xindex>) -> tensor<3xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %j = tensor.extract %at[%i] : tensor<3xindex>
    %row = tensor.extract_slice %a[%j, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %x = tensor.extract %row[%c0] : tensor<4xf32>
    tensor.yield %x : f32
  } : tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// The last slice of @inside ends where the tensor ends, and that of @too_far behind it.
// CHECK-LABEL: func.func @inside
// CHECK-NOT: cf.assert
// CHECK-LABEL: func.func @too_far
// CHECK: cf.assert
func.func @inside(%a: tensor<8xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %s = tensor.extract_slice %a[%i] [3] [2] : tensor<8xf32> to tensor<3xf32>
    %x = tensor.extract %s[%c0] : tensor<3xf32>
    tensor.yield %x : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @too_far(%a: tensor<8xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %s = tensor.extract_slice %a[%i] [3] [2] : tensor<8xf32> to tensor<3xf32>
    %x = tensor.extract %s[%c0] : tensor<3xf32>
    tensor.yield %x : f32
  } : tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// What the host checks, where the slice moves, is not checked again; nor are slices of the host.
// CHECK-LABEL: func.func @hosts
// CHECK-NOT: cf.assert
func.func @hosts(%a: tensor<?xf32>, %at: index) -> (tensor<3xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %s = tensor.extract_slice %a[%at] [2] [1] : tensor<?xf32> to tensor<2xf32>
    %x = tensor.extract %s[%c0] : tensor<2xf32>
    tensor.yield %x : f32
  } : tensor<3xf32>
  %s = tensor.extract_slice %a[%at] [2] [1] : tensor<?xf32> to tensor<2xf32>
  return %r, %s : tensor<3xf32>, tensor<2xf32>
}

// -----

// A padding's value is computed for places, too, that get an element of the source.
// CHECK-LABEL: func.func @padding
// CHECK-NOT: cf.assert
func.func @padding(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.pad %a low[1] high[2] {
  ^bb0(%i: index):
    %s = tensor.extract_slice %b[%i] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %x = tensor.extract %s[%c0] : tensor<1xf32>
    tensor.yield %x : f32
  } : tensor<2xf32> to tensor<5xf32>
  return %r : tensor<5xf32>
}
