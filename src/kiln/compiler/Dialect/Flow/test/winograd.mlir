// RUN: kiln-opt --kiln-flow-winograd --kiln-flow-normalize-ops --kiln-flow-fuse-elementwise --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell %s | FileCheck %s
// RUN: kiln-opt --kiln-flow-winograd --kiln-hal-target-backends=llvm-cpu --kiln-opt-winograd=false %s | FileCheck %s --check-prefix=NOT
// RUN: kiln-opt --kiln-flow-winograd --kiln-hal-target-backends=cuda %s | FileCheck %s --check-prefix=NOT
// NOT-COUNT-6: linalg.conv_2d_nhwc_hwcf

// Filters in panels of 16; tiles of the image, their products with filters, and results of tiles with all that is computed of
// those.
// CHECK-LABEL: util.func public @tiles
util.func public @tiles(%x: tensor<1x30x30x64xf32>, %r: tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32> {
  // CHECK: %[[F:.*]] = tensor.expand_shape %{{.*}} into tensor<3x3x64x4x16xf32>
  // CHECK: %[[W:.*]] = linalg.generic {{.*}}"reduction", "reduction"]} ins(%{{.*}}, %[[F]] : tensor<36x3x3xf32>, tensor<3x3x64x4x16xf32>) {{.*}}tensor<36x4x64x16xf32>
  // CHECK: linalg.generic {{.*}}ins(%{{.*}}, %arg0 : tensor<36x6x6xf32>, tensor<1x30x30x64xf32>) outs(%{{.*}} : tensor<36x1x7x7x64xf32>)
  // CHECK: linalg.generic {{.*}}ins(%{{.*}}, %[[W]] : tensor<36x49x64xf32>, tensor<36x4x64x16xf32>) outs(%{{.*}} : tensor<36x49x4x16xf32>)
  // CHECK: linalg.generic {{.*}}ins(%{{.*}} : tensor<4x4x36xf32>, tensor<36x1x7x7x64xf32>) outs(%{{.*}} : tensor<1x7x4x7x4x64xf32>)
  // CHECK: %[[R:.*]] = tensor.expand_shape %arg1 {{.*}} into tensor<1x7x4x7x4x64xf32>
  // CHECK: linalg.generic {{.*}}ins(%{{.*}}, %[[R]] : tensor<1x7x4x7x4x64xf32>, tensor<1x7x4x7x4x64xf32>)
  // CHECK: arith.addf
  // CHECK: arith.maximumf
  // CHECK-NOT: linalg.generic
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<3x3x64x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x28x28x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x30x30x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %r : tensor<1x28x28x64xf32>, tensor<1x28x28x64xf32>) outs(%e : tensor<1x28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %t = arith.maximumf %s, %zero : f32
    linalg.yield %t : f32
  } -> tensor<1x28x28x64xf32>
  util.return %y : tensor<1x28x28x64xf32>
}

// Tiles that reach over the end read zeros there, and what they have too much is cut off.
// CHECK-LABEL: util.func public @over_the_end
// CHECK: tensor.pad %arg0 low[0, 1, 1, 0] high[0, 2, 4, 0]
// CHECK: linalg.generic {{.*}}tensor<36x1x6x8x64xf32>
// CHECK: tensor.extract_slice {{.*}} [1, 23, 29, 64] [1, 1, 1, 1] : tensor<1x24x32x64xf32> to tensor<1x23x29x64xf32>
util.func public @over_the_end(%x: tensor<1x23x29x64xf32>) -> tensor<1x23x29x64xf32> {
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<3x3x64x64xf32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %v: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x23x29x64xf32> to tensor<1x25x31x64xf32>
  %e = tensor.empty() : tensor<1x23x29x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x23x29x64xf32>) -> tensor<1x23x29x64xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x25x31x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x23x29x64xf32>) -> tensor<1x23x29x64xf32>
  util.return %y : tensor<1x23x29x64xf32>
}

// Strides, filters of the call, and few channels.
// CHECK-LABEL: util.func public @not
// CHECK-COUNT-3: linalg.conv_2d_nhwc_hwcf
util.func public @not(%x: tensor<1x30x30x64xf32>, %v: tensor<3x3x64x64xf32>, %n: tensor<1x30x30x8xf32>)
    -> (tensor<1x14x14x64xf32>, tensor<1x28x28x64xf32>, tensor<1x28x28x64xf32>) {
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<3x3x64x64xf32>
  %u = flow.tensor.parameter #flow.parameter.named<"u"> : tensor<3x3x8x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x14x14x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x30x30x64xf32>, tensor<3x3x64x64xf32>)
      outs(%f : tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %g = tensor.empty() : tensor<1x28x28x64xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %1 = linalg.conv_2d_nhwc_hwcf ins(%x, %v : tensor<1x30x30x64xf32>, tensor<3x3x64x64xf32>) outs(%h : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %2 = linalg.conv_2d_nhwc_hwcf ins(%n, %u : tensor<1x30x30x8xf32>, tensor<3x3x8x64xf32>) outs(%h : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  util.return %0, %1, %2 : tensor<1x14x14x64xf32>, tensor<1x28x28x64xf32>, tensor<1x28x28x64xf32>
}

// What is added behind what is added, and is no constant, is reshaped to tiles, and stays so.
// CHECK-LABEL: util.func public @sums
// CHECK: linalg.generic {{.*}}outs(%{{.*}} : tensor<1x7x4x7x4x64xf32>)
// CHECK: linalg.generic {{.*}}outs(%{{.*}} : tensor<1x7x4x7x4x64xf32>)
// CHECK: tensor.collapse_shape {{.*}} : tensor<1x7x4x7x4x64xf32> into tensor<1x28x28x64xf32>
util.func public @sums(%x: tensor<1x30x30x64xf32>, %r: tensor<1x28x28x64xf32>) -> (tensor<1x28x28x64xf32>, tensor<1x28x28x64xf32>) {
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<3x3x64x64xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x28x28x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x30x30x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %p = linalg.abs ins(%r : tensor<1x28x28x64xf32>) outs(%e : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %y = linalg.exp ins(%c : tensor<1x28x28x64xf32>) outs(%e : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  %z = linalg.add ins(%y, %p : tensor<1x28x28x64xf32>, tensor<1x28x28x64xf32>) outs(%e : tensor<1x28x28x64xf32>) -> tensor<1x28x28x64xf32>
  util.return %y, %z : tensor<1x28x28x64xf32>, tensor<1x28x28x64xf32>
}
