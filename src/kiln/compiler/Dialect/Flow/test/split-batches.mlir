// Batches and heads that a product has as one dimension are apart where that is needed, with all that is between two products.
// RUN: kiln-opt %s --kiln-flow-split-batches --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell | FileCheck %s
// RUN: kiln-opt %s --kiln-flow-split-batches --kiln-hal-target-backends=cuda | FileCheck %s --check-prefix=GPU

#all = affine_map<(b, h, m, n) -> (b, h, m, n)>
#shared = affine_map<(b, h, m, n) -> (b, 0, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#scores = affine_map<(b, m, n) -> (b, m, n)>
#spread = affine_map<(b, g, j, n, d) -> (b, g, 0, n, d)>
#wide = affine_map<(b, g, j, n, d) -> (b, g, j, n, d)>

// A mask that heads share keeps batches and heads apart, and so does the second product.
// CHECK-LABEL: util.func @masked
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x4x40x32xf32>, tensor<2x4x32x48xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x4x40x48xf32>, tensor<2x40x48xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x4x40x48xf32>) outs(%{{.*}} : tensor<2x4x40xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x4x40x48xf32>, tensor<2x4x40xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x4x40x48xf32>, tensor<2x4x48x32xf32>)
// GPU-LABEL: util.func @masked
// GPU-COUNT-2: linalg.batch_matmul
util.func @masked(%q: tensor<8x40x32xf32>, %k: tensor<8x32x48xf32>, %v: tensor<8x48x32xf32>, %mask: tensor<2x1x40x48xf32>,
                  %zero: tensor<8x40x48xf32>, %low: tensor<8x40xf32>, %out: tensor<8x40x32xf32>) -> tensor<8x40x32xf32> {
  %s = linalg.batch_matmul ins(%q, %k : tensor<8x40x32xf32>, tensor<8x32x48xf32>) outs(%zero : tensor<8x40x48xf32>) -> tensor<8x40x48xf32>
  %apart = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 4, 40, 48] : tensor<8x40x48xf32> into tensor<2x4x40x48xf32>
  %e = tensor.empty() : tensor<2x4x40x48xf32>
  %masked = linalg.generic {indexing_maps = [#all, #shared, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%apart, %mask : tensor<2x4x40x48xf32>, tensor<2x1x40x48xf32>) outs(%e : tensor<2x4x40x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x4x40x48xf32>
  %again = tensor.collapse_shape %masked [[0, 1], [2], [3]] : tensor<2x4x40x48xf32> into tensor<8x40x48xf32>
  %max = linalg.generic {indexing_maps = [#scores, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%again : tensor<8x40x48xf32>) outs(%low : tensor<8x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<8x40xf32>
  %less = linalg.generic {indexing_maps = [#scores, #rows, #scores], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%again, %max : tensor<8x40x48xf32>, tensor<8x40xf32>) outs(%zero : tensor<8x40x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x40x48xf32>
  %r = linalg.batch_matmul ins(%less, %v : tensor<8x40x48xf32>, tensor<8x48x32xf32>) outs(%out : tensor<8x40x32xf32>) -> tensor<8x40x32xf32>
  util.return %r : tensor<8x40x32xf32>
}

// A scale is the same for all: one dimension is as good.
// CHECK-LABEL: util.func @scaled
// CHECK: linalg.batch_matmul {{.*}} tensor<8x40x48xf32>
util.func @scaled(%q: tensor<8x40x32xf32>, %k: tensor<8x32x48xf32>, %zero: tensor<8x40x48xf32>) -> tensor<2x4x40x48xf32> {
  %s = linalg.batch_matmul ins(%q, %k : tensor<8x40x32xf32>, tensor<8x32x48xf32>) outs(%zero : tensor<8x40x48xf32>) -> tensor<8x40x48xf32>
  %apart = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 4, 40, 48] : tensor<8x40x48xf32> into tensor<2x4x40x48xf32>
  %e = tensor.empty() : tensor<2x4x40x48xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%apart : tensor<2x4x40x48xf32>) outs(%e : tensor<2x4x40x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<2x4x40x48xf32>
  util.return %r : tensor<2x4x40x48xf32>
}

// Keys that were written out for each of two heads, and turned.
// CHECK-LABEL: util.func @repeated
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x2x48x32xf32>) outs(%{{.*}} : tensor<1x2x2x48x32xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x2x32x48xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x2x2x40x32xf32>, tensor<1x2x2x32x48xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2], [3], [4]]
util.func @repeated(%q: tensor<4x40x32xf32>, %k: tensor<1x2x1x48x32xf32>, %zero: tensor<4x40x48xf32>) -> tensor<4x40x48xf32> {
  %e = tensor.empty() : tensor<1x2x2x48x32xf32>
  %each = linalg.generic {indexing_maps = [#spread, #wide], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<1x2x1x48x32xf32>) outs(%e : tensor<1x2x2x48x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x2x2x48x32xf32>
  %heads = tensor.collapse_shape %each [[0], [1, 2], [3], [4]] : tensor<1x2x2x48x32xf32> into tensor<1x4x48x32xf32>
  %et = tensor.empty() : tensor<1x4x32x48xf32>
  %turned = linalg.transpose ins(%heads : tensor<1x4x48x32xf32>) outs(%et : tensor<1x4x32x48xf32>) permutation = [0, 1, 3, 2]
  %keys = tensor.collapse_shape %turned [[0, 1], [2], [3]] : tensor<1x4x32x48xf32> into tensor<4x32x48xf32>
  %s = linalg.batch_matmul ins(%q, %keys : tensor<4x40x32xf32>, tensor<4x32x48xf32>) outs(%zero : tensor<4x40x48xf32>) -> tensor<4x40x48xf32>
  util.return %s : tensor<4x40x48xf32>
}

// Those are scaled before they are spread.
// CHECK-LABEL: util.func @repeated_scaled
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x48x32xf32>) outs(%{{.*}} : tensor<2x32x48xf32>)
// CHECK: arith.mulf
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x32x48xf32>) outs(%{{.*}} : tensor<2x2x32x48xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: linalg.yield
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x2x40x32xf32>, tensor<2x2x32x48xf32>)
util.func @repeated_scaled(%q: tensor<4x40x32xf32>, %k: tensor<2x48x32xf32>, %zero: tensor<4x40x48xf32>) -> tensor<4x40x48xf32> {
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<2x2x48x32xf32>
  %each = linalg.generic {indexing_maps = [affine_map<(g, j, n, d) -> (g, n, d)>, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x48x32xf32>) outs(%e : tensor<2x2x48x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x2x48x32xf32>
  %heads = tensor.collapse_shape %each [[0, 1], [2], [3]] : tensor<2x2x48x32xf32> into tensor<4x48x32xf32>
  %et = tensor.empty() : tensor<4x32x48xf32>
  %turned = linalg.transpose ins(%heads : tensor<4x48x32xf32>) outs(%et : tensor<4x32x48xf32>) permutation = [0, 2, 1]
  %keys = linalg.generic {indexing_maps = [#scores, #scores], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%turned : tensor<4x32x48xf32>) outs(%et : tensor<4x32x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %scale : f32
    linalg.yield %t : f32
  } -> tensor<4x32x48xf32>
  %s = linalg.batch_matmul ins(%q, %keys : tensor<4x40x32xf32>, tensor<4x32x48xf32>) outs(%zero : tensor<4x40x48xf32>) -> tensor<4x40x48xf32>
  util.return %s : tensor<4x40x48xf32>
}

// CHECK-LABEL: util.func @any_batches
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x4x40x32xf32>, tensor<?x4x32x48xf32>)
util.func @any_batches(%q: tensor<?x40x32xf32>, %k: tensor<?x32x48xf32>, %batch: index, %all: index) -> tensor<?x4x40x48xf32> {
  %f = arith.constant 0.0 : f32
  %e = tensor.empty(%all) : tensor<?x40x48xf32>
  %zero = linalg.fill ins(%f : f32) outs(%e : tensor<?x40x48xf32>) -> tensor<?x40x48xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<?x40x32xf32>, tensor<?x32x48xf32>) outs(%zero : tensor<?x40x48xf32>) -> tensor<?x40x48xf32>
  %apart = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [%batch, 4, 40, 48] : tensor<?x40x48xf32> into tensor<?x4x40x48xf32>
  %ea = tensor.empty(%batch) : tensor<?x4x40x48xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%apart : tensor<?x4x40x48xf32>) outs(%ea : tensor<?x4x40x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<?x4x40x48xf32>
  util.return %r : tensor<?x4x40x48xf32>
}
