// RUN: kiln-opt --kiln-flow-pack-constants --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell %s | FileCheck %s
// RUN: kiln-opt --kiln-flow-pack-constants --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell \
// RUN:   --kiln-opt-data-tiling=false %s | FileCheck %s --check-prefix=NOT
// RUN: kiln-opt --kiln-flow-pack-constants --kiln-hal-target-backends=cuda %s | FileCheck %s --check-prefix=NOT
// NOT-NOT: pack_weights

// Panels of two vectors of eight.
// CHECK: flow.executable private @pack_weights
// CHECK: func.func @pack_weights_2x64x16_f32(%arg0: tensor<64x2x16xf32>) -> tensor<2x64x16xf32>
// CHECK: linalg.generic

flow.executable private @product {
  builtin.module {
    // CHECK-LABEL: func.func @product(
    // CHECK-SAME: %arg0: tensor<8x64xf32>, %arg1: tensor<2x64x16xf32>, %arg2: tensor<2x16xf32>) -> tensor<8x2x16xf32>
    func.func @product(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<8x32xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<8x32xf32>
      // CHECK: linalg.fill {{.*}} -> tensor<8x2x16xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
      // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
      // CHECK-SAME: ins(%arg0, %arg1 : tensor<8x64xf32>, tensor<2x64x16xf32>)
      %p = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%fill : tensor<8x32xf32>) -> tensor<8x32xf32>
      // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
      // CHECK-SAME: tensor<8x2x16xf32>, tensor<2x16xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
          ins(%p, %b : tensor<8x32xf32>, tensor<32xf32>) outs(%empty : tensor<8x32xf32>) {
      ^bb0(%a: f32, %c: f32, %o: f32):
        %s = arith.addf %a, %c : f32
        linalg.yield %s : f32
      } -> tensor<8x32xf32>
      return %r : tensor<8x32xf32>
    }
  }
}

// One of its uses has other weights in each call.
flow.executable private @mixed {
  builtin.module {
    // CHECK-LABEL: func.func @mixed(
    // CHECK-SAME: tensor<64x32xf32>
    func.func @mixed(%x: tensor<9x64xf32>, %w: tensor<64x32xf32>) -> tensor<9x32xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<9x32xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<9x32xf32>) -> tensor<9x32xf32>
      %p = linalg.matmul ins(%x, %w : tensor<9x64xf32>, tensor<64x32xf32>) outs(%fill : tensor<9x32xf32>) -> tensor<9x32xf32>
      return %p : tensor<9x32xf32>
    }
  }
}

// The position of a column is looked at.
flow.executable private @positions {
  builtin.module {
    // CHECK-LABEL: func.func @positions(
    // CHECK-SAME: tensor<64x32xf32>
    func.func @positions(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>) -> tensor<8x32xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<8x32xf32>
      %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
      %p = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%fill : tensor<8x32xf32>) -> tensor<8x32xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
          ins(%p : tensor<8x32xf32>) outs(%empty : tensor<8x32xf32>) {
      ^bb0(%a: f32, %o: f32):
        %j = linalg.index 1 : index
        %k = arith.index_cast %j : index to i32
        %f = arith.sitofp %k : i32 to f32
        %s = arith.addf %a, %f : f32
        linalg.yield %s : f32
      } -> tensor<8x32xf32>
      return %r : tensor<8x32xf32>
    }
  }
}

// CHECK-LABEL: util.func public @f
util.func public @f(%x: tensor<8x64xf32>, %y: tensor<9x64xf32>, %v: tensor<64x32xf32>) -> (tensor<8x32xf32>, tensor<9x32xf32>, tensor<9x32xf32>, tensor<8x32xf32>) {
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<64x32xf32>
  %b = flow.tensor.parameter #flow.parameter.named<"b"> : tensor<32xf32>
  // CHECK: %[[W:.*]] = flow.tensor.reshape %{{.*}} : tensor<64x32xf32> -> tensor<64x2x16xf32>
  // CHECK: %[[PACKED:.*]] = flow.dispatch @pack_weights::@pack_weights_2x64x16_f32(%[[W]])
  // CHECK: %[[B:.*]] = flow.tensor.reshape %{{.*}} : tensor<32xf32> -> tensor<2x16xf32>
  // CHECK: %[[R:.*]] = flow.dispatch @product::@product(%{{.*}}, %[[PACKED]], %[[B]])
  // CHECK: flow.tensor.reshape %[[R]] : tensor<8x2x16xf32> -> tensor<8x32xf32>
  %0 = flow.dispatch @product::@product(%x, %w, %b) tied [-1] : (tensor<8x64xf32>, tensor<64x32xf32>, tensor<32xf32>) -> tensor<8x32xf32>
  // CHECK: flow.dispatch @mixed::@mixed(%{{.*}}, %{{.*}}) tied [-1] : (tensor<9x64xf32>, tensor<64x32xf32>)
  %1 = flow.dispatch @mixed::@mixed(%y, %w) tied [-1] : (tensor<9x64xf32>, tensor<64x32xf32>) -> tensor<9x32xf32>
  %2 = flow.dispatch @mixed::@mixed(%y, %v) tied [-1] : (tensor<9x64xf32>, tensor<64x32xf32>) -> tensor<9x32xf32>
  // CHECK: flow.dispatch @positions::@positions(%{{.*}}, %{{.*}}) tied [-1] : (tensor<8x64xf32>, tensor<64x32xf32>)
  %3 = flow.dispatch @positions::@positions(%x, %w) tied [-1] : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  util.return %0, %1, %2, %3 : tensor<8x32xf32>, tensor<9x32xf32>, tensor<9x32xf32>, tensor<8x32xf32>
}
