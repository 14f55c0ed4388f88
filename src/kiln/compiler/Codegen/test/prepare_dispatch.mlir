// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-codegen-prepare-dispatch))' | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// Elementwise work on whole bindings becomes one-dimensional, dynamic extents included.
// CHECK-LABEL: func.func @collapse()
// CHECK:         %[[SIZE:.+]] = affine.apply #{{.+}}()[%{{.+}}]
// CHECK:         hal.interface.binding.subspan binding(0) <readonly> : memref<?xf32>{%[[SIZE]]}
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK:         materialize_in_destination {{.*}} : (tensor<?xf32>, memref<?xf32>)
func.func @collapse() {
  %n = hal.interface.constant.load[0] : index
  %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<?x7xf32>{%n}
  %a = bufferization.to_tensor %0 restrict : memref<?x7xf32> to tensor<?x7xf32>
  %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<?x7xf32>{%n}
  %e = tensor.empty(%n) : tensor<?x7xf32>
  %x = linalg.exp ins(%a : tensor<?x7xf32>) outs(%e : tensor<?x7xf32>) -> tensor<?x7xf32>
  bufferization.materialize_in_destination %x in restrict writable %1 : (tensor<?x7xf32>, memref<?x7xf32>) -> ()
  return
}

// Dimensions that an operand has in another order stay.
// CHECK-LABEL: func.func @transpose()
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
func.func @transpose() {
  %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8x7xf32>
  %a = bufferization.to_tensor %0 restrict : memref<8x7xf32> to tensor<8x7xf32>
  %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<7x8xf32>
  %e = tensor.empty() : tensor<7x8xf32>
  %x = linalg.generic {indexing_maps = [#transposed, #map], iterator_types = ["parallel", "parallel"]}
    ins(%a : tensor<8x7xf32>) outs(%e : tensor<7x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<7x8xf32>
  bufferization.materialize_in_destination %x in restrict writable %1 : (tensor<7x8xf32>, memref<7x8xf32>) -> ()
  return
}

// A matmul that adds to a tensor that it must not write adds to a copy, which can be tiled with it.
// CHECK-LABEL: func.func @accumulate()
// CHECK:         %[[C:.+]] = bufferization.to_tensor
// CHECK:         %[[EMPTY:.+]] = tensor.empty() : tensor<8x8xf32>
// CHECK:         %[[COPY:.+]] = linalg.copy ins(%[[C]] : tensor<8x8xf32>) outs(%[[EMPTY]] : tensor<8x8xf32>)
// CHECK:         linalg.matmul {{.*}} outs(%[[COPY]] : tensor<8x8xf32>)
func.func @accumulate() {
  %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8x8xf32>
  %a = bufferization.to_tensor %0 restrict : memref<8x8xf32> to tensor<8x8xf32>
  %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<8x8xf32>
  %x = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
  bufferization.materialize_in_destination %x in restrict writable %1 : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}

// What is stored without being computed is copied.
// CHECK-LABEL: func.func @slice()
// CHECK:         %[[SLICE:.+]] = tensor.extract_slice
// CHECK:         %[[COPY:.+]] = linalg.copy ins(%[[SLICE]]
// CHECK:         bufferization.materialize_in_destination %[[COPY]]
func.func @slice() {
  %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8x8xf32>
  %a = bufferization.to_tensor %0 restrict : memref<8x8xf32> to tensor<8x8xf32>
  %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<2x3xf32>
  %x = tensor.extract_slice %a[4, 5] [2, 3] [1, 1] : tensor<8x8xf32> to tensor<2x3xf32>
  bufferization.materialize_in_destination %x in restrict writable %1 : (tensor<2x3xf32>, memref<2x3xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @splat()
// CHECK-NOT:     tensor.splat
// CHECK:         linalg.fill
func.func @splat() {
  %x = arith.constant 1.0 : f32
  %0 = hal.interface.binding.subspan binding(0) <writeonly> : memref<8x7xf32>
  %s = tensor.splat %x : tensor<8x7xf32>
  bufferization.materialize_in_destination %s in restrict writable %0 : (tensor<8x7xf32>, memref<8x7xf32>) -> ()
  return
}

// Narrow floats are summed up in f32, their products too, and rounded once.
// CHECK-LABEL: func.func @narrow()
// CHECK:         %[[SUMS:.+]] = linalg.fill {{.*}} -> tensor<8x8xf32>
// CHECK:         %[[WIDE:.+]] = linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<8x4xbf16>, tensor<4x8xbf16>) outs(%[[SUMS]] : tensor<8x8xf32>)
// CHECK:           arith.mulf {{.*}} : f32
// CHECK:           arith.addf {{.*}} : f32
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]] : tensor<8x8xf32>)
// CHECK:           arith.truncf {{.*}} : f32 to bf16
func.func @narrow() {
  %zero = arith.constant 0.0 : bf16
  %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8x4xbf16>
  %a = bufferization.to_tensor %0 restrict : memref<8x4xbf16> to tensor<8x4xbf16>
  %1 = hal.interface.binding.subspan binding(1) <readonly> : memref<4x8xbf16>
  %b = bufferization.to_tensor %1 restrict : memref<4x8xbf16> to tensor<4x8xbf16>
  %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<8x8xbf16>
  %e = tensor.empty() : tensor<8x8xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %x = linalg.matmul ins(%a, %b : tensor<8x4xbf16>, tensor<4x8xbf16>) outs(%f : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  bufferization.materialize_in_destination %x in restrict writable %2 : (tensor<8x8xbf16>, memref<8x8xbf16>) -> ()
  return
}

// So is each sum of several reductions of the same elements; the smallest element stays as it is.
// CHECK-LABEL: func.func @narrow_reductions()
// CHECK:         %{{.+}}:3 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%{{.+}}, %{{.+}}, %{{.+}} : tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>)
// CHECK:         ^bb0(%[[A:.+]]: bf16, %[[SUM:.+]]: f32, %[[LEAST:.+]]: bf16, %[[SQUARES:.+]]: f32):
// CHECK:           %[[NEXT_LEAST:.+]] = arith.minimumf %[[A]], %[[LEAST]] : bf16
// CHECK:           %[[WIDE:.+]] = arith.extf %[[A]] : bf16 to f32
// CHECK:           %[[NEXT_SUM:.+]] = arith.addf %[[SUM]], %[[WIDE]] : f32
// CHECK:           %[[SQUARE:.+]] = arith.mulf {{.*}} : f32
// CHECK:           %[[NEXT_SQUARES:.+]] = arith.addf %[[SQUARES]], %[[SQUARE]] : f32
// CHECK:           linalg.yield %[[NEXT_SUM]], %[[NEXT_LEAST]], %[[NEXT_SQUARES]] : f32, bf16, f32
// CHECK:           %{{.+}}:2 = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%{{.+}}#0, %{{.+}}#2 : tensor<8xf32>, tensor<8xf32>)
// CHECK:           %[[FIRST:.+]] = arith.truncf {{.*}} : f32 to bf16
// CHECK-NEXT:      %[[SECOND:.+]] = arith.truncf {{.*}} : f32 to bf16
// CHECK-NEXT:      linalg.yield %[[FIRST]], %[[SECOND]]
func.func @narrow_reductions() {
  %zero = arith.constant 0.0 : bf16
  %large = arith.constant 0x7F80 : bf16
  %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8x4xbf16>
  %a = bufferization.to_tensor %0 restrict : memref<8x4xbf16> to tensor<8x4xbf16>
  %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<8xbf16>
  %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<8xbf16>
  %3 = hal.interface.binding.subspan binding(3) <writeonly> : memref<8xbf16>
  %e = tensor.empty() : tensor<8xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<8xbf16>) -> tensor<8xbf16>
  %l = linalg.fill ins(%large : bf16) outs(%e : tensor<8xbf16>) -> tensor<8xbf16>
  %x:3 = linalg.generic {
    indexing_maps = [#map, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%a : tensor<8x4xbf16>) outs(%f, %l, %f : tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>) {
  ^bb0(%in: bf16, %sum: bf16, %least: bf16, %squares: bf16):
    %s = arith.addf %sum, %in : bf16
    %m = arith.minimumf %in, %least : bf16
    %p = arith.mulf %in, %in : bf16
    %q = arith.addf %p, %squares : bf16
    linalg.yield %s, %m, %q : bf16, bf16, bf16
  } -> (tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>)
  bufferization.materialize_in_destination %x#0 in restrict writable %1 : (tensor<8xbf16>, memref<8xbf16>) -> ()
  bufferization.materialize_in_destination %x#1 in restrict writable %2 : (tensor<8xbf16>, memref<8xbf16>) -> ()
  bufferization.materialize_in_destination %x#2 in restrict writable %3 : (tensor<8xbf16>, memref<8xbf16>) -> ()
  return
}

// Sums that the program itself rounds at each step are left as they are.
// CHECK-LABEL: func.func @rounded_each_step()
// CHECK:         linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<8x4xf16>, tensor<4x8xf16>) outs(%{{.+}} : tensor<8x8xf16>)
// CHECK:           arith.addf {{.*}} : f32
// CHECK:           arith.truncf {{.*}} : f32 to f16
// CHECK-NOT:     linalg.generic
func.func @rounded_each_step() {
  %zero = arith.constant 0.0 : f16
  %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8x4xf16>
  %a = bufferization.to_tensor %0 restrict : memref<8x4xf16> to tensor<8x4xf16>
  %1 = hal.interface.binding.subspan binding(1) <readonly> : memref<4x8xf16>
  %b = bufferization.to_tensor %1 restrict : memref<4x8xf16> to tensor<4x8xf16>
  %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<8x8xf16>
  %e = tensor.empty() : tensor<8x8xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<8x8xf16>) -> tensor<8x8xf16>
  %x = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<8x4xf16>, tensor<4x8xf16>) outs(%f : tensor<8x8xf16>) {
  ^bb0(%l: f16, %r: f16, %sum: f16):
    %wl = arith.extf %l : f16 to f32
    %wr = arith.extf %r : f16 to f32
    %ws = arith.extf %sum : f16 to f32
    %product = arith.mulf %wl, %wr : f32
    %next = arith.addf %ws, %product : f32
    %rounded = arith.truncf %next : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<8x8xf16>
  bufferization.materialize_in_destination %x in restrict writable %2 : (tensor<8x8xf16>, memref<8x8xf16>) -> ()
  return
}

// What the diagonal goes into is read again, so that the operation gets a copy of it; it needs all of what was there.
// CHECK-LABEL: func.func @diagonal(
// CHECK:         %[[FILL:.+]] = linalg.fill
// CHECK:         %[[COPY:.+]] = linalg.copy ins(%[[FILL]] :
// CHECK:         linalg.generic {{.*}} outs(%[[COPY]] :
func.func @diagonal(%x: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%f : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %r, %f : tensor<4x4xf32>, tensor<4x4xf32>
}
