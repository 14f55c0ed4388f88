#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
#elements = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
#columns = affine_map<(r, c) -> (c)>

// A length without divisors is no two equal parts.
// CHECK: [[@LINE+3]]:8: remark: one_workgroup: sum_dispatch_0_{{.*}} runs in one workgroup, although it has 1000003 steps
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
// CHECK: [[@LINE+3]]:8: remark: one_workgroup: rows_dispatch_0_{{.*}} runs in one workgroup, although it has at least 1000003 steps
func.func @rows(%x: tensor<?x1000003xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?x1000003xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
  return %r : tensor<f32>
}

// How many elements there are only a call knows.
// CHECK: [[@LINE+3]]:8: remark: one_workgroup: unknown_dispatch_0_{{.*}} runs in one workgroup, whatever its length
func.func @unknown(%x: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

// An argument belongs to the caller.
// CHECK: [[@LINE+2]]:8: remark: copy: put copies 256 bytes in each call: a dispatch updates a tensor that is not the program's own
func.func @put(%x: tensor<64xf32>, %y: tensor<8xf32>) -> tensor<64xf32> {
  %r = tensor.insert_slice %y into %x[8] [8] [1] : tensor<8xf32> into tensor<64xf32>
  return %r : tensor<64xf32>
}

// CHECK: [[@LINE+2]]:8: remark: copy: part copies 48 bytes in each call: the result of 'tensor.extract_slice' of line {{[0-9]+}} is stored, and 'linalg.generic' of line {{[0-9]+}} loads it
func.func @part(%x: tensor<16x16xf16>) -> tensor<24xf16> {
  %s = tensor.extract_slice %x[4, 0] [4, 6] [2, 2] : tensor<16x16xf16> to tensor<4x6xf16>
  %flat = tensor.collapse_shape %s [[0, 1]] : tensor<4x6xf16> into tensor<24xf16>
  %r = math.absf %flat : tensor<24xf16>
  return %r : tensor<24xf16>
}

// CHECK: [[@LINE+3]]:8: remark: copy: border copies a tensor in each call: the result of 'tensor.pad' of line {{[0-9]+}} is stored, and 2 operations load it
func.func @border(%x: tensor<?x2xf32>, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x2xf32> to tensor<?x4xf32>
  %abs = linalg.abs ins(%p : tensor<?x4xf32>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  // CHECK: [[@LINE+1]]:11: remark: one_workgroup: border_dispatch_2_{{.*}} runs in one workgroup, whatever its length
  %sums = linalg.reduce { arith.addf } ins(%p : tensor<?x4xf32>) outs(%zeros : tensor<4xf32>) dimensions = [0]
  return %abs, %sums : tensor<?x4xf32>, tensor<4xf32>
}

// What the caller gets, or is updated, has to be stored.
func.func @stored(%x: tensor<16xf32>, %y: tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %s = tensor.extract_slice %x[0] [8] [1] : tensor<16xf32> to tensor<8xf32>
  %r = math.absf %s : tensor<8xf32>
  %t = tensor.extract_slice %x[8] [8] [1] : tensor<16xf32> to tensor<8xf32>
  %u = tensor.insert_slice %y into %t[3] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %s, %r, %u : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK: [[@LINE+7]]:8: remark: not_fused: both stores the result of 'linalg.matmul' of line {{[0-9]+}} and loads it for 'linalg.generic' of line [[@LINE+7]]: 2 operations use it
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
// CHECK: [[@LINE+12]]:8: remark: not_fused: sides stores the result of 'linalg.generic' of line {{[0-9]+}} and loads it for 'linalg.generic' of line [[@LINE+12]]: 2 operations use it
// CHECK: [[@LINE+17]]:8: remark: not_fused: sides stores the result of 'linalg.generic' of line {{[0-9]+}} and loads it for 'linalg.generic' of line [[@LINE+17]]: 2 operations use it
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

// CHECK: [[@LINE+5]]:8: remark: repack: weights_dispatch_{{.*}} copies operand 1 of 'linalg.matmul' into panels in each call
// CHECK: [[@LINE+4]]:8: remark: not_fused: weights stores the result of 'linalg.generic' of line {{[0-9]+}}, 16384 bytes, in each call and loads it for 'linalg.matmul' of line [[@LINE+4]], which uses each element 17 times
func.func @weights(%a: tensor<17x64xf32>, %w: tensor<64x64xf16>) -> tensor<17x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<17x64xf32>
  %wide = arith.extf %w : tensor<64x64xf16> to tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %wide : tensor<17x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<17x64xf32>) -> tensor<17x64xf32>
  return %r : tensor<17x64xf32>
}

// What is used often costs a product little to load.
// CHECK: [[@LINE+4]]:8: remark: repack: often_dispatch_0_{{.*}} copies operand 1 of 'linalg.matmul' into panels in each call
func.func @often(%a: tensor<128x64xf32>, %w: tensor<64x64xf16>) -> tensor<128x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %wide = arith.extf %w : tensor<64x64xf16> to tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %wide : tensor<128x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

// CHECK: [[@LINE+5]]:8: remark: not_fused: reshaped stores the result of 'linalg.generic' of line {{[0-9]+}} and loads it for 'linalg.reduce' of line [[@LINE+5]]: it has another shape there
func.func @reshaped(%a: tensor<64x64xf32>) -> tensor<64x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x8xf32>
  %e = math.exp %a : tensor<64x64xf32>
  %t = tensor.expand_shape %e [[0], [1, 2]] output_shape [64, 8, 8] : tensor<64x64xf32> into tensor<64x8x8xf32>
  %r = linalg.reduce { arith.addf } ins(%t : tensor<64x8x8xf32>) outs(%zero : tensor<64x8xf32>) dimensions = [2]
  return %r : tensor<64x8xf32>
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

// CHECK: [[@LINE+6]]:10: remark: scalar_loop: gather_dispatch_0_{{.*}} loads from places that it computes, one element after the other, in 'linalg.generic'
func.func @gather(%x: tensor<64xf32>, %at: tensor<64xi32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : tensor<64xi32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: i32, %b: f32):
    %i = arith.index_cast %a : i32 to index
    %y = tensor.extract %x[%i] : tensor<64xf32>
    linalg.yield %y : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// A row that is looked up is loaded as vectors.
func.func @lookup(%x: tensor<10x64xf32>, %at: tensor<8xi32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %r = linalg.generic {indexing_maps = [#rows, #elements], iterator_types = ["parallel", "parallel"]} ins(%at : tensor<8xi32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: i32, %b: f32):
    %i = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %y = tensor.extract %x[%i, %j] : tensor<10x64xf32>
    linalg.yield %y : f32
  } -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// CHECK: [[@LINE+7]]:10: remark: scalar_loop: on_host takes an element of a tensor to the host in each turn of a loop
func.func @on_host(%x: tensor<64xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%now = %zero) -> f32 {
    %y = tensor.extract %x[%i] : tensor<64xf32>
    %next = arith.addf %now, %y : f32
    scf.yield %next : f32
  }
  return %r : f32
}
