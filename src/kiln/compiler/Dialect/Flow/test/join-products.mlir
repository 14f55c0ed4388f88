// RUN: kiln-opt %s --kiln-flow-join-products --kiln-hal-target-backends=llvm-cpu -split-input-file | FileCheck %s
// RUN: kiln-opt %s --kiln-flow-join-products --kiln-hal-target-backends=llvm-cpu -split-input-file --kiln-global-opt-enable-fuse-horizontal-contractions=false | FileCheck %s --check-prefix=OFF
// RUN: kiln-opt %s --kiln-flow-join-products --kiln-hal-target-backends=llvm-cpu -split-input-file --kiln-opt-const-eval=false | FileCheck %s --check-prefix=OFF

// Queries, keys and values: one product, with its biases, and reads of the parts where heads are moved.
// CHECK: #[[SECOND:.+]] = affine_map<(d0, d1, d2) -> (d0, 1, d1, d2)>
// CHECK-LABEL: @heads
// CHECK: %[[WEIGHTS:.+]] = linalg.generic {{.*}} ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) outs(%{{.+}} : tensor<32x3x32xf32>)
// CHECK: linalg.index 1
// CHECK: %[[SIDE_BY_SIDE:.+]] = tensor.collapse_shape %[[WEIGHTS]] {{\[\[}}0], [1, 2]] : tensor<32x3x32xf32> into tensor<32x96xf32>
// CHECK: %[[PRODUCT:.+]] = linalg.matmul ins(%arg0, %[[SIDE_BY_SIDE]] : tensor<16x32xf32>, tensor<32x96xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) outs(%{{.+}} : tensor<3x32xf32>)
// CHECK: %[[SUM:.+]] = linalg.generic {{.*}} ins(%{{.+}}, %[[PRODUCT]] : tensor<96xf32>, tensor<16x96xf32>)
// CHECK: %[[PARTS:.+]] = tensor.expand_shape %[[SUM]] {{\[\[}}0], [1, 2]] output_shape [16, 3, 32]
// CHECK: linalg.generic {indexing_maps = [#[[SECOND]], #{{.+}}]{{.*}} ins(%{{.+}} : tensor<16x3x4x8xf32>) outs(%{{.+}} : tensor<16x4x8xf32>)
// CHECK-NOT: linalg.matmul
// OFF-LABEL: @heads
// OFF-COUNT-3: linalg.matmul {{.*}} -> tensor<16x32xf32>
#each = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>
util.func public @heads(%x: tensor<16x32xf32>) -> (tensor<4x16x8xf32>, tensor<4x8x16xf32>, tensor<4x16x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = flow.tensor.parameter #flow.parameter.named<"q"> : tensor<32x32xf32>
  %wk = flow.tensor.parameter #flow.parameter.named<"k"> : tensor<32x32xf32>
  %bq = flow.tensor.parameter #flow.parameter.named<"bq"> : tensor<32xf32>
  %bk = flow.tensor.parameter #flow.parameter.named<"bk"> : tensor<32xf32>
  %empty = tensor.empty() : tensor<16x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x32xf32>) -> tensor<16x32xf32>
  %q = linalg.matmul ins(%x, %wq : tensor<16x32xf32>, tensor<32x32xf32>) outs(%start : tensor<16x32xf32>) -> tensor<16x32xf32>
  %qb = linalg.generic {indexing_maps = [#column, #each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%bq, %q : tensor<32xf32>, tensor<16x32xf32>) outs(%empty : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16x32xf32>
  %qe = tensor.expand_shape %qb [[0], [1, 2]] output_shape [16, 4, 8] : tensor<16x32xf32> into tensor<16x4x8xf32>
  %heads = tensor.empty() : tensor<4x16x8xf32>
  %qt = linalg.transpose ins(%qe : tensor<16x4x8xf32>) outs(%heads : tensor<4x16x8xf32>) permutation = [1, 0, 2]
  %k = linalg.matmul ins(%x, %wk : tensor<16x32xf32>, tensor<32x32xf32>) outs(%start : tensor<16x32xf32>) -> tensor<16x32xf32>
  %kb = linalg.generic {indexing_maps = [#column, #each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%bk, %k : tensor<32xf32>, tensor<16x32xf32>) outs(%empty : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16x32xf32>
  %ke = tensor.expand_shape %kb [[0], [1, 2]] output_shape [16, 4, 8] : tensor<16x32xf32> into tensor<16x4x8xf32>
  %turned = tensor.empty() : tensor<4x8x16xf32>
  %kt = linalg.transpose ins(%ke : tensor<16x4x8xf32>) outs(%turned : tensor<4x8x16xf32>) permutation = [1, 2, 0]
  // Weights that are computed behind the first product go before it.
  %wv = flow.tensor.parameter #flow.parameter.named<"v"> : tensor<32x32xf32>
  %bv = flow.tensor.parameter #flow.parameter.named<"bv"> : tensor<32xf32>
  %v = linalg.matmul ins(%x, %wv : tensor<16x32xf32>, tensor<32x32xf32>) outs(%start : tensor<16x32xf32>) -> tensor<16x32xf32>
  %vb = linalg.generic {indexing_maps = [#column, #each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%bv, %v : tensor<32xf32>, tensor<16x32xf32>) outs(%empty : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16x32xf32>
  %ve = tensor.expand_shape %vb [[0], [1, 2]] output_shape [16, 4, 8] : tensor<16x32xf32> into tensor<16x4x8xf32>
  %vt = linalg.transpose ins(%ve : tensor<16x4x8xf32>) outs(%heads : tensor<4x16x8xf32>) permutation = [1, 0, 2]
  util.return %qt, %kt, %vt : tensor<4x16x8xf32>, tensor<4x8x16xf32>, tensor<4x16x8xf32>
}

// -----

// Weights whose rows are columns stand one after the other.
// CHECK-LABEL: @turned
// CHECK: outs(%{{.+}} : tensor<2x32x16xf32>)
// CHECK: linalg.matmul indexing_maps = {{.*}} ins(%arg0, %{{.+}} : tensor<8x16xf32>, tensor<64x16xf32>)
// CHECK-NOT: linalg.matmul
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
util.func public @turned(%x: tensor<8x16xf32>) -> (tensor<32x8xf32>, tensor<32x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = flow.tensor.parameter #flow.parameter.named<"q"> : tensor<32x16xf32>
  %wk = flow.tensor.parameter #flow.parameter.named<"k"> : tensor<32x16xf32>
  %empty = tensor.empty() : tensor<8x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
  %q = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%x, %wq : tensor<8x16xf32>, tensor<32x16xf32>) outs(%start : tensor<8x32xf32>) -> tensor<8x32xf32>
  %k = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%x, %wk : tensor<8x16xf32>, tensor<32x16xf32>) outs(%start : tensor<8x32xf32>) -> tensor<8x32xf32>
  %to = tensor.empty() : tensor<32x8xf32>
  %qt = linalg.transpose ins(%q : tensor<8x32xf32>) outs(%to : tensor<32x8xf32>) permutation = [1, 0]
  %kt = linalg.transpose ins(%k : tensor<8x32xf32>) outs(%to : tensor<32x8xf32>) permutation = [1, 0]
  util.return %qt, %kt : tensor<32x8xf32>, tensor<32x8xf32>
}

// -----

// Not joined: weights of the call, few rows, results that are used as they are, other shapes, and sums that go on.
// CHECK-LABEL: @apart
// CHECK-COUNT-10: linalg.matmul
util.func public @apart(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %few: tensor<2x16xf32>, %sum: tensor<8x16xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x2xf32>, tensor<16x2xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = flow.tensor.parameter #flow.parameter.named<"a"> : tensor<16x16xf32>
  %b = flow.tensor.parameter #flow.parameter.named<"b"> : tensor<16x16xf32>
  %c = flow.tensor.parameter #flow.parameter.named<"c"> : tensor<16x8xf32>
  %empty = tensor.empty() : tensor<8x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x16xf32>) -> tensor<8x16xf32>
  %to = tensor.empty() : tensor<16x8xf32>
  %0 = linalg.matmul ins(%x, %a : tensor<8x16xf32>, tensor<16x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %t0 = linalg.transpose ins(%0 : tensor<8x16xf32>) outs(%to : tensor<16x8xf32>) permutation = [1, 0]
  %t1 = linalg.transpose ins(%1 : tensor<8x16xf32>) outs(%to : tensor<16x8xf32>) permutation = [1, 0]
  %empty2 = tensor.empty() : tensor<2x16xf32>
  %start2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<2x16xf32>) -> tensor<2x16xf32>
  %to2 = tensor.empty() : tensor<16x2xf32>
  %2 = linalg.matmul ins(%few, %a : tensor<2x16xf32>, tensor<16x16xf32>) outs(%start2 : tensor<2x16xf32>) -> tensor<2x16xf32>
  %3 = linalg.matmul ins(%few, %b : tensor<2x16xf32>, tensor<16x16xf32>) outs(%start2 : tensor<2x16xf32>) -> tensor<2x16xf32>
  %t2 = linalg.transpose ins(%2 : tensor<2x16xf32>) outs(%to2 : tensor<16x2xf32>) permutation = [1, 0]
  %t3 = linalg.transpose ins(%3 : tensor<2x16xf32>) outs(%to2 : tensor<16x2xf32>) permutation = [1, 0]
  %4 = linalg.matmul ins(%x, %a : tensor<8x16xf32>, tensor<16x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %5 = linalg.matmul ins(%x, %b : tensor<8x16xf32>, tensor<16x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %empty8 = tensor.empty() : tensor<8x8xf32>
  %start8 = linalg.fill ins(%zero : f32) outs(%empty8 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = linalg.matmul ins(%x, %c : tensor<8x16xf32>, tensor<16x8xf32>) outs(%start8 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %t6 = linalg.transpose ins(%6 : tensor<8x8xf32>) outs(%empty8 : tensor<8x8xf32>) permutation = [1, 0]
  %7 = linalg.matmul ins(%x, %a : tensor<8x16xf32>, tensor<16x16xf32>) outs(%sum : tensor<8x16xf32>) -> tensor<8x16xf32>
  %8 = linalg.matmul ins(%x, %b : tensor<8x16xf32>, tensor<16x16xf32>) outs(%sum : tensor<8x16xf32>) -> tensor<8x16xf32>
  %t7 = linalg.transpose ins(%7 : tensor<8x16xf32>) outs(%to : tensor<16x8xf32>) permutation = [1, 0]
  %t8 = linalg.transpose ins(%8 : tensor<8x16xf32>) outs(%to : tensor<16x8xf32>) permutation = [1, 0]
  %9 = linalg.matmul ins(%sum, %a : tensor<8x16xf32>, tensor<16x16xf32>) outs(%start : tensor<8x16xf32>) -> tensor<8x16xf32>
  %t9 = linalg.transpose ins(%9 : tensor<8x16xf32>) outs(%to : tensor<16x8xf32>) permutation = [1, 0]
  util.return %t0, %t1, %t2, %t3, %4, %5, %t6, %t7, %t8, %t9 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x2xf32>, tensor<16x2xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}
