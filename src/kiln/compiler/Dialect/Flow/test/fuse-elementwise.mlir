// RUN: kiln-opt %s --kiln-flow-fuse-elementwise | FileCheck %s

#e = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>

// What has one use is computed where it is used, in a reduction as well.
// CHECK-LABEL: util.func @into_reduction
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
util.func @into_reduction(%x: tensor<4x8xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %u = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%u : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  util.return %s : tensor<4xf32>
}

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// A product would compute each element of its input again for each column, but not where there are few; and where it is only made wider, it
// is read as it is.
// CHECK-LABEL: util.func @before_product
// CHECK: %[[U:.+]] = linalg.generic
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.+}} ins(%[[U]], %{{.+}} : tensor<64x64xf16>, tensor<64x64xf16>)
// CHECK-NOT: arith.maximumf
util.func @before_product(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x64xf16>
  %u = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) {
  ^bb0(%a: f16, %o: f16):
    %0 = arith.maximumf %a, %zero : f16
    linalg.yield %0 : f16
  } -> tensor<64x64xf16>
  %s = linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%u, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%z : tensor<64x64xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x64xf32>
  util.return %s : tensor<64x64xf32>
}

// CHECK-LABEL: util.func @into_product
// CHECK: linalg.generic
// CHECK: arith.maximumf
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK-LABEL: util.func @wider
util.func @into_product(%x: tensor<64x64xf16>, %y: tensor<64x4xf16>, %z: tensor<64x4xf16>) -> tensor<64x4xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x64xf16>
  %u = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) {
  ^bb0(%a: f16, %o: f16):
    %0 = arith.maximumf %a, %zero : f16
    linalg.yield %0 : f16
  } -> tensor<64x64xf16>
  %s = linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%u, %y : tensor<64x64xf16>, tensor<64x4xf16>) outs(%z : tensor<64x4xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %0 = arith.mulf %a, %b : f16
    %1 = arith.addf %o, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<64x4xf16>
  util.return %s : tensor<64x4xf16>
}

// CHECK: linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<64x64xf16>, tensor<64x64xf32>)
// CHECK: arith.extf
// CHECK: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK-LABEL: util.func @updated
util.func @wider(%x: tensor<64x64xf16>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %u = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%u, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x64xf32>
  util.return %s : tensor<64x64xf32>
}

// An update would stay a result of the reduction, which would write it again and again.
// CHECK: %[[U:.+]] = linalg.generic
// CHECK: linalg.generic {{.+}} ins(%[[U]] : tensor<4x8xf32>)
util.func @updated(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %u = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%u : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  util.return %s : tensor<4xf32>
}

// So does a broadcast.
// CHECK-LABEL: util.func @broadcast
// CHECK: %[[U:.+]] = linalg.generic
// CHECK: linalg.generic {{.+}} ins(%[[U]] : tensor<f32>)
util.func @broadcast(%x: tensor<f32>, %y: tensor<f32>) -> tensor<5xf32> {
  %u = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%x : tensor<f32>) outs(%y : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.broadcast ins(%u : tensor<f32>) outs(%e : tensor<5xf32>) dimensions = [0]
  util.return %r : tensor<5xf32>
}

// A constant that is only transposed is transposed now; one that is read as it is, too, would be held twice.
// CHECK-LABEL: util.func @moved_constant
// CHECK: %[[MOVED:.+]] = arith.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>
// CHECK-NOT: linalg.generic
// CHECK: linalg.matmul ins(%arg0, %[[MOVED]] :
util.func @moved_constant(%x: tensor<4x3xf32>, %z: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%c : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<4x3xf32>, tensor<3x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  util.return %r : tensor<4x2xf32>
}
// CHECK-LABEL: util.func @shared_constant
// CHECK: arith.constant dense<{{.*}}> : tensor<2x3xf32>
// CHECK: linalg.generic
// CHECK: linalg.matmul
util.func @shared_constant(%x: tensor<4x3xf32>, %z: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x3xf32>) {
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%c : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<4x3xf32>, tensor<3x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  util.return %r, %c : tensor<4x2xf32>, tensor<2x3xf32>
}

// A difference is computed for each of two, which loads no more than storing it would take.
// CHECK-LABEL: util.func @repeated
// CHECK: linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x8xf32>) outs(%{{.+}} : tensor<4xf32>)
// CHECK: arith.subf
// CHECK: linalg.generic {{.+}} ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x8xf32>) outs(%{{.+}} : tensor<4x8xf32>)
// CHECK: arith.subf
// CHECK: math.exp
// CHECK-NOT: linalg.generic
util.func @repeated(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %u = linalg.sub ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%u : tensor<4x8xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  %p = linalg.exp ins(%u : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  util.return %s, %p : tensor<4xf32>, tensor<4x8xf32>
}

// For four that would load more.
// CHECK-LABEL: util.func @used_too_often
// CHECK-COUNT-1: arith.subf
// CHECK-NOT: arith.subf
util.func @used_too_often(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %u = linalg.sub ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = linalg.abs ins(%u : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = linalg.exp ins(%u : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = linalg.square ins(%u : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = linalg.negf ins(%u : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  util.return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// A sine costs more than memory does.
// CHECK-LABEL: util.func @costly
// CHECK-COUNT-1: math.sin
// CHECK-NOT: math.sin
util.func @costly(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.sin %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %a = linalg.abs ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = linalg.exp ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  util.return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// An extent that is a constant: the empty tensor becomes a cast of one of known extents, and stays so.
// CHECK-LABEL: util.func @constant_extent
// CHECK: %[[E:.+]] = tensor.empty() : tensor<5x4xi8>
// CHECK: %[[C:.+]] = tensor.cast %[[E]] : tensor<5x4xi8> to tensor<?x4xi8>
// CHECK: linalg.generic {{.*}} outs(%[[C]] : tensor<?x4xi8>)
util.func @constant_extent(%x: tensor<?xi8>) -> tensor<?x4xi8> {
  %c5 = arith.constant 5 : index
  %0 = tensor.empty(%c5) : tensor<?x4xi8>
  %1 = linalg.generic {indexing_maps = [#r, #e], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?xi8>) outs(%0 : tensor<?x4xi8>) {
  ^bb0(%in: i8, %out: i8):
    %2 = linalg.index 1 : index
    %3 = arith.index_cast %2 : index to i8
    %4 = arith.shrui %in, %3 : i8
    linalg.yield %4 : i8
  } -> tensor<?x4xi8>
  util.return %1 : tensor<?x4xi8>
}

// The weights of one row are made wider where they are used; what becomes of the row itself would be computed for each column.
// CHECK-LABEL: util.func @one_row
// CHECK: %[[ROW:.+]] = linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}, "reduction"]} ins(%[[ROW]], %{{.*}} : tensor<1x128xf32>, tensor<128x256xi8>)
// CHECK: arith.sitofp
// CHECK-NOT: linalg.matmul
util.func @one_row(%a: tensor<1x128xf32>, %w: tensor<128x256xi8>, %init: tensor<1x256xf32>) -> tensor<1x256xf32> {
  %ea = tensor.empty() : tensor<1x128xf32>
  %x = linalg.exp ins(%a : tensor<1x128xf32>) outs(%ea : tensor<1x128xf32>) -> tensor<1x128xf32>
  %ew = tensor.empty() : tensor<128x256xf32>
  %d = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<128x256xi8>) outs(%ew : tensor<128x256xf32>) {
  ^bb0(%i: i8, %o: f32):
    %0 = arith.sitofp %i : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<128x256xf32>
  %r = linalg.matmul ins(%x, %d : tensor<1x128xf32>, tensor<128x256xf32>) outs(%init : tensor<1x256xf32>) -> tensor<1x256xf32>
  util.return %r : tensor<1x256xf32>
}

// Of two rows, each would be computed twice, which targets have to allow.
// CHECK-LABEL: util.func @two_rows
// CHECK: linalg.generic
// CHECK: linalg.matmul
util.func @two_rows(%a: tensor<2x128xf32>, %w: tensor<128x256xi8>, %init: tensor<2x256xf32>) -> tensor<2x256xf32> {
  %ew = tensor.empty() : tensor<128x256xf32>
  %d = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<128x256xi8>) outs(%ew : tensor<128x256xf32>) {
  ^bb0(%i: i8, %o: f32):
    %0 = arith.sitofp %i : i8 to f32
    linalg.yield %0 : f32
  } -> tensor<128x256xf32>
  %r = linalg.matmul ins(%a, %d : tensor<2x128xf32>, tensor<128x256xf32>) outs(%init : tensor<2x256xf32>) -> tensor<2x256xf32>
  util.return %r : tensor<2x256xf32>
}

// Constants that all become part of the body, which folds.
// CHECK-LABEL: util.func @constant_body
// CHECK-NOT: arith.remui
// CHECK: util.return
#none = affine_map<() -> ()>
util.func @constant_body() -> tensor<i8> {
  %cst = arith.constant dense<-82> : tensor<i8>
  %c2 = arith.constant 2 : i8
  %e = tensor.empty() : tensor<i8>
  %r = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []} ins(%cst, %cst : tensor<i8>, tensor<i8>) outs(%e : tensor<i8>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %0 = arith.remui %a, %c2 : i8
    %1 = arith.addi %0, %b : i8
    linalg.yield %1 : i8
  } -> tensor<i8>
  util.return %r : tensor<i8>
}

// An elementwise operation that starts from a value is taken in whole: what it stored is no result of the other.

// CHECK-LABEL: util.func public @starts_from_a_value
// CHECK:         %[[R:.+]] = linalg.generic
// CHECK-SAME:      ins(%arg0 : tensor<?xf32>) outs(%arg1 : tensor<?xf32>)
// CHECK-NEXT:    ^bb0(%{{.+}}: f32, %{{.+}}: f32):
// CHECK:         } -> tensor<?xf32>
// CHECK-NEXT:    util.return %[[R]]
#same = affine_map<(i) -> (i)>
#second = affine_map<(i) -> (i * 2 + 1)>
util.func public @starts_from_a_value(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %four = arith.constant 4.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%four : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#same, #second], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  util.return %r : tensor<?xf32>
}

// What is computed of a product under another shape is computed in the product's, and reshaped behind.
// CHECK-LABEL: util.func public @reshaped_behind
// CHECK: %[[P:.*]] = linalg.matmul
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: ins(%[[P]], %{{.*}} : tensor<4x8xf32>, tensor<8xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[R]] {{.*}} : tensor<4x8xf32> into tensor<1x4x8xf32>
// CHECK: util.return %[[E]]
util.func public @reshaped_behind(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<1x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %wide = tensor.expand_shape %p [[0, 1], [2]] output_shape [1, 4, 8] : tensor<4x8xf32> into tensor<1x4x8xf32>
  %o = tensor.empty() : tensor<1x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wide, %b : tensor<1x4x8xf32>, tensor<8xf32>) outs(%o : tensor<1x4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %u: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x8xf32>
  util.return %r : tensor<1x4x8xf32>
}

// What is broadcast has no dimension for it. One for a loop of one turn stays beside that of the next loop, with which it may
// become one, and where a reduction's own loop is known by the input alone.
// CHECK-LABEL: func @broadcast_dims(
// CHECK: %[[A:.+]] = tensor.collapse_shape %arg1 {{\[}}[0], [1, 2]] : tensor<1x8x1xf32> into tensor<1x8xf32>
// CHECK: %[[B:.+]] = tensor.collapse_shape %arg2 [] : tensor<1x1x1xf32> into tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[A]], %[[B]] : tensor<1x8x4xf32>, tensor<1x8xf32>, tensor<f32>)
func.func @broadcast_dims(%x: tensor<1x8x4xf32>, %a: tensor<1x8x1xf32>, %b: tensor<1x1x1xf32>) -> tensor<1x8x4xf32> {
  %e = tensor.empty() : tensor<1x8x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, w) -> (n, c, w)>, affine_map<(n, c, w) -> (n, c, 0)>, affine_map<(n, c, w) -> (0, 0, 0)>, affine_map<(n, c, w) -> (n, c, w)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %a, %b : tensor<1x8x4xf32>, tensor<1x8x1xf32>, tensor<1x1x1xf32>) outs(%e : tensor<1x8x4xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32, %out: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %0, %s : f32
    linalg.yield %1 : f32
  } -> tensor<1x8x4xf32>
  return %r : tensor<1x8x4xf32>
}

// CHECK-LABEL: func.func @window_of_one(
// CHECK: tensor.collapse_shape %arg1 {{\[}}[0, 1]] : tensor<1x1xf32> into tensor<1xf32>
func.func @window_of_one(%x: tensor<5xf32>, %window: tensor<1x1xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(w, k) -> (w + k)>, affine_map<(w, k) -> (0, k)>, affine_map<(w, k) -> (w)>], iterator_types = ["parallel", "reduction"]} ins(%x, %window : tensor<5xf32>, tensor<1x1xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// CHECK-LABEL: func.func @channels_last(
// CHECK: tensor.collapse_shape %arg1 {{\[}}[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
func.func @channels_last(%x: tensor<1x4x8xf32>, %a: tensor<1x8xf32>) -> tensor<1x4x8xf32> {
  %e = tensor.empty() : tensor<1x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, w, c) -> (n, w, c)>, affine_map<(n, w, c) -> (n, c)>, affine_map<(n, w, c) -> (n, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %a : tensor<1x4x8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<1x4x8xf32>
  return %r : tensor<1x4x8xf32>
}

// Elementwise operations read the parts of a tensor that is cut along its last dimension where they are.
// CHECK-LABEL: util.func @gate
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[PARTS:.+]] = tensor.expand_shape %arg0 {{\[\[}}0], [1, 2]] output_shape [4, 3, 8]
// CHECK: linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<4x3x8xf32>, tensor<4x3x8xf32>) outs(%{{.+}} : tensor<4x8xf32>)
// CHECK-NOT: linalg.generic
// CHECK: util.return
util.func @gate(%x: tensor<4x24xf32>) -> tensor<4x8xf32> {
  %a = tensor.extract_slice %x[0, 8] [4, 8] [1, 1] : tensor<4x24xf32> to tensor<4x8xf32>
  %b = tensor.extract_slice %x[0, 16] [4, 8] [1, 1] : tensor<4x24xf32> to tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %t = linalg.exp ins(%b : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.mul ins(%a, %t : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  util.return %r : tensor<4x8xf32>
}

// An element that is taken out stays as it is.
// CHECK-LABEL: util.func @element
// CHECK: tensor.extract_slice %arg0[3] [1] [1] : tensor<24xf32> to tensor<f32>
util.func @element(%x: tensor<24xf32>) -> tensor<f32> {
  %a = tensor.extract_slice %x[3] [1] [1] : tensor<24xf32> to tensor<f32>
  %e = tensor.empty() : tensor<f32>
  %r = linalg.exp ins(%a : tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  util.return %r : tensor<f32>
}

#bytes = affine_map<(n, b, y, h) -> (n, b, y)>
#scales = affine_map<(n, b, y, h) -> (n, b)>
#numbers = affine_map<(n, b, y, h) -> (n, b, y, h)>

// A product of few rows takes numbers out of their bytes itself, in the loops that blocks and bytes have.
// CHECK-LABEL: util.func @packed_few
// CHECK: %[[X:.+]] = tensor.expand_shape %arg0 {{.+}} : tensor<1x64xf32> into tensor<1x2x16x2xf32>
// CHECK: linalg.generic {{.+}} ins(%[[X]], %arg1, %arg2 : tensor<1x2x16x2xf32>, tensor<8x2x16xi8>, tensor<8x2xf32>)
// CHECK: arith.andi
// CHECK-NOT: linalg.generic

// One of many rows would do so as often.
// CHECK-LABEL: util.func @packed_many
// CHECK: linalg.generic {{.+}} ins(%arg1, %arg2 : tensor<8x2x16xi8>, tensor<8x2xf32>)
// CHECK: arith.andi
// CHECK: tensor.collapse_shape
// CHECK: linalg.matmul
util.func @packed_few(%x: tensor<1x64xf32>, %w: tensor<8x2x16xi8>, %s: tensor<8x2xf32>, %z: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %c15 = arith.constant 15 : i32
  %c4 = arith.constant 4 : i32
  %e = tensor.empty() : tensor<8x2x16x2xf32>
  %u = linalg.generic {indexing_maps = [#bytes, #scales, #numbers], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w, %s : tensor<8x2x16xi8>, tensor<8x2xf32>) outs(%e : tensor<8x2x16x2xf32>) {
  ^bb0(%byte: i8, %scale: f32, %o: f32):
    %h = linalg.index 3 : index
    %place = arith.index_cast %h : index to i32
    %by = arith.muli %place, %c4 : i32
    %wide = arith.extui %byte : i8 to i32
    %moved = arith.shrui %wide, %by : i32
    %number = arith.andi %moved, %c15 : i32
    %f = arith.sitofp %number : i32 to f32
    %r = arith.mulf %f, %scale : f32
    linalg.yield %r : f32
  } -> tensor<8x2x16x2xf32>
  %flat = tensor.collapse_shape %u [[0], [1, 2, 3]] : tensor<8x2x16x2xf32> into tensor<8x64xf32>
  %e2 = tensor.empty() : tensor<64x8xf32>
  %t = linalg.transpose ins(%flat : tensor<8x64xf32>) outs(%e2 : tensor<64x8xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<1x64xf32>, tensor<64x8xf32>) outs(%z : tensor<1x8xf32>) -> tensor<1x8xf32>
  util.return %r : tensor<1x8xf32>
}
util.func @packed_many(%x: tensor<40x64xf32>, %w: tensor<8x2x16xi8>, %s: tensor<8x2xf32>, %z: tensor<40x8xf32>) -> tensor<40x8xf32> {
  %c15 = arith.constant 15 : i32
  %c4 = arith.constant 4 : i32
  %e = tensor.empty() : tensor<8x2x16x2xf32>
  %u = linalg.generic {indexing_maps = [#bytes, #scales, #numbers], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w, %s : tensor<8x2x16xi8>, tensor<8x2xf32>) outs(%e : tensor<8x2x16x2xf32>) {
  ^bb0(%byte: i8, %scale: f32, %o: f32):
    %h = linalg.index 3 : index
    %place = arith.index_cast %h : index to i32
    %by = arith.muli %place, %c4 : i32
    %wide = arith.extui %byte : i8 to i32
    %moved = arith.shrui %wide, %by : i32
    %number = arith.andi %moved, %c15 : i32
    %f = arith.sitofp %number : i32 to f32
    %r = arith.mulf %f, %scale : f32
    linalg.yield %r : f32
  } -> tensor<8x2x16x2xf32>
  %flat = tensor.collapse_shape %u [[0], [1, 2, 3]] : tensor<8x2x16x2xf32> into tensor<8x64xf32>
  %e2 = tensor.empty() : tensor<64x8xf32>
  %t = linalg.transpose ins(%flat : tensor<8x64xf32>) outs(%e2 : tensor<64x8xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<40x64xf32>, tensor<64x8xf32>) outs(%z : tensor<40x8xf32>) -> tensor<40x8xf32>
  util.return %r : tensor<40x8xf32>
}

// Weights that each call makes f32, as they would take too much memory otherwise, are not turned before a product, which lays
// them out for itself.
// CHECK-LABEL: util.func @turned_in_each_call
// CHECK: %[[W:.+]] = linalg.generic
// CHECK: arith.sitofp
// CHECK: linalg.generic {{.+}} ins(%arg0, %[[W]] : tensor<40x512xf32>, tensor<1024x512xf32>)
// CHECK-NOT: linalg.transpose
util.func @turned_in_each_call(%x: tensor<40x512xf32>, %z: tensor<40x1024xf32>) -> tensor<40x1024xf32> {
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<1024x512xi8>
  %e = tensor.empty() : tensor<1024x512xf32>
  %s = flow.tensor.parameter #flow.parameter.named<"s"> : tensor<1024xf32>
  %f = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<1024x512xi8>, tensor<1024xf32>) outs(%e : tensor<1024x512xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %0 = arith.sitofp %a : i8 to f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<1024x512xf32>
  %e2 = tensor.empty() : tensor<512x1024xf32>
  %t = linalg.transpose ins(%f : tensor<1024x512xf32>) outs(%e2 : tensor<512x1024xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%x, %t : tensor<40x512xf32>, tensor<512x1024xf32>) outs(%z : tensor<40x1024xf32>) -> tensor<40x1024xf32>
  util.return %r : tensor<40x1024xf32>
}
