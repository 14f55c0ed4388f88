// RUN: kiln-opt %s --kiln-flow-split-columns --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell | FileCheck %s
// RUN: kiln-opt %s --kiln-flow-split-columns --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell --kiln-opt-data-tiling=false | FileCheck %s --check-prefix=NOT
// RUN: kiln-opt %s --kiln-flow-split-columns --kiln-hal-target-backends=cuda | FileCheck %s --check-prefix=NOT
// NOT-NOT: tensor.insert_slice

// CHECK-LABEL: @words
// CHECK: %[[PANELS:.+]] = tensor.extract_slice %{{.+}}[0, 0] [64, 1024] [1, 1]
// CHECK: %[[FIRST:.+]] = linalg.matmul ins(%arg0, %[[PANELS]] : tensor<16x64xf32>, tensor<64x1024xf32>)
// CHECK: %[[STORED:.+]] = tensor.insert_slice %[[FIRST]] into %{{.+}}[0, 0] [16, 1024] [1, 1]
// CHECK: %[[REST:.+]] = tensor.extract_slice %{{.+}}[0, 1024] [64, 6] [1, 1]
// CHECK: %[[LAST:.+]] = linalg.matmul ins(%arg0, %[[REST]] : tensor<16x64xf32>, tensor<64x6xf32>)
// CHECK: %[[ALL:.+]] = tensor.insert_slice %[[LAST]] into %[[STORED]][0, 1024] [16, 6] [1, 1]
// CHECK: util.return %[[ALL]]
util.func public @words(%x: tensor<16x64xf32>) -> tensor<16x1030xf32> {
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<64x1030xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x1030xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x1030xf32>) -> tensor<16x1030xf32>
  %r = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x1030xf32>) outs(%fill : tensor<16x1030xf32>) -> tensor<16x1030xf32>
  util.return %r : tensor<16x1030xf32>
}

// Whole panels, weights of the call, few columns, few rows, and results that are computed on stay.
// CHECK-LABEL: @others
// CHECK-NOT: tensor.insert_slice
util.func public @others(%x: tensor<16x64xf32>, %v: tensor<64x1030xf32>, %few: tensor<2x64xf32>)
    -> (tensor<16x1024xf32>, tensor<16x1030xf32>, tensor<16x30xf32>, tensor<2x1030xf32>, tensor<16x1030xf32>) {
  %zero = arith.constant 0.0 : f32
  %whole = flow.tensor.parameter #flow.parameter.named<"whole"> : tensor<64x1024xf32>
  %odd = flow.tensor.parameter #flow.parameter.named<"odd"> : tensor<64x1030xf32>
  %thin = flow.tensor.parameter #flow.parameter.named<"thin"> : tensor<64x30xf32>
  %e0 = tensor.empty() : tensor<16x1024xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %0 = linalg.matmul ins(%x, %whole : tensor<16x64xf32>, tensor<64x1024xf32>) outs(%f0 : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %e1 = tensor.empty() : tensor<16x1030xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x1030xf32>) -> tensor<16x1030xf32>
  %1 = linalg.matmul ins(%x, %v : tensor<16x64xf32>, tensor<64x1030xf32>) outs(%f1 : tensor<16x1030xf32>) -> tensor<16x1030xf32>
  %e2 = tensor.empty() : tensor<16x30xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x30xf32>) -> tensor<16x30xf32>
  %2 = linalg.matmul ins(%x, %thin : tensor<16x64xf32>, tensor<64x30xf32>) outs(%f2 : tensor<16x30xf32>) -> tensor<16x30xf32>
  %e3 = tensor.empty() : tensor<2x1030xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x1030xf32>) -> tensor<2x1030xf32>
  %3 = linalg.matmul ins(%few, %odd : tensor<2x64xf32>, tensor<64x1030xf32>) outs(%f3 : tensor<2x1030xf32>) -> tensor<2x1030xf32>
  %4 = linalg.matmul ins(%x, %odd : tensor<16x64xf32>, tensor<64x1030xf32>) outs(%f1 : tensor<16x1030xf32>) -> tensor<16x1030xf32>
  %5 = linalg.exp ins(%4 : tensor<16x1030xf32>) outs(%e1 : tensor<16x1030xf32>) -> tensor<16x1030xf32>
  util.return %0, %1, %2, %3, %5 : tensor<16x1024xf32>, tensor<16x1030xf32>, tensor<16x30xf32>, tensor<2x1030xf32>, tensor<16x1030xf32>
}
