#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
#elements = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>

// A length without divisors is no two equal parts.
// CHECK: [[@LINE+3]]:8: remark: one_workgroup: sum_dispatch_0_{{.*}} runs in one workgroup, although 1000003 steps could be shared
func.func @sum(%x: tensor<1000003xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : tensor<1000003xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Of several rows, as soon as there is one.
// CHECK: [[@LINE+3]]:8: remark: one_workgroup: rows_dispatch_0_{{.*}} runs in one workgroup, although at least 1000003 steps could be shared
func.func @rows(%x: tensor<?x1000003xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?x1000003xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
  return %r : tensor<f32>
}

// Of so many elements as a call has one workgroup may be all there is to do.
func.func @unknown(%x: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

// An argument belongs to the caller.
// CHECK: [[@LINE+2]]:8: remark: copy: put copies 256 bytes in each call: a dispatch updates a tensor that was not computed in the same block
func.func @put(%x: tensor<64xf32>, %y: tensor<8xf32>) -> tensor<64xf32> {
  %r = tensor.insert_slice %y into %x[8] [8] [1] : tensor<8xf32> into tensor<64xf32>
  return %r : tensor<64xf32>
}

// CHECK: [[@LINE+7]]:8: remark: not_fused: both stores the result of 'linalg.matmul' and loads it for 'linalg.generic': 2 operations use it
// YAML: Name: not_fused
// YAML: Line: [[@LINE+5]], Column: 8 }
// YAML-NEXT: Function: {{ *}}both
func.func @both(%a: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = math.exp %0 : tensor<16x16xf32>
  return %0, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}

// Sums of rows and of columns are no loops that could be one, and sines cost more than memory.
// CHECK: [[@LINE+12]]:8: remark: not_fused: sides stores the result of 'linalg.generic' and loads it for 'linalg.generic': 2 operations use it
// CHECK: [[@LINE+17]]:8: remark: not_fused: sides stores the result of 'linalg.generic' and loads it for 'linalg.generic': 2 operations use it
func.func @sides(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %d = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = math.sin %a : f32
    %t = arith.subf %s, %b : f32
    linalg.yield %t : f32
  } -> tensor<16x16xf32>
  %r = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<16x16xf32>) outs(%zero : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  %c = linalg.generic {indexing_maps = [#elements, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%d : tensor<16x16xf32>) outs(%zero : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<16xf32>
  return %r, %c : tensor<16xf32>, tensor<16xf32>
}

// CHECK: [[@LINE+3]]:8: remark: repack: packed_dispatch_0_{{.*}} copies operand 1 of 'linalg.matmul' into panels in each call
func.func @packed(%a: tensor<32x64xf32>, %b: tensor<64x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = linalg.matmul {kiln.configuration = "tile_config_32x32_64x1_fma_4x16_packb"} ins(%a, %b : tensor<32x64xf32>, tensor<64x32xf32>) outs(%zero : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}

// CHECK: [[@LINE+3]]:8: remark: scalar_loop: scalars_dispatch_0_{{.*}} computes 'linalg.generic' element by element
func.func @scalars(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) attrs = {kiln.configuration = "tile_config_1x64_0x1_scalar"} {
  ^bb0(%a: f32, %b: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
