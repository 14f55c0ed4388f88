// What the pass makes of each form; tests/compile/channels-last.test runs such programs.
// RUN: kiln-opt --kiln-flow-channels-last --kiln-hal-target-backends=llvm-cpu --split-input-file %s | FileCheck %s
// RUN: kiln-opt --kiln-flow-channels-last --kiln-hal-target-backends=llvm-cpu --kiln-opt-channels-last=false --split-input-file %s | FileCheck %s --check-prefix=OFF

// OFF-COUNT-4: linalg.conv_2d_nchw_fchw
// OFF-NOT: transpose

// Between two convolutions, and what is padded, added and clamped there, nothing is transposed. The image at the front has
// few channels, and is read as it lies.
// CHECK: #[[FEW:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d6, d1 + d4, d2 + d5)>
// CHECK-LABEL: func @two(
// CHECK-NOT: {{transpose ins\(%[a-z0-9_]+ : tensor<1x}}
// CHECK: linalg.generic {indexing_maps = [#[[FEW]], {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %{{.*}} : tensor<1x3x12x12xf32>, tensor<3x3x3x16xf32>) outs(%{{.*}} : tensor<1x10x10x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x10x10x16xf32>, tensor<16xf32>) outs(%{{.*}} : tensor<1x10x10x16xf32>)
// CHECK: tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x12x12x16xf32>, tensor<3x3x16x32xf32>) outs(%{{.*}} : tensor<1x10x10x32xf32>)
// CHECK: linalg.transpose ins(%{{.*}} : tensor<1x10x10x32xf32>) outs(%{{.*}} : tensor<1x32x10x10xf32>) permutation = [0, 3, 1, 2]
// CHECK-NEXT: return
func.func @two(%image: tensor<1x3x12x12xf32>) -> tensor<1x32x10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %first = flow.tensor.parameter #flow.parameter.named<"first"> : tensor<16x3x3x3xf32>
  %second = flow.tensor.parameter #flow.parameter.named<"second"> : tensor<32x16x3x3xf32>
  %bias = flow.tensor.parameter #flow.parameter.named<"bias"> : tensor<16xf32>
  %e0 = tensor.empty() : tensor<1x16x10x10xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x16x10x10xf32>) -> tensor<1x16x10x10xf32>
  %c0 = linalg.conv_2d_nchw_fchw ins(%image, %first : tensor<1x3x12x12xf32>, tensor<16x3x3x3xf32>) outs(%f0 : tensor<1x16x10x10xf32>) -> tensor<1x16x10x10xf32>
  %relu = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c0, %bias : tensor<1x16x10x10xf32>, tensor<16xf32>) outs(%e0 : tensor<1x16x10x10xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %sum = arith.addf %a, %b : f32
    %max = arith.maximumf %sum, %zero : f32
    linalg.yield %max : f32
  } -> tensor<1x16x10x10xf32>
  %padded = tensor.pad %relu low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x16x10x10xf32> to tensor<1x16x12x12xf32>
  %e1 = tensor.empty() : tensor<1x32x10x10xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x32x10x10xf32>) -> tensor<1x32x10x10xf32>
  %c1 = linalg.conv_2d_nchw_fchw ins(%padded, %second : tensor<1x16x12x12xf32>, tensor<32x16x3x3xf32>) outs(%f1 : tensor<1x32x10x10xf32>) -> tensor<1x32x10x10xf32>
  return %c1 : tensor<1x32x10x10xf32>
}

// -----

// Filters of single pixels are columns of a product, whose rows are all pixels; the mean of the image needs no transpose.
// CHECK-LABEL: func @pixels(
// CHECK: %[[ROWS:.+]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2], [3]] : tensor<2x7x7x16xf32> into tensor<98x16xf32>
// CHECK: linalg.matmul ins(%[[ROWS]], %{{.*}} : tensor<98x16xf32>, tensor<16x32xf32>)
// CHECK: tensor.expand_shape %{{.*}} : tensor<98x32xf32> into tensor<2x7x7x32xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x7x7x32xf32>) outs(%{{.*}} : tensor<2x32xf32>)
func.func @pixels(%image: tensor<2x16x7x7xf32>) -> tensor<2x32xf32> {
  %zero = arith.constant 0.0 : f32
  %filter = flow.tensor.parameter #flow.parameter.named<"filter"> : tensor<32x16x1x1xf32>
  %e = tensor.empty() : tensor<2x32x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<2x16x7x7xf32>, tensor<32x16x1x1xf32>) outs(%f : tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
  %e1 = tensor.empty() : tensor<2x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x32xf32>) -> tensor<2x32xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%c : tensor<2x32x7x7xf32>) outs(%f1 : tensor<2x32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<2x32xf32>
  return %sum : tensor<2x32xf32>
}

// -----

// Slices, concatenation, reshapes of neighbours, an image that is read by its indices, and filters of one channel each.
// CHECK-LABEL: func @moved(
// CHECK: linalg.transpose ins(%arg0 : tensor<1x16x8x8xf32>) outs(%{{.*}} : tensor<1x8x8x16xf32>) permutation = [0, 2, 3, 1]
// CHECK-NOT: {{transpose ins\(%[a-z0-9_]+ : tensor<1x}}
// CHECK: tensor.extract_slice %{{.*}}[0, 2, 2, 0] [1, 3, 3, 16] [1, 1, 2, 1]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0, 8] [1, 3, 3, 16] [1, 1, 1, 1]
// CHECK: %[[C:.+]] = linalg.index 3
// CHECK: %[[H:.+]] = linalg.index 1
// CHECK: %[[W:.+]] = linalg.index 2
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[H]], %[[W]], %[[C]]] : tensor<1x3x3x24xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x3x3x24xf32>, tensor<3x3x24xf32>) outs(%{{.*}} : tensor<1x1x1x24xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2], [3]] : tensor<1x3x3x24xf32> into tensor<1x9x24xf32>
// CHECK: linalg.transpose ins(%{{.*}} : tensor<1x9x24xf32>) outs(%{{.*}} : tensor<1x24x9xf32>) permutation = [0, 2, 1]
func.func @moved(%image: tensor<1x16x8x8xf32>) -> (tensor<1x24x1x1xf32>, tensor<1x24x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeroIndex = arith.constant 0 : index
  %filter = flow.tensor.parameter #flow.parameter.named<"filter"> : tensor<16x16x1x1xf32>
  %own = flow.tensor.parameter #flow.parameter.named<"own"> : tensor<24x3x3xf32>
  %e = tensor.empty() : tensor<1x16x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) outs(%f : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %slice = tensor.extract_slice %c[0, 0, 2, 2] [1, 16, 3, 3] [1, 1, 1, 2] : tensor<1x16x8x8xf32> to tensor<1x16x3x3xf32>
  %e1 = tensor.empty() : tensor<1x24x3x3xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x24x3x3xf32>) -> tensor<1x24x3x3xf32>
  %both = tensor.insert_slice %slice into %f1[0, 8, 0, 0] [1, 16, 3, 3] [1, 1, 1, 1] : tensor<1x16x3x3xf32> into tensor<1x24x3x3xf32>
  %read = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e1 : tensor<1x24x3x3xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %ch = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %element = tensor.extract %both[%n, %ch, %h, %w] : tensor<1x24x3x3xf32>
    linalg.yield %element : f32
  } -> tensor<1x24x3x3xf32>
  %e2 = tensor.empty() : tensor<1x24x1x1xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x24x1x1xf32>) -> tensor<1x24x1x1xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%read, %own : tensor<1x24x3x3xf32>, tensor<24x3x3xf32>) outs(%f2 : tensor<1x24x1x1xf32>) -> tensor<1x24x1x1xf32>
  %flat = tensor.collapse_shape %read [[0], [1], [2, 3]] : tensor<1x24x3x3xf32> into tensor<1x24x9xf32>
  return %d, %flat : tensor<1x24x1x1xf32>, tensor<1x24x9xf32>
}

// -----

// Where the filter is the caller's, a transpose in each call would cost more; and there is nothing to do for a program that
// has its channels last.
// CHECK-LABEL: func @given(
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK: linalg.conv_2d_nhwc_hwcf
// CHECK-NOT: transpose
func.func @given(%image: tensor<1x16x8x8xf32>, %filter: tensor<8x16x3x3xf32>, %last: tensor<1x8x8x16xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x6x6x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x16x8x8xf32>, tensor<8x16x3x3xf32>) outs(%f : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %kept = flow.tensor.parameter #flow.parameter.named<"kept"> : tensor<3x3x16x8xf32>
  %e1 = tensor.empty() : tensor<1x6x6x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>
  %c1 = linalg.conv_2d_nhwc_hwcf ins(%last, %kept : tensor<1x8x8x16xf32>, tensor<3x3x16x8xf32>) outs(%f1 : tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32>
  return %c, %c1 : tensor<1x8x6x6xf32>, tensor<1x6x6x8xf32>
}
