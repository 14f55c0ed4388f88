// Gathers that read along another loop than the result has inside: whole tiles of 64x64, parts of them, and what follows.

func.func @whole() -> tensor<128x192xf32> {
  %x, %rows = call @inputs() : () -> (tensor<192x200xf32>, tensor<192xi32>)
  %empty = tensor.empty() : tensor<128x192xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<192xi32>) outs(%empty : tensor<128x192xf32>) {
  ^bb0(%row: i32, %old: f32):
    %i = linalg.index 0 : index
    %at = arith.index_cast %row : i32 to index
    %e = tensor.extract %x[%at, %i] : tensor<192x200xf32>
    linalg.yield %e : f32
  } -> tensor<128x192xf32>
  return %r : tensor<128x192xf32>
}

func.func @odd() -> tensor<131x77xf32> {
  %x, %all = call @inputs() : () -> (tensor<192x200xf32>, tensor<192xi32>)
  %rows = tensor.extract_slice %all[5] [77] [1] : tensor<192xi32> to tensor<77xi32>
  %empty = tensor.empty() : tensor<131x77xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<77xi32>) outs(%empty : tensor<131x77xf32>) {
  ^bb0(%row: i32, %old: f32):
    %i = linalg.index 0 : index
    %at = arith.index_cast %row : i32 to index
    %e = tensor.extract %x[%at, %i] : tensor<192x200xf32>
    linalg.yield %e : f32
  } -> tensor<131x77xf32>
  return %r : tensor<131x77xf32>
}

// The gather's loop is not the one beside the innermost, and a value for each row and each column goes with it.
func.func @scaled() -> tensor<128x3x64xf32> {
  %x, %all = call @inputs() : () -> (tensor<192x200xf32>, tensor<192xi32>)
  %rows = tensor.extract_slice %all[0] [64] [1] : tensor<192xi32> to tensor<64xi32>
  %scale = arith.constant dense<[1.0, 2.0, -3.0]> : tensor<3xf32>
  %empty = tensor.empty() : tensor<128x3x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, b, j) -> (j)>, affine_map<(i, b, j) -> (b)>, affine_map<(i, b, j) -> (i, b, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%rows, %scale : tensor<64xi32>, tensor<3xf32>) outs(%empty : tensor<128x3x64xf32>) {
  ^bb0(%row: i32, %s: f32, %old: f32):
    %i = linalg.index 0 : index
    %at = arith.index_cast %row : i32 to index
    %e = tensor.extract %x[%at, %i] : tensor<192x200xf32>
    %p = arith.mulf %e, %s : f32
    linalg.yield %p : f32
  } -> tensor<128x3x64xf32>
  return %r : tensor<128x3x64xf32>
}

func.func private @inputs() -> (tensor<192x200xf32>, tensor<192xi32>) {
  %empty = tensor.empty() : tensor<192x200xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<192x200xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 200 : index
    %row = arith.muli %i, %c : index
    %number = arith.addi %row, %j : index
    %int = arith.index_cast %number : index to i32
    %f = arith.sitofp %int : i32 to f32
    linalg.yield %f : f32
  } -> tensor<192x200xf32>
  %none = tensor.empty() : tensor<192xi32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%none : tensor<192xi32>) {
  ^bb0(%old: i32):
    %i = linalg.index 0 : index
    %c = arith.constant 61 : index
    %m = arith.constant 192 : index
    %p = arith.muli %i, %c : index
    %q = arith.remui %p, %m : index
    %int = arith.index_cast %q : index to i32
    linalg.yield %int : i32
  } -> tensor<192xi32>
  %xb = util.optimization_barrier %x : tensor<192x200xf32>
  %rb = util.optimization_barrier %rows : tensor<192xi32>
  return %xb, %rb : tensor<192x200xf32>, tensor<192xi32>
}
