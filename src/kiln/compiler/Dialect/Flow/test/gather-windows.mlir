// RUN: kiln-opt %s --kiln-flow-gather-windows --kiln-hal-target-backends=cuda | FileCheck %s
// RUN: kiln-opt %s --kiln-flow-gather-windows --kiln-hal-target-backends=llvm-cpu | FileCheck %s --check-prefix=CPU

// CPU-NOT: linalg.matmul

// A row for each pixel of the result, whose window is copied beside it; a column for each filter.
// CHECK: #[[WINDOWS:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3, d2 * 2 + d4, d5)>
// CHECK-LABEL: @strided
// CHECK: %[[WINDOWS_OF:.+]] = linalg.generic {indexing_maps = [#[[WINDOWS]], #{{.+}}]
// CHECK: -> tensor<2x5x5x3x3x8xf16>
// CHECK: %[[LHS:.+]] = tensor.collapse_shape %[[WINDOWS_OF]] {{\[\[}}0, 1, 2], [3, 4, 5]] : tensor<2x5x5x3x3x8xf16> into tensor<50x72xf16>
// CHECK: %[[RHS:.+]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1, 2], [3]] : tensor<3x3x8x16xf16> into tensor<72x16xf16>
// CHECK: %[[PRODUCT:.+]] = linalg.matmul ins(%[[LHS]], %[[RHS]] : tensor<50x72xf16>, tensor<72x16xf16>)
// CHECK: tensor.expand_shape %[[PRODUCT]]
util.func public @strided(%image: tensor<2x11x11x8xf16>, %filter: tensor<3x3x8x16xf16>) -> tensor<2x5x5x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x5x5x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x5x5x16xf32>) -> tensor<2x5x5x16xf32>
  %result = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%image, %filter : tensor<2x11x11x8xf16>, tensor<3x3x8x16xf16>) outs(%start : tensor<2x5x5x16xf32>) -> tensor<2x5x5x16xf32>
  util.return %result : tensor<2x5x5x16xf32>
}

// Windows of one pixel that is a row already; filters that lie otherwise are transposed.
// CHECK-LABEL: @pixels
// CHECK-NOT: linalg.generic
// CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1, 2], [3]] : tensor<1x6x6x8xf32> into tensor<36x8xf32>
// CHECK: linalg.transpose
// CHECK: linalg.matmul
util.func public @pixels(%image: tensor<1x6x6x8xf32>, %filter: tensor<4x1x1x8xf32>, %start: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32> {
  %result = linalg.conv_2d_nhwc_fhwc ins(%image, %filter : tensor<1x6x6x8xf32>, tensor<4x1x1x8xf32>) outs(%start : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  util.return %result : tensor<1x6x6x4xf32>
}

// Channels first, a filter for each channel, and extents of the call stay.
// CHECK-LABEL: @others
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc
// CHECK: linalg.conv_2d_nhwc_hwcf
util.func public @others(%first: tensor<1x8x6x6xf32>, %filter: tensor<4x8x3x3xf32>, %a: tensor<1x4x4x4xf32>, %image: tensor<1x6x6x8xf32>, %each: tensor<3x3x8xf32>, %b: tensor<1x4x4x8xf32>,
                         %any: tensor<?x6x6x8xf32>, %all: tensor<3x3x8x16xf32>, %c: tensor<?x4x4x16xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x8xf32>, tensor<?x4x4x16xf32>) {
  %0 = linalg.conv_2d_nchw_fchw ins(%first, %filter : tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) outs(%a : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %1 = linalg.depthwise_conv_2d_nhwc_hwc ins(%image, %each : tensor<1x6x6x8xf32>, tensor<3x3x8xf32>) outs(%b : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %2 = linalg.conv_2d_nhwc_hwcf ins(%any, %all : tensor<?x6x6x8xf32>, tensor<3x3x8x16xf32>) outs(%c : tensor<?x4x4x16xf32>) -> tensor<?x4x4x16xf32>
  util.return %0, %1, %2 : tensor<1x4x4x4xf32>, tensor<1x4x4x8xf32>, tensor<?x4x4x16xf32>
}
