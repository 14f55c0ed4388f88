// RUN: kiln-opt --kiln-flow-pack-constants --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell %s | FileCheck %s

// Panels of few rows are as wide as registers are left, where columns fill them, and where the weights are no cache's.
flow.executable private @row {
  builtin.module {
    // CHECK-LABEL: func.func @row(
    // CHECK-SAME: %arg1: tensor<8x1024x64xf32>
    func.func @row(%x: tensor<1x1024xf32>, %w: tensor<1024x512xf32>) -> tensor<1x512xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<1x512xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x512xf32>) -> tensor<1x512xf32>
      %p = linalg.matmul ins(%x, %w : tensor<1x1024xf32>, tensor<1024x512xf32>) outs(%fill : tensor<1x512xf32>) -> tensor<1x512xf32>
      return %p : tensor<1x512xf32>
    }
  }
}
flow.executable private @odd_row {
  builtin.module {
    // CHECK-LABEL: func.func @odd_row(
    // CHECK-SAME: %arg1: tensor<9x1024x32xf32>
    func.func @odd_row(%x: tensor<1x1024xf32>, %w: tensor<1024x288xf32>) -> tensor<1x288xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<1x288xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x288xf32>) -> tensor<1x288xf32>
      %p = linalg.matmul ins(%x, %w : tensor<1x1024xf32>, tensor<1024x288xf32>) outs(%fill : tensor<1x288xf32>) -> tensor<1x288xf32>
      return %p : tensor<1x288xf32>
    }
  }
}
flow.executable private @rows {
  builtin.module {
    // CHECK-LABEL: func.func @rows(
    // CHECK-SAME: %arg1: tensor<16x1024x32xf32>
    func.func @rows(%x: tensor<3x1024xf32>, %w: tensor<1024x512xf32>) -> tensor<3x512xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<3x512xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x512xf32>) -> tensor<3x512xf32>
      %p = linalg.matmul ins(%x, %w : tensor<3x1024xf32>, tensor<1024x512xf32>) outs(%fill : tensor<3x512xf32>) -> tensor<3x512xf32>
      return %p : tensor<3x512xf32>
    }
  }
}
flow.executable private @more_rows {
  builtin.module {
    // CHECK-LABEL: func.func @more_rows(
    // CHECK-SAME: %arg1: tensor<32x1024x16xf32>
    func.func @more_rows(%x: tensor<5x1024xf32>, %w: tensor<1024x512xf32>) -> tensor<5x512xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<5x512xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x512xf32>) -> tensor<5x512xf32>
      %p = linalg.matmul ins(%x, %w : tensor<5x1024xf32>, tensor<1024x512xf32>) outs(%fill : tensor<5x512xf32>) -> tensor<5x512xf32>
      return %p : tensor<5x512xf32>
    }
  }
}
flow.executable private @small {
  builtin.module {
    // CHECK-LABEL: func.func @small(
    // CHECK-SAME: %arg1: tensor<1024x128xf32>
    func.func @small(%x: tensor<1x1024xf32>, %w: tensor<1024x128xf32>) -> tensor<1x128xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<1x128xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x128xf32>) -> tensor<1x128xf32>
      %p = linalg.matmul ins(%x, %w : tensor<1x1024xf32>, tensor<1024x128xf32>) outs(%fill : tensor<1x128xf32>) -> tensor<1x128xf32>
      return %p : tensor<1x128xf32>
    }
  }
}
util.func public @f(%x0: tensor<1x1024xf32>, %x1: tensor<1x1024xf32>, %x2: tensor<3x1024xf32>, %x3: tensor<5x1024xf32>, %x4: tensor<1x1024xf32>) -> (tensor<1x512xf32>, tensor<1x288xf32>, tensor<3x512xf32>, tensor<5x512xf32>, tensor<1x128xf32>) {
  %w0 = flow.tensor.parameter #flow.parameter.named<"row"> : tensor<1024x512xf32>
  %0 = flow.dispatch @row::@row(%x0, %w0) tied [-1] : (tensor<1x1024xf32>, tensor<1024x512xf32>) -> tensor<1x512xf32>
  %w1 = flow.tensor.parameter #flow.parameter.named<"odd_row"> : tensor<1024x288xf32>
  %1 = flow.dispatch @odd_row::@odd_row(%x1, %w1) tied [-1] : (tensor<1x1024xf32>, tensor<1024x288xf32>) -> tensor<1x288xf32>
  %w2 = flow.tensor.parameter #flow.parameter.named<"rows"> : tensor<1024x512xf32>
  %2 = flow.dispatch @rows::@rows(%x2, %w2) tied [-1] : (tensor<3x1024xf32>, tensor<1024x512xf32>) -> tensor<3x512xf32>
  %w3 = flow.tensor.parameter #flow.parameter.named<"more_rows"> : tensor<1024x512xf32>
  %3 = flow.dispatch @more_rows::@more_rows(%x3, %w3) tied [-1] : (tensor<5x1024xf32>, tensor<1024x512xf32>) -> tensor<5x512xf32>
  %w4 = flow.tensor.parameter #flow.parameter.named<"small"> : tensor<1024x128xf32>
  %4 = flow.dispatch @small::@small(%x4, %w4) tied [-1] : (tensor<1x1024xf32>, tensor<1024x128xf32>) -> tensor<1x128xf32>
  util.return %0, %1, %2, %3, %4 : tensor<1x512xf32>, tensor<1x288xf32>, tensor<3x512xf32>, tensor<5x512xf32>, tensor<1x128xf32>
}
