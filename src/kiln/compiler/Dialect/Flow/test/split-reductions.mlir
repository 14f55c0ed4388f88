// Parts of a long reduction are reduced at the same time, then their results.
// RUN: kiln-opt %s --kiln-flow-split-reductions | FileCheck %s

#none = affine_map<(i) -> ()>
#id = affine_map<(i) -> (i)>

// CHECK-LABEL: util.func @scalar
// CHECK: tensor.expand_shape {{.*}} output_shape [256, 524288]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.+}} : tensor<256x524288xf32>) outs(%{{.+}} : tensor<256xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%{{.+}} : tensor<256xf32>) outs(%{{.+}} : tensor<f32>)
util.func @scalar(%x: tensor<134217728xf32>, %start: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : tensor<134217728xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  util.return %r : tensor<f32>
}

// Several reductions are one first, and results keep their place.
// CHECK-LABEL: util.func @rows
// CHECK: tensor.collapse_shape %{{.+}} {{\[\[}}0], [1, 2]] : tensor<3x512x768xf32> into tensor<3x393216xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.+}} : tensor<3x3x131072xf32>) outs(%{{.+}} : tensor<3x3xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.+}} : tensor<3x3xf32>) outs(%{{.+}} : tensor<3xf32>)
util.func @rows(%x: tensor<3x512x768xf32>, %start: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<3x512x768xf32>) outs(%start : tensor<3xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maximumf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  util.return %r : tensor<3xf32>
}

// CHECK-LABEL: util.func @reduce
// CHECK: linalg.generic {{.*}} ins(%{{.+}} : tensor<8x131072xi32>) outs(%{{.+}} : tensor<8xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.+}} : tensor<8xi32>) outs(%{{.+}} : tensor<i32>)
util.func @reduce(%x: tensor<1048576xi32>, %start: tensor<i32>) -> tensor<i32> {
  %r = linalg.reduce { arith.addi } ins(%x : tensor<1048576xi32>) outs(%start : tensor<i32>) dimensions = [0]
  util.return %r : tensor<i32>
}

// Short, of unknown length, of a prime length, in f16, with a configuration, with many results: as it is.
// CHECK-LABEL: util.func @whole
// CHECK-NOT: expand_shape
util.func @whole(%short: tensor<200000xf32>, %unknown: tensor<?xf32>, %prime: tensor<1000003xf32>, %narrow: tensor<1048576xf16>, %long: tensor<1048576xf32>,
                 %many: tensor<1048576x64xf32>, %start: tensor<f32>, %start16: tensor<f16>, %starts: tensor<64xf32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<64xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%short : tensor<200000xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%unknown : tensor<?xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%prime : tensor<1000003xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %3 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%narrow : tensor<1048576xf16>) outs(%start16 : tensor<f16>) {
  ^bb0(%a: f16, %s: f16):
    %t = arith.addf %a, %s : f16
    linalg.yield %t : f16
  } -> tensor<f16>
  %4 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%long : tensor<1048576xf32>) outs(%start : tensor<f32>)
      attrs = {kiln.configuration = "tile_config_1x1_0x1_vector"} {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%many : tensor<1048576x64xf32>) outs(%starts : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  util.return %0, %1, %2, %3, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<64xf32>
}
