// REQUIRES: compiler
// Operations of one dispatch that start from the same tensor do not overwrite each other's results.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=sum_and_difference --input=8x64xf32=1 --input=8xf32=100 \
// RUN:   --expected_output=8xf32=164 --expected_output=8xf32=64
// RUN: kiln-run-module --module=%t.vmfb --function=sum_and_minimum --input=8x64xf32=1 --input=8xf32=100 \
// RUN:   --expected_output=8xf32=164 --expected_output=8xf32=-163
// RUN: kiln-run-module --module=%t.vmfb --function=from_a_constant --input=4x64xf32=1 \
// RUN:   --expected_output="4xf32=65 66 67 68" --expected_output="4xf32=-64 -65 -66 -67"
// RUN: kiln-run-module --module=%t.vmfb --function=narrow_sums --input=3 --input=3x3xf16="-2 1 1 0 0.5 0 4 -1 2" \
// RUN:   --input=3xf16="10 20 30" --expected_output="3xf16=9 2 15" --expected_output="3xf16=-4 0 -2" \
// RUN:   --expected_output="3xf16=14 21.5 47"
// A row of a few elements, whose sum starts from memory: only some threads of a block have one.
// RUN: kiln-run-module --module=%t.vmfb --function=few --input=1x4xbf16=1 --input=1xbf16=2 --expected_output=1xbf16=5

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

// Sums of narrow floats are done in f32. Two of them end in one operation, which stores over what both of them read.
func.func @narrow_sums(%n: index, %x: tensor<?x?xf16>, %start: tensor<?xf16>)
    -> (tensor<?xf16>, tensor<?xf16>, tensor<?xf16>) {
  %sum = linalg.reduce ins(%x : tensor<?x?xf16>) outs(%start : tensor<?xf16>) dimensions = [1]
    (%in: f16, %out: f16) {
      %0 = math.absf %in : f16
      %1 = arith.addf %0, %out : f16
      linalg.yield %1 : f16
    }
  %doubled_empty = tensor.empty(%n, %n) : tensor<?x?xf16>
  %doubled = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf16>) outs(%doubled_empty : tensor<?x?xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.addf %in, %in : f16
    linalg.yield %0 : f16
  } -> tensor<?x?xf16>
  %one = arith.constant 1.0 : f16
  %empty = tensor.empty(%n) : tensor<?xf16>
  %ones = linalg.fill ins(%one : f16) outs(%empty : tensor<?xf16>) -> tensor<?xf16>
  %absolute = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%doubled : tensor<?x?xf16>) outs(%ones : tensor<?xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = math.absf %in : f16
    %1 = arith.addf %0, %out : f16
    linalg.yield %1 : f16
  } -> tensor<?xf16>
  %minimum = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%doubled : tensor<?x?xf16>) outs(%ones : tensor<?xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.minimumf %in, %out : f16
    linalg.yield %0 : f16
  } -> tensor<?xf16>
  %both = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%doubled : tensor<?x?xf16>) outs(%sum : tensor<?xf16>) {
  ^bb0(%in: f16, %out: f16):
    %0 = arith.addf %in, %out : f16
    linalg.yield %0 : f16
  } -> tensor<?xf16>
  return %absolute, %minimum, %both : tensor<?xf16>, tensor<?xf16>, tensor<?xf16>
}

func.func @few(%a: tensor<1x4xbf16>, %b: tensor<1xbf16>) -> tensor<1xbf16> {
  %i = tensor.empty() : tensor<1xbf16>
  %c = arith.constant 1.0 : bf16
  %r = linalg.fill ins(%c : bf16) outs(%i : tensor<1xbf16>) -> tensor<1xbf16>
  %init = util.optimization_barrier %r : tensor<1xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x4xbf16>) outs(%init : tensor<1xbf16>) {
  ^bb0(%x: bf16, %acc: bf16):
    %s = arith.addf %x, %acc : bf16
    linalg.yield %s : bf16
  } -> tensor<1xbf16>
  return %1 : tensor<1xbf16>
}
