// Convolutions that look like products of windows, and are not quite: of a part of the image, and of what is made wider without a sign or
// after it was multiplied. (on-simulator.test runs them on a GPU, too.)
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=part --input="1x3x3x2xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18" \
// RUN:   --input=1x1x2x1xf32=1 --expected_output="1x2x2x1xf32=3 7 15 19"
// RUN: kiln-run-module --module=%t.vmfb --function=unsigned --input=1x6x6x4xi8=-1 --input=3x3x4x4xi8=2 --input=1x4x4x4xi32=1 \
// RUN:   --expected_output=1x4x4x4xi32=18361
// RUN: kiln-run-module --module=%t.vmfb --function=wraps --input=1x6x6x4xi8=100 --input=3x3x4x4xi8=2 --input=1x4x4x4xi32=1 \
// RUN:   --expected_output=1x4x4x4xi32=-2015

#image = affine_map<(n, h, w, f, kh, kw, c) -> (n, h + kh, w + kw, c)>
#filter = affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>
#result = affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>

func.func @part(%image: tensor<1x3x3x2xf32>, %filter: tensor<1x1x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2x2x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %result = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x3x3x2xf32>, tensor<1x1x2x1xf32>) outs(%zeros : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %result : tensor<1x2x2x1xf32>
}

func.func @unsigned(%image: tensor<1x6x6x4xi8>, %filter: tensor<3x3x4x4xi8>, %start: tensor<1x4x4x4xi32>) -> tensor<1x4x4x4xi32> {
  %result = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%image, %filter : tensor<1x6x6x4xi8>, tensor<3x3x4x4xi8>) outs(%start : tensor<1x4x4x4xi32>) {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %x = arith.extui %a : i8 to i32
    %y = arith.extsi %b : i8 to i32
    %0 = arith.muli %x, %y : i32
    %1 = arith.addi %sum, %0 : i32
    linalg.yield %1 : i32
  } -> tensor<1x4x4x4xi32>
  return %result : tensor<1x4x4x4xi32>
}

func.func @wraps(%image: tensor<1x6x6x4xi8>, %filter: tensor<3x3x4x4xi8>, %start: tensor<1x4x4x4xi32>) -> tensor<1x4x4x4xi32> {
  %result = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%image, %filter : tensor<1x6x6x4xi8>, tensor<3x3x4x4xi8>) outs(%start : tensor<1x4x4x4xi32>) {
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %0 = arith.muli %a, %b : i8
    %1 = arith.extsi %0 : i8 to i32
    %2 = arith.addi %sum, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<1x4x4x4xi32>
  return %result : tensor<1x4x4x4xi32>
}
