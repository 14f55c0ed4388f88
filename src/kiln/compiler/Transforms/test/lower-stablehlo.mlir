// RUN: kiln-opt %s -split-input-file -verify-diagnostics --kiln-lower-stablehlo | FileCheck %s

// CHECK-LABEL: func.func @elements
// CHECK: %[[S:.+]] = arith.addf %arg0, %arg0 : tensor<?x4xbf16>
// CHECK: arith.cmpf ogt, %[[S]], %arg0 : tensor<?x4xbf16>
// CHECK-NOT: stablehlo
func.func @elements(%x: tensor<?x4xbf16>) -> tensor<?x4xi1> {
  %0 = stablehlo.add %x, %x : tensor<?x4xbf16>
  %1 = stablehlo.compare GT, %0, %x : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<?x4xi1>
  return %1 : tensor<?x4xi1>
}

// The body of a reduction is one on scalars, as targets know it.
// CHECK-LABEL: func.func @reduce
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: ^bb0(%[[X:.+]]: f32, %[[A:.+]]: f32):
// CHECK-NEXT: %[[M:.+]] = arith.maximumf %[[A]], %[[X]] : f32
// CHECK-NEXT: linalg.yield %[[M]]
func.func @reduce(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

func.func @elements_of_text(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'stablehlo.and' does not take elements of 'f32'}}
  %0 = stablehlo.and %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @extents(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'stablehlo.dot' sums over 3 and over 2 elements}}
  %0 = stablehlo.dot %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @result(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{'stablehlo.transpose' gives 'tensor<3x2xf32>', and not 'tensor<2x3xf32>'}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @range(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'stablehlo.slice' needs ranges within its operand}}
  %0 = stablehlo.slice %x [3:5] : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @body(%x: tensor<4xf32>, %z: tensor<f32>, %t: tensor<8xf32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error @+1 {{'stablehlo.slice' is not supported in the body of 'stablehlo.reduce', which is computed for single elements}}
    %1 = stablehlo.slice %t [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

func.func @layout(%x: tensor<1x4x4x1xf32>, %k: tensor<3x3x1x1xf32>) -> tensor<1x3x2x1xf32> {
  // expected-error @+1 {{'stablehlo.convolution' has a result of other extents than its windows give}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x2x1xf32>
  return %0 : tensor<1x3x2x1xf32>
}

// -----

func.func @nothing_to_join() -> tensor<4xf32> {
  // expected-error @+1 {{'stablehlo.concatenate' needs an operand}}
  %0 = stablehlo.concatenate dim = 0 : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @bits_of_a_new_dimension(%x: tensor<?xf32>) -> tensor<?x?xi8> {
  // expected-error @+1 {{'stablehlo.bitcast_convert' needs a known extent for a dimension that its operand does not have}}
  %0 = stablehlo.bitcast_convert %x : (tensor<?xf32>) -> tensor<?x?xi8>
  return %0 : tensor<?x?xi8>
}

// -----

func.func @window_without_result(%x: tensor<4xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' needs inputs, and an initial value and a result for each}}
  "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> ()
  return
}

// -----

func.func @more_results(%x: tensor<4xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' needs inputs, and an initial value and a result for each}}
  %0:2 = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

func.func @resource_in_body(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error @+1 {{'stablehlo.constant' is not supported in the body of 'stablehlo.reduce', which is computed for single elements}}
    %c = stablehlo.constant dense_resource<one> : tensor<f32>
    %s = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %0 : tensor<f32>
}
{-#
  dialect_resources: { builtin: { one: "0x040000000000803F" } }
#-}

// -----

func.func @slices(%x: tensor<4x3xf32>, %rows: tensor<2xi32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{'stablehlo.gather' needs dimensions that fit its operands and a known result}}
  %0 = "stablehlo.gather"(%x, %rows) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>} : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// Dimensions that go together have the same extent.
func.func @batches(%x: tensor<3x4xf32>, %at: tensor<5x1xi32>) -> tensor<5xf32> {
  // expected-error @+1 {{'stablehlo.gather' needs dimensions that fit its operands and a known result}}
  %0 = "stablehlo.gather"(%x, %at) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<3x4xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// One that goes with a batch is not chosen by an index, too.
func.func @both(%x: tensor<3x4xf32>, %at: tensor<3x1xi32>) -> tensor<3xf32> {
  // expected-error @+1 {{'stablehlo.gather' needs dimensions that fit its operands and a known result}}
  %0 = "stablehlo.gather"(%x, %at) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<3x4xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
