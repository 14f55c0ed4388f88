// What reduces rows and goes on with the same rows is one dispatch.
// RUN: kiln-opt %s --kiln-flow-fuse-elementwise --kiln-flow-form-dispatches | FileCheck %s
// RUN: kiln-opt %s --kiln-flow-form-dispatches --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell | FileCheck %s --check-prefix=KEPT
// RUN: kiln-opt %s --kiln-flow-form-dispatches --kiln-hal-target-backends=llvm-cpu --kiln-llvmcpu-target-cpu=haswell \
// RUN:   --kiln-llvmcpu-reassociate-fp-reductions=false | FileCheck %s --check-prefix=STRICT

#elements = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>

// CHECK-LABEL: util.func @softmax
// CHECK: flow.dispatch.region
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: flow.return
// CHECK-NOT: flow.dispatch.region
// CHECK: util.return
util.func @softmax(%x: tensor<1000x1001xf32>, %start: tensor<1000xf32>, %zeros: tensor<1000xf32>, %out: tensor<1000x1001xf32>) -> tensor<1000x1001xf32> {
  %max = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1000x1001xf32>) outs(%start : tensor<1000xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1000xf32>
  %exp = linalg.generic {indexing_maps = [#elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<1000x1001xf32>, tensor<1000xf32>) outs(%out : tensor<1000x1001xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<1000x1001xf32>
  %sum = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<1000x1001xf32>) outs(%zeros : tensor<1000xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1000xf32>
  %result = linalg.generic {indexing_maps = [#elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<1000x1001xf32>, tensor<1000xf32>) outs(%out : tensor<1000x1001xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<1000x1001xf32>
  util.return %result : tensor<1000x1001xf32>
}

// The sums of rows are wanted by columns: that is work on other rows.
// CHECK-LABEL: util.func @other_rows
// CHECK: flow.dispatch.region
// CHECK: arith.addf
// CHECK: flow.return
// CHECK: flow.dispatch.region
// CHECK: arith.divf
util.func @other_rows(%x: tensor<64x64xf32>, %zeros: tensor<64xf32>, %out: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %sum = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %result = linalg.generic {indexing_maps = [#elements, #columns, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<64x64xf32>, tensor<64xf32>) outs(%out : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  util.return %result : tensor<64x64xf32>
}

// What stands between the reduction and its elementwise user keeps them apart: a dispatch stands in one place.
// CHECK-LABEL: util.func @used_in_between
// CHECK: flow.dispatch.region
// CHECK: arith.addf
// CHECK: flow.return
// CHECK: tensor.extract
// CHECK: flow.dispatch.region
// CHECK: arith.divf
util.func @used_in_between(%x: tensor<64x64xf32>, %zeros: tensor<64xf32>, %out: tensor<64x64xf32>) -> (tensor<64x64xf32>, f32) {
  %c0 = arith.constant 0 : index
  %sum = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %first = tensor.extract %sum[%c0] : tensor<64xf32>
  %result = linalg.generic {indexing_maps = [#elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<64x64xf32>, tensor<64xf32>) outs(%out : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  util.return %result, %first : tensor<64x64xf32>, f32
}

// One long row is shared element by element.
// CHECK-LABEL: util.func @one_row
// CHECK: flow.dispatch.region
// CHECK: arith.addf
// CHECK: flow.return
// CHECK: flow.dispatch.region
// CHECK: arith.divf
util.func @one_row(%x: tensor<1x100000xf32>, %zeros: tensor<1xf32>, %out: tensor<1x100000xf32>) -> tensor<1x100000xf32> {
  %sum = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x100000xf32>) outs(%zeros : tensor<1xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<1xf32>
  %result = linalg.generic {indexing_maps = [#elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<1x100000xf32>, tensor<1xf32>) outs(%out : tensor<1x100000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<1x100000xf32>
  util.return %result : tensor<1x100000xf32>
}

// A user of the group that comes before the next operation that could join ends it: the dispatch stands before both.
// CHECK-LABEL: util.func @user_before_the_next
// CHECK: %[[GROUP:.+]]:2 = flow.dispatch.region
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: flow.return
// CHECK: flow.dispatch.region
// CHECK: linalg.matmul ins(%[[GROUP]]#0
// CHECK: flow.dispatch.region
// CHECK: math.log
// CHECK-NOT: flow.dispatch.region
// CHECK: util.return
util.func @user_before_the_next(%x: tensor<64x64xf32>, %v: tensor<64x64xf32>, %start: tensor<64xf32>, %zeros: tensor<64xf32>, %out: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %max = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %exp = linalg.generic {indexing_maps = [#elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x64xf32>, tensor<64xf32>) outs(%out : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %sum = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<64x64xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %product = linalg.matmul ins(%exp, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%out : tensor<64x64xf32>) -> tensor<64x64xf32>
  %log = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<64xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.log %a : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %product, %log : tensor<64x64xf32>, tensor<64xf32>
}

// What reads the sums of any rows in its body is no work on the rows that it has.
// CHECK-LABEL: util.func @reads_other_rows
// CHECK: flow.dispatch.region
// CHECK: arith.addf
// CHECK: flow.return
// CHECK: flow.dispatch.region
// CHECK: tensor.extract
util.func @reads_other_rows(%x: tensor<64x64xf32>, %at: tensor<64x64xindex>, %zeros: tensor<64xf32>, %out: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %sum = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x64xf32>) outs(%zeros : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %result = linalg.generic {indexing_maps = [#elements, #elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %at, %sum : tensor<64x64xf32>, tensor<64x64xindex>, tensor<64xf32>) outs(%out : tensor<64x64xf32>) {
  ^bb0(%a: f32, %i: index, %b: f32, %o: f32):
    %c = tensor.extract %sum[%i] : tensor<64xf32>
    %d = arith.subf %a, %c : f32
    %t = arith.divf %d, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  util.return %result : tensor<64x64xf32>
}

// Rows that are kept must find room in a worker's memory: two of 524288 f64 do, and a third one does not.
// CHECK-LABEL: util.func @too_much_of_a_row
// CHECK: flow.dispatch.region
// CHECK: arith.maximumf
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: flow.return
// CHECK: flow.dispatch.region
// CHECK: arith.addf
// CHECK: flow.return
// CHECK: util.return
util.func @too_much_of_a_row(%x: tensor<64x524288xf64>, %start: tensor<64xf64>, %out: tensor<64x524288xf64>) -> (tensor<64x524288xf64>, tensor<64x524288xf64>, tensor<64x524288xf64>) {
  %max = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x524288xf64>) outs(%start : tensor<64xf64>) {
  ^bb0(%a: f64, %s: f64):
    %t = arith.maximumf %a, %s : f64
    linalg.yield %t : f64
  } -> tensor<64xf64>
  %difference = linalg.generic {indexing_maps = [#elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<64x524288xf64>, tensor<64xf64>) outs(%out : tensor<64x524288xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %d = arith.subf %a, %b : f64
    linalg.yield %d : f64
  } -> tensor<64x524288xf64>
  %exp = linalg.generic {indexing_maps = [#elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%difference, %max : tensor<64x524288xf64>, tensor<64xf64>) outs(%out : tensor<64x524288xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %t = math.exp %a : f64
    %d = arith.mulf %t, %b : f64
    linalg.yield %d : f64
  } -> tensor<64x524288xf64>
  %more = linalg.generic {indexing_maps = [#elements, #rows, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %max : tensor<64x524288xf64>, tensor<64xf64>) outs(%out : tensor<64x524288xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %d = arith.addf %a, %b : f64
    linalg.yield %d : f64
  } -> tensor<64x524288xf64>
  util.return %difference, %exp, %more : tensor<64x524288xf64>, tensor<64x524288xf64>, tensor<64x524288xf64>
}

// Scores, what a softmax makes of them, and the values that they weigh: tests/compile/attention.test has the spellings. The
// result is divided, not each weight, if sums may be reassociated.
// KEPT-LABEL: util.func @attention
// KEPT: flow.dispatch.region
// KEPT-NOT: flow.dispatch.region
// KEPT: linalg.batch_matmul
// KEPT: arith.maximumf
// KEPT: math.exp
// KEPT: arith.addf
// KEPT: linalg.batch_matmul
// KEPT: arith.divf
// KEPT: flow.return
// KEPT-NOT: flow.dispatch.region
// KEPT-LABEL: util.func @layers
// KEPT-COUNT-3: flow.dispatch.region
// STRICT-LABEL: util.func @attention
// STRICT: arith.divf
// STRICT: linalg.batch_matmul
// STRICT-LABEL: util.func @layers
#scores = affine_map<(b, m, n) -> (b, m, n)>
#score_rows = affine_map<(b, m, n) -> (b, m)>
util.func @attention(%q: tensor<2x64x32xf32>, %k: tensor<2x32x64xf32>, %v: tensor<2x64x32xf32>) -> tensor<2x64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x64x64xf32>
  %er = tensor.empty() : tensor<2x64xf32>
  %eo = tensor.empty() : tensor<2x64x32xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<2x64xf32>) -> tensor<2x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x64xf32>) -> tensor<2x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<2x64x32xf32>, tensor<2x32x64xf32>) outs(%fs : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %most = linalg.generic {indexing_maps = [#scores, #score_rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : tensor<2x64x64xf32>) outs(%fm : tensor<2x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x64xf32>
  %e = linalg.generic {indexing_maps = [#scores, #score_rows, #scores], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %most : tensor<2x64x64xf32>, tensor<2x64xf32>) outs(%es : tensor<2x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x64x64xf32>
  %sum = linalg.generic {indexing_maps = [#scores, #score_rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<2x64x64xf32>) outs(%fr : tensor<2x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x64xf32>
  %w = linalg.generic {indexing_maps = [#scores, #score_rows, #scores], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %sum : tensor<2x64x64xf32>, tensor<2x64xf32>) outs(%es : tensor<2x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2x64x64xf32>
  %r = linalg.batch_matmul ins(%w, %v : tensor<2x64x64xf32>, tensor<2x64x32xf32>) outs(%fo : tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
  util.return %r : tensor<2x64x32xf32>
}

// Two layers with a gate between them, and another product that has the same gate, stay apart.
util.func @layers(%x: tensor<64x32xf32>, %up: tensor<32x64xf32>, %gate: tensor<32x64xf32>, %down: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.matmul ins(%x, %up : tensor<64x32xf32>, tensor<32x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul ins(%x, %gate : tensor<64x32xf32>, tensor<32x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<64x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %d = linalg.matmul ins(%c, %down : tensor<64x64xf32>, tensor<64x32xf32>) outs(%f1 : tensor<64x32xf32>) -> tensor<64x32xf32>
  util.return %d : tensor<64x32xf32>
}
