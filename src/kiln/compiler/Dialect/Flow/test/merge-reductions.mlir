// Reductions of what was computed for them become one operation that computes it.
// RUN: kiln-opt %s --kiln-flow-merge-reductions | FileCheck %s

#elements = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>

// What the second one starts from is computed behind the first one, and moves in front.
// CHECK-LABEL: util.func @sum_and_minimum
// CHECK: %[[LARGE:.+]] = linalg.fill
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #{{.+}}, #[[ROWS:.+]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<64x64xf32>, tensor<64x64xf32>) outs(%{{.+}}, %[[LARGE]] : tensor<64xf32>, tensor<64xf32>)
// CHECK: arith.subf
// CHECK: %[[SUM:.+]] = arith.addf
// CHECK: %[[MINIMUM:.+]] = arith.minimumf
// CHECK: linalg.yield %[[SUM]], %[[MINIMUM]]
// CHECK-NOT: linalg.generic
// CHECK: util.return
util.func @sum_and_minimum(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %start: tensor<64xf32>, %large: f32) -> (tensor<64xf32>, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %rows = tensor.empty() : tensor<64xf32>
  %l = linalg.fill ins(%large : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%l : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %m : tensor<64xf32>, tensor<64xf32>
}

// A reduction of parts sees its input reshaped.
// CHECK-LABEL: util.func @parts
// CHECK: linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<64x64xf32>, tensor<64x64xf32>) outs(%{{.+}}, %{{.+}} : tensor<64xf32>, tensor<64xf32>)
// CHECK-NOT: linalg.generic
// CHECK: util.return
util.func @parts(%x: tensor<4096xf32>, %y: tensor<4096xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<4096xf32>
  %flat = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4096xf32>, tensor<4096xf32>) outs(%empty : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<4096xf32>
  %d = tensor.expand_shape %flat [[0, 1]] output_shape [64, 64] : tensor<4096xf32> into tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %m : tensor<64xf32>, tensor<64xf32>
}

// linalg.reduce too.
// CHECK-LABEL: util.func @named
// CHECK: linalg.generic {{.+}} outs(%{{.+}}, %{{.+}} : tensor<64xf32>, tensor<64xf32>)
// CHECK-NOT: linalg.reduce
// CHECK: util.return
util.func @named(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.reduce { arith.addf } ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) dimensions = [1]
  %m = linalg.reduce { arith.minimumf } ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) dimensions = [1]
  util.return %s, %m : tensor<64xf32>, tensor<64xf32>
}

// The second one starts from the result of the first one.
// CHECK-LABEL: util.func @one_after_the_other
// CHECK: arith.subf
// CHECK: linalg.generic {{.+}} iterator_types = [{{"parallel", "reduction"|"reduction", "parallel"}}]
// CHECK: linalg.generic {{.+}} iterator_types = [{{"parallel", "reduction"|"reduction", "parallel"}}]
// CHECK: util.return
util.func @one_after_the_other(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%s : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %m : tensor<64xf32>
}

// The third one starts from the result of the second one.
// CHECK-LABEL: util.func @third_after_second
// CHECK: arith.subf
// CHECK-COUNT-3: linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]
// CHECK: util.return
util.func @third_after_second(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %l = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%m : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %l : tensor<64xf32>, tensor<64xf32>
}

// What updates its output would be written again and again by the reductions.
// CHECK-LABEL: util.func @updated
// CHECK: %[[D:.+]] = linalg.generic
// CHECK: linalg.generic {{.+}} ins(%[[D]] : tensor<64x64xf32>) outs(%{{.+}}, %{{.+}} : tensor<64xf32>, tensor<64xf32>)
util.func @updated(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %d = linalg.generic {indexing_maps = [#elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.subf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %m : tensor<64xf32>, tensor<64xf32>
}

// Rows and columns are other loops.
// CHECK-LABEL: util.func @other_loops
// CHECK: arith.subf
// CHECK: linalg.generic {{.+}} iterator_types = [{{"parallel", "reduction"|"reduction", "parallel"}}]
// CHECK: linalg.generic {{.+}} iterator_types = [{{"parallel", "reduction"|"reduction", "parallel"}}]
// CHECK: util.return
util.func @other_loops(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %m : tensor<64xf32>, tensor<64xf32>
}

// The caller wants the differences too.
// CHECK-LABEL: util.func @another_user
// CHECK: arith.subf
// CHECK: linalg.generic {{.+}} iterator_types = [{{"parallel", "reduction"|"reduction", "parallel"}}]
// CHECK: linalg.generic {{.+}} iterator_types = [{{"parallel", "reduction"|"reduction", "parallel"}}]
// CHECK: util.return
util.func @another_user(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %m, %d : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
}

// Narrow floats too; code generation widens each sum.
// CHECK-LABEL: util.func @narrow
// CHECK: linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<64x64xf16>, tensor<64x64xf16>) outs(%{{.+}}, %{{.+}} : tensor<64xf16>, tensor<64xf16>)
// CHECK: arith.subf
// CHECK-NOT: linalg.generic
// CHECK: util.return
util.func @narrow(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %start: tensor<64xf16>) -> (tensor<64xf16>, tensor<64xf16>) {
  %empty = tensor.empty() : tensor<64x64xf16>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %t = arith.subf %a, %b : f16
    linalg.yield %t : f16
  } -> tensor<64x64xf16>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf16>) outs(%start : tensor<64xf16>) {
  ^bb0(%a: f16, %o: f16):
    %t = arith.addf %a, %o : f16
    linalg.yield %t : f16
  } -> tensor<64xf16>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf16>) outs(%start : tensor<64xf16>) {
  ^bb0(%a: f16, %o: f16):
    %t = arith.minimumf %a, %o : f16
    linalg.yield %t : f16
  } -> tensor<64xf16>
  util.return %s, %m : tensor<64xf16>, tensor<64xf16>
}

util.global private mutable @variable : tensor<64xf32>

// What the second one starts from is read from a variable behind a store to it.
// CHECK-LABEL: util.func @behind_a_store
// CHECK: arith.subf
// CHECK: linalg.generic {{.+}} iterator_types = [{{"parallel", "reduction"|"reduction", "parallel"}}]
// CHECK: linalg.generic {{.+}} iterator_types = [{{"parallel", "reduction"|"reduction", "parallel"}}]
// CHECK: util.return
util.func @behind_a_store(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.global.store %s, @variable : tensor<64xf32>
  %now = util.global.load @variable : tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%now : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %m : tensor<64xf32>, tensor<64xf32>
}

// An assertion that guards what the second one starts from moves with it, and stays in front of it.
// CHECK-LABEL: util.func @guarded
// CHECK: %[[FITS:.+]] = arith.cmpi
// CHECK: cf.assert %[[FITS]]
// CHECK: %[[SLICE:.+]] = tensor.extract_slice
// CHECK: linalg.generic {{.*}} outs(%{{.+}}, %[[SLICE]] : tensor<64xf32>, tensor<64xf32>)
util.func @guarded(%x: tensor<64x64xf32>, %start: tensor<64xf32>, %more: tensor<?xf32>, %i: index, %n: index) -> (tensor<64xf32>, tensor<64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %fits = arith.cmpi ult, %i, %n : index
  cf.assert %fits, "outside"
  %l = tensor.extract_slice %more[%i] [64] [1] : tensor<?xf32> to tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%l : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %m : tensor<64xf32>, tensor<64xf32>
}

// An assertion about the first result, or behind an effect, does not move in front; nor does what comes after it.
// CHECK-LABEL: util.func @about_the_first
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: cf.assert
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: util.return
util.func @about_the_first(%x: tensor<64x64xf32>, %start: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  %first = tensor.extract %s[%c0] : tensor<64xf32>
  %fits = arith.cmpf ogt, %first, %zero : f32
  cf.assert %fits, "too small"
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.minimumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %s, %m : tensor<64xf32>, tensor<64xf32>
}
