// RUN: kiln-opt %s --kiln-flow-fuse-elementwise --kiln-flow-form-dispatches | FileCheck %s
// RUN: kiln-opt %s --kiln-flow-form-dispatches --kiln-hal-target-backends=llvm-cpu | FileCheck %s --check-prefix=CPU

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// A matmul takes in the fill that starts it and the elementwise operations that follow it.
// CHECK-LABEL: util.func @matmul_bias_relu
// CHECK: flow.dispatch.region
// CHECK: linalg.fill
// CHECK: linalg.matmul
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: flow.return
// CHECK-NOT: flow.dispatch.region
util.func @matmul_bias_relu(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x4xf32>) -> tensor<8x4xf32>
  %mm = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  %biased = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%mm, %bias : tensor<8x4xf32>, tensor<4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%biased : tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.maximumf %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x4xf32>
  util.return %relu : tensor<8x4xf32>
}

// What two operations use is computed once, in a dispatch of its own.
// CHECK-LABEL: util.func @shared_producer
// CHECK: %[[P:.+]] = flow.dispatch.region
// CHECK: math.exp
// CHECK: flow.dispatch.region
// CHECK: linalg.matmul ins(%[[P]], %[[P]]
util.func @shared_producer(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %empty = tensor.empty() : tensor<8x8xf32>
  %p = linalg.exp ins(%a : tensor<8x8xf32>) outs(%empty : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm = linalg.matmul ins(%p, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  util.return %mm : tensor<8x8xf32>
}

// A fill that a matmul reads is memory that the matmul is given; an elementwise operation has its value folded in.
// CHECK-LABEL: util.func @fills_as_inputs
// CHECK: %[[ONES:.+]] = linalg.fill
// CHECK: flow.dispatch.region
// CHECK: %[[ZEROS:.+]] = linalg.fill
// CHECK: linalg.matmul ins(%{{.+}}, %[[ONES]] : {{.+}}) outs(%[[ZEROS]]
// CHECK: linalg.generic {{.+}} ins(%{{.+}} : tensor<?x?xf32>) outs
util.func @fills_as_inputs(%a: tensor<?x?xf32>, %m: index, %k: index) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ek = tensor.empty(%k, %m) : tensor<?x?xf32>
  %em = tensor.empty(%m, %m) : tensor<?x?xf32>
  %ones = linalg.fill ins(%one : f32) outs(%ek : tensor<?x?xf32>) -> tensor<?x?xf32>
  %halves = linalg.fill ins(%one : f32) outs(%em : tensor<?x?xf32>) -> tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%em : tensor<?x?xf32>) -> tensor<?x?xf32>
  %mm = linalg.matmul ins(%a, %ones : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%mm, %halves : tensor<?x?xf32>, tensor<?x?xf32>) outs(%em : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  util.return %r : tensor<?x?xf32>
}

// Workgroups of a pool read other channels and lines, and lay out the padding of those on a CPU; those of a convolution whose
// filters have all channels would do it again for each block of filters.
// CHECK-LABEL: util.func @padding
// CHECK-COUNT-4: flow.dispatch.region
// CPU-LABEL: util.func @padding
// CPU: flow.dispatch.region
// CPU: tensor.pad
// CPU: linalg.pooling_nhwc_sum
// CPU: flow.dispatch.region
// CPU: tensor.pad
// CPU: flow.return
// CPU: flow.dispatch.region
// CPU: linalg.conv_2d_nhwc_hwcf
// CPU-NOT: flow.dispatch.region
util.func @padding(%x: tensor<1x8x8x4xf32>, %f: tensor<3x3x4x16xf32>) -> (tensor<1x8x8x4xf32>, tensor<1x8x8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x8x8x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %sums = linalg.pooling_nhwc_sum ins(%padded, %window : tensor<1x10x10x4xf32>, tensor<3x3xf32>) outs(%init : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %again = tensor.pad %sums low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
  %e2 = tensor.empty() : tensor<1x8x8x16xf32>
  %init2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%again, %f : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>) outs(%init2 : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  util.return %sums, %c : tensor<1x8x8x4xf32>, tensor<1x8x8x16xf32>
}

// A product whose result is a part of another tensor is stored there, and so is an elementwise operation's.
// CPU-LABEL: @into_parts
// CHECK-LABEL: @into_parts
// CHECK: flow.dispatch.region
// CHECK: linalg.matmul
// CHECK: tensor.insert_slice
// CHECK: flow.dispatch.region
// CHECK: linalg.generic
// CHECK: tensor.insert_slice
// CHECK-NOT: flow.dispatch.region
util.func public @into_parts(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>, %x: tensor<8x32xf32>, %all: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x32xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
  %product = linalg.matmul ins(%a, %b : tensor<8x16xf32>, tensor<16x32xf32>) outs(%fill : tensor<8x32xf32>) -> tensor<8x32xf32>
  %first = tensor.insert_slice %product into %all[0, 0] [8, 32] [1, 1] : tensor<8x32xf32> into tensor<8x64xf32>
  %exp = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x32xf32>) outs(%empty : tensor<8x32xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = math.exp %e : f32
    linalg.yield %r : f32
  } -> tensor<8x32xf32>
  %second = tensor.insert_slice %exp into %first[0, 32] [8, 32] [1, 1] : tensor<8x32xf32> into tensor<8x64xf32>
  util.return %second : tensor<8x64xf32>
}
