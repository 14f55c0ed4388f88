// Many workgroups share reductions to few results. Parts of columns lie as the columns do.
// RUN: kiln-compile --iree-hal-target-backends=cuda --compile-to=flow %s -o - | FileCheck %s

// CHECK-LABEL: func.func @all_dispatch_0{{.*}}(%{{.*}}: tensor<512x131072xf32>) -> tensor<512xf32>
// CHECK-LABEL: func.func @all_dispatch_1{{.*}}(%{{.*}}: tensor<512xf32>) -> tensor<f32>
func.func @all(%x: tensor<67108864xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<67108864xf32>) outs(%fill : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

// 256 columns are 8 blocks, with 64 parts of 1024 rows 512.
// CHECK-LABEL: func.func @columns_dispatch_0{{.*}}(%{{.*}}: tensor<64x1024x256xf32>) -> tensor<64x256xf32>
// CHECK-LABEL: func.func @columns_dispatch_1{{.*}}(%{{.*}}: tensor<64x256xf32>) -> tensor<256xf32>
func.func @columns(%x: tensor<65536x256xf32>) -> tensor<256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<256xf32>) -> tensor<256xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<65536x256xf32>) outs(%fill : tensor<256xf32>) dimensions = [0]
  return %r : tensor<256xf32>
}

// There are enough columns for all blocks.
// CHECK-LABEL: func.func @many_columns_dispatch_0{{.*}}(%{{.*}}: tensor<8192x8192xf32>) -> tensor<8192xf32>
// CHECK-NOT: func.func @many_columns_dispatch_1
func.func @many_columns(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8192x8192xf32>) outs(%fill : tensor<8192xf32>) dimensions = [0]
  return %r : tensor<8192xf32>
}
