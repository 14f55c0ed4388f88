// REQUIRES: compiler
// Operations of one dispatch that start from the same tensor do not overwrite each other's results.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=sum_and_difference --input=8x64xf32=1 --input=8xf32=100 \
// RUN:   --expected_output=8xf32=164 --expected_output=8xf32=64
// RUN: kiln-run-module --module=%t.vmfb --function=sum_and_minimum --input=8x64xf32=1 --input=8xf32=100 \
// RUN:   --expected_output=8xf32=164 --expected_output=8xf32=-163
// RUN: kiln-run-module --module=%t.vmfb --function=from_a_constant --input=4x64xf32=1 \
// RUN:   --expected_output="4xf32=65 66 67 68" --expected_output="4xf32=-64 -65 -66 -67"

#row = affine_map<(i) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>

func.func @sum_and_difference(%x: tensor<8x64xf32>, %start: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<8x64xf32>) outs(%start : tensor<8xf32>) dimensions = [1]
  %difference = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]}
      ins(%sum : tensor<8xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %sum, %difference : tensor<8xf32>, tensor<8xf32>
}

func.func @sum_and_minimum(%x: tensor<8x64xf32>, %start: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<8x64xf32>) outs(%start : tensor<8xf32>) dimensions = [1]
  %minimum = linalg.generic {indexing_maps = [#all, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<8x64xf32>, tensor<8xf32>) outs(%start : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.minimumf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %sum, %minimum : tensor<8xf32>, tensor<8xf32>
}

func.func @from_a_constant(%x: tensor<4x64xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %start = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<4x64xf32>) outs(%start : tensor<4xf32>) dimensions = [1]
  %minimum = linalg.generic {indexing_maps = [#all, #rows, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<4x64xf32>, tensor<4xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.minimumf %0, %c : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %sum, %minimum : tensor<4xf32>, tensor<4xf32>
}
