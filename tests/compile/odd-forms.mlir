// Forms that programs take now and then, each of which needs something of its own from the compiler.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic %s -o %t.generic.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=constant_factor --input=4x6xf16=2 --expected_output=6xf32=9
// RUN: kiln-run-module --module=%t.vmfb --function=sums_of_indices --input=4x64xi64=-7 \
// RUN:   --expected_output=i64=1 --expected_output=i64=-7 --expected_output=i64=-7 --expected_output=i64=-1792
// RUN: kiln-run-module --module=%t.vmfb --function=filled_factor --input=3x5xf64=2 --expected_output=3xf64=10
// RUN: kiln-run-module --module=%t.vmfb --function=least_index --input=9x9xi64=3 --input=i64=100 --expected_output=i64=8
// RUN: kiln-run-module --module=%t.vmfb --function=no_sum --input=2x0xi2=0 --input=0x3xi2=0 --input=2x3xi2=1 --expected_output=2x3xi2=1
// RUN: kiln-run-module --module=%t.vmfb --function=innermost_batch --input=8x2x8x8xi16=1 --input=5x2x8x8xi16=2 --input=5 --expected_output=2x8x8x5xi16=16
// RUN: kiln-run-module --module=%t.vmfb --function=sum_of_fill --input=3 --input=4 --expected_output=3xf32=2
// RUN: kiln-run-module --module=%t.vmfb --function=with_itself --input="3xi32=1 -2 3" \
// RUN:   --expected_output=3xi32=0 --expected_output=3xi1=0 --expected_output=3xi1=1
// RUN: kiln-run-module --module=%t.vmfb --function=slice_of_fill --input=3 --input=4 --expected_output=2x2xi32=1
// RUN: kiln-run-module --module=%t.vmfb --function=nothing --input=2 --input=3xf32=1 --expected_output=2x0x3xf32=0 \
// RUN:   --expected_output=2x0xf32=0 --expected_output=2xf32=1
// RUN: kiln-run-module --module=%t.vmfb --function=reshape_nothing --input=0x20xi8=0 --input=0x1x0x1xi8=0 --input=20 \
// RUN:   --expected_output=0x1x0xi8=0
// RUN: kiln-run-module --module=%t.vmfb --function=concat_nothing --input=2x3xf32=1 --input=2x0xf32=0 \
// RUN:   --expected_output=2x3xf32=1 --expected_output=2x0xf32=0
// RUN: kiln-run-module --module=%t.vmfb --function=concat_empty_part --input=4x0xf32=0 --input=2xf32=1 --input=1x2x0xf32=0 \
// RUN:   --expected_output=2xf32=1 --expected_output=1x4x0xf32=0
// RUN: kiln-run-module --module=%t.vmfb --function=scale_of_negative --expected_output=f8E8M0FNU=4 --expected_output=f8E8M0FNU=1
// RUN: kiln-run-module --module=%t.vmfb --function=cast_pack --input="2x1x3xf32=1 2 3 4 5 6" --input=2 --input=1 \
// RUN:   --expected_output="2x1x2x2xf32=1 2 3 0 4 5 6 0"
// RUN: kiln-run-module --module=%t.vmfb --function=scaled_columns --input=64x64xf32=1 --input=65x64xf32=1 --input=65x400000xf32=2 \
// RUN:   --expected_output=64x65xf32=128
// RUN: kiln-run-module --module=%t.vmfb --function=one_of_row --input="3x3x1xf32=[[1][2][3]][[4][5][6]][[7][8][9]]" \
// RUN:   --expected_output="2x1xf32=[5][8]"
// RUN: kiln-run-module --module=%t.vmfb --function=broadcast --input=bf16=0.5 --input=33xbf16=2 --expected_output=33xbf16=-1
// RUN: kiln-run-module --module=%t.generic.vmfb --function=broadcast --input=bf16=0.5 --input=33xbf16=2 --expected_output=33xbf16=-1
// RUN: kiln-run-module --module=%t.vmfb --function=unpack --input="1x1x1x3xf16=1 2 3" --expected_output="2x1x1xf16=1 2"
// RUN: kiln-run-module --module=%t.vmfb --function=cut_of_unpack --input="2x3x2xf32=1 2 3 4 5 6 7 8 9 10 11 12" \
// RUN:   --expected_output="3x2xf32=[1 3][2 4][7 9]" --expected_output="1x1xf32=2"
// RUN: kiln-run-module --module=%t.vmfb --function=iota --input=4xi32=0 --expected_output="4xi32=28 36 44 52"
// RUN: kiln-run-module --module=%t.vmfb --function=updated --input=4x8xf32=1 --input=4x8xf32=2 --input=4xf32=0 --expected_output=4xf32=24
// RUN: kiln-run-module --module=%t.vmfb --function=update_then_broadcast --input=f32=1 --input=f32=2 --expected_output=5xf32=3
// RUN: kiln-run-module --module=%t.vmfb --function=columns --input="4x1x2xf32=1 2 3 4 5 6 7 8" --input=1 --input=2 --expected_output="2x1xf32=[2][8]"
// RUN: kiln-run-module --module=%t.vmfb --function=padded_steps --input="3xf32=5 6 7" \
// RUN:   --expected_output="12xf32=1 1 1 5 1 6 1 7 1 1 1 1"
// RUN: kiln-run-module --module=%t.vmfb --function=softmax_extents --input=2x4xf32=1 --input=2 --expected_output=2x4xf32=0.25
// RUN: not kiln-run-module --module=%t.vmfb --function=softmax_extents --input=2x5xf32=1 --input=2 2>&1 | FileCheck %s --check-prefix=SOFTMAX
// SOFTMAX: 'linalg.softmax': dimension 1 of operand 0 and operand 1 must be equal
// RUN: kiln-run-module --module=%t.vmfb --function=one_column --input="1x2x1xf32=3 4" --input="1x2xf32=1 1" \
// RUN:   --expected_output="1x2xf32=4 5" --expected_output="1x2x1xf32=4 5"
// RUN: kiln-run-module --module=%t.vmfb --function=transposed_to_the_same --input="3x2xf32=1 2 3 4 5 6" \
// RUN:   --expected_output="3x2xf32=1 2 3 4 5 6" --expected_output="3x2xf32=1 2 3 4 5 6"
// RUN: kiln-run-module --module=%t.vmfb --function=convolution_of_unknown_rows --input=3x2x5x2xbf16=1 --input=2x2x2x1xbf16=2 \
// RUN:   --input=3 --input=2 --expected_output=3x2x2x1xbf16=8
// RUN: kiln-run-module --module=%t.vmfb --function=convolution_of_unknown_rows_wide --input=1x2x3x300xf16=1 --input=2x2x2x1xf16=2 \
// RUN:   --input=1 --input=2 --expected_output=1x2x2x300xf16=8
// RUN: kiln-run-module --module=%t.vmfb --function=one_of_two_goes_on --input=70x40xf32=1 --input=70 --expected_output=70xf32=40 \
// RUN:   --expected_output=70x40xf32=-39 --expected_output=70xf32=1640
// RUN: kiln-run-module --module=%t.vmfb --function=narrow_root --input=4xbf16=1.2890625 --input=4xf16=1.2890625 \
// RUN:   --expected_output=4xi16=16225 --expected_output=4xi16=15116
// RUN: kiln-run-module --module=%t.vmfb --function=every_second_column --input="5x1xf16=1 2 3 4 5" --input=3 --input=0 --input=1 \
// RUN:   --expected_output="3x1xf16=1 2 3"

#e = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

// One change of shape does not undo the other: 0x20 becomes 0x20x1, and then 0x1.
func.func @reshape_nothing(%x: tensor<0x?xi8>, %y: tensor<0x?x0x?xi8>, %n: index) -> tensor<0x?x0xi8> {
  %c20 = arith.constant 20 : index
  %part = arith.divui %n, %c20 : index
  %parts = tensor.expand_shape %x [[0], [1, 2]] output_shape [0, 20, %part] : tensor<0x?xi8> into tensor<0x20x?xi8>
  %rows = tensor.collapse_shape %parts [[0, 1], [2]] : tensor<0x20x?xi8> into tensor<0x?xi8>
  %c3 = arith.constant 3 : index
  %d3 = tensor.dim %y, %c3 : tensor<0x?x0x?xi8>
  %zero = arith.constant 0 : i8
  %e = tensor.empty(%d3) : tensor<0x?x0xi8>
  %f = linalg.fill ins(%zero : i8) outs(%e : tensor<0x?x0xi8>) -> tensor<0x?x0xi8>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j)>, affine_map<(i, j, k, l) -> (i, j, k, l)>,
      affine_map<(i, j, k, l) -> (i, l, k)>], iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%rows, %y : tensor<0x?xi8>, tensor<0x?x0x?xi8>) outs(%f : tensor<0x?x0xi8>) {
  ^bb0(%a: i8, %b: i8, %old: i8):
    %product = arith.muli %a, %b : i8
    %next = arith.addi %old, %product : i8
    linalg.yield %next : i8
  } -> tensor<0x?x0xi8>
  return %sum : tensor<0x?x0xi8>
}

// A product with a constant, added to the sum.
func.func @constant_factor(%a: tensor<4x6xf16>) -> tensor<6xf32> {
  %init = arith.constant dense<1.0> : tensor<6xf32>
  %one = arith.constant 1.0 : f32
  %r = linalg.generic {indexing_maps = [#e, #column], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<4x6xf16>) outs(%init : tensor<6xf32>) {
  ^bb0(%x: f16, %sum: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.mulf %0, %one : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}
// Reductions of indices along vectors.
func.func @sums_of_indices(%a: tensor<4x64xindex>) -> (tensor<index>, tensor<index>, tensor<index>, tensor<index>) {
  %one = arith.constant dense<1> : tensor<index>
  %zero = arith.constant dense<0> : tensor<index>
  %ones = arith.constant dense<-1> : tensor<index>
  %0 = linalg.generic {indexing_maps = [#e, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<4x64xindex>) outs(%one : tensor<index>) {
  ^bb0(%x: index, %y: index):
    %r = arith.maxsi %x, %y : index
    linalg.yield %r : index
  } -> tensor<index>
  %1 = linalg.generic {indexing_maps = [#e, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<4x64xindex>) outs(%zero : tensor<index>) {
  ^bb0(%x: index, %y: index):
    %r = arith.minsi %x, %y : index
    linalg.yield %r : index
  } -> tensor<index>
  %2 = linalg.generic {indexing_maps = [#e, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<4x64xindex>) outs(%ones : tensor<index>) {
  ^bb0(%x: index, %y: index):
    %r = arith.andi %x, %y : index
    linalg.yield %r : index
  } -> tensor<index>
  %3 = linalg.generic {indexing_maps = [#e, #none], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<4x64xindex>) outs(%zero : tensor<index>) {
  ^bb0(%x: index, %y: index):
    %r = arith.addi %x, %y : index
    linalg.yield %r : index
  } -> tensor<index>
  return %0, %1, %2, %3 : tensor<index>, tensor<index>, tensor<index>, tensor<index>
}
// A tensor of one value, of dynamic extents, that is multiplied with, or only says how long the loops are, or is cut.
func.func @filled_factor(%a: tensor<?x?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %zero = arith.constant 0.0 : f64
  %m = tensor.dim %a, %c0 : tensor<?x?xf64>
  %k = tensor.dim %a, %c1 : tensor<?x?xf64>
  %ek = tensor.empty(%k) : tensor<?xf64>
  %em = tensor.empty(%m) : tensor<?xf64>
  %ones = linalg.fill ins(%one : f64) outs(%ek : tensor<?xf64>) -> tensor<?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%em : tensor<?xf64>) -> tensor<?xf64>
  %r = linalg.matvec ins(%a, %ones : tensor<?x?xf64>, tensor<?xf64>) outs(%init : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}
func.func @sum_of_fill(%m: index, %n: index) -> tensor<?xf32> {
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %em = tensor.empty(%m) : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %halves = linalg.fill ins(%half : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%em : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#e, #row], iterator_types = ["parallel", "reduction"]} ins(%halves : tensor<?x?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %0 = arith.addf %sum, %x : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @slice_of_fill(%m: index, %n: index) -> tensor<2x2xi32> {
  %one = arith.constant 1 : i32
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %ones = linalg.fill ins(%one : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = tensor.extract_slice %ones[1, 2] [2, 2] [1, 1] : tensor<?x?xi32> to tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// Dynamic extents beside one that is 0: nothing to compute, along a row, or in all.
func.func @nothing(%n: index, %bias: tensor<?xf32>) -> (tensor<?x0x?xf32>, tensor<?x0xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %k = tensor.dim %bias, %c0 : tensor<?xf32>
  %e = tensor.empty(%n, %k) : tensor<?x0x?xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bias : tensor<?xf32>) outs(%e : tensor<?x0x?xf32>) {
  ^bb0(%x: f32, %out: f32):
    %0 = math.exp %x : f32
    linalg.yield %0 : f32
  } -> tensor<?x0x?xf32>
  %em = tensor.empty(%n) : tensor<?x0xf32>
  %m = linalg.fill ins(%one : f32) outs(%em : tensor<?x0xf32>) -> tensor<?x0xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : tensor<?x0x?xf32>) outs(%m : tensor<?x0xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %0 = arith.addf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<?x0xf32>
  %ev = tensor.empty(%n) : tensor<?xf32>
  %v = linalg.fill ins(%one : f32) outs(%ev : tensor<?xf32>) -> tensor<?xf32>
  %c = linalg.generic {indexing_maps = [#e, #row], iterator_types = ["parallel", "reduction"]} ins(%b : tensor<?x0xf32>) outs(%v : tensor<?xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %0 = arith.addf %x, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %a, %b, %c : tensor<?x0x?xf32>, tensor<?x0xf32>, tensor<?xf32>
}
func.func @concat_nothing(%a: tensor<2x?xf32>, %b: tensor<2x0xf32>) -> (tensor<2x?xf32>, tensor<2x0xf32>) {
  %0 = tensor.concat dim(1) %b, %a, %b : (tensor<2x0xf32>, tensor<2x?xf32>, tensor<2x0xf32>) -> tensor<2x?xf32>
  %1 = tensor.concat dim(1) %b, %b : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x0xf32>
  return %0, %1 : tensor<2x?xf32>, tensor<2x0xf32>
}
// One element of a row, with a stride that leads to no other.
func.func @one_of_row(%a: tensor<3x3x1xf32>) -> tensor<2x1xf32> {
  %r = tensor.extract_slice %a[1, 1, 0] [2, 1, 1] [1, 2, 1] : tensor<3x3x1xf32> to tensor<2x1xf32>
  return %r : tensor<2x1xf32>
}
// A scalar of bf16 that lives longer than the loop over vectors, on a CPU that has no registers for it.
func.func @broadcast(%a: tensor<bf16>, %b: tensor<33xbf16>) -> tensor<33xbf16> {
  %e = tensor.empty() : tensor<33xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<bf16>, tensor<33xbf16>) outs(%e : tensor<33xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %out: bf16):
    %0 = arith.mulf %x, %y : bf16
    %1 = math.absf %0 : bf16
    %2 = arith.negf %1 : bf16
    %3 = math.copysign %1, %2 : bf16
    linalg.yield %3 : bf16
  } -> tensor<33xbf16>
  return %r : tensor<33xbf16>
}
// One tile, of one of three dimensions.
func.func @unpack(%x: tensor<1x1x1x3xf16>) -> tensor<2x1x1xf16> {
  %e = tensor.empty() : tensor<2x1x1xf16>
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [3] into %e : tensor<1x1x1x3xf16> -> tensor<2x1x1xf16>
  return %r : tensor<2x1x1xf16>
}
// Sums of what is no input: places, and an update of a tensor.
func.func @iota(%z: tensor<4xi32>) -> (tensor<4xi32>) {
  %e = tensor.empty() : tensor<4x8xi32>
  %i = linalg.generic {indexing_maps = [#e], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xi32>) {
  ^bb0(%o: i32):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = arith.addi %0, %1 : index
    %3 = arith.index_cast %2 : index to i32
    linalg.yield %3 : i32
  } -> tensor<4x8xi32>
  %s = linalg.generic {indexing_maps = [#e, #row], iterator_types = ["parallel", "reduction"]} ins(%i : tensor<4x8xi32>) outs(%z : tensor<4xi32>) {
  ^bb0(%a: i32, %o: i32):
    %0 = arith.addi %a, %o : i32
    linalg.yield %0 : i32
  } -> tensor<4xi32>
  return %s : tensor<4xi32>
}
func.func @updated(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>) {
  %u = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#e, #row], iterator_types = ["parallel", "reduction"]} ins(%u : tensor<4x8xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}
// The update is done once, not for each element that it is broadcast to.
func.func @update_then_broadcast(%x: tensor<f32>, %y: tensor<f32>) -> tensor<5xf32> {
  %u = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%x : tensor<f32>) outs(%y : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<5xf32>
  %r = linalg.broadcast ins(%u : tensor<f32>) outs(%e : tensor<5xf32>) dimensions = [0]
  return %r : tensor<5xf32>
}
// Of a slice's dimensions of one element, one goes and one stays.
func.func @columns(%a: tensor<4x1x2xf32>, %column: index, %n: index) -> tensor<?x1xf32> {
  %r = tensor.extract_slice %a[0, 0, %column] [%n, 1, 1] [3, 1, 1] : tensor<4x1x2xf32> to tensor<?x1xf32>
  return %r : tensor<?x1xf32>
}
// The padding is what surrounds it already; the stride is that of the padded tensor all the same.
func.func @padded_steps(%a: tensor<3xf32>) -> tensor<12xf32> {
  %one = arith.constant 1.0 : f32
  %padded = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<3xf32> to tensor<5xf32>
  %e = tensor.empty() : tensor<12xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %r = tensor.insert_slice %padded into %ones[1] [5] [2] : tensor<5xf32> into tensor<12xf32>
  return %r : tensor<12xf32>
}
// The output of a softmax may know extents that its input does not.
func.func @softmax_extents(%x: tensor<?x?xf32>, %rows: index) -> tensor<?x?xf32> {
  %four = arith.constant 4 : index
  %e = tensor.empty(%rows, %four) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
// The index is 0 in the only turn; which of two dimensions of one element the slice loses makes a difference then.
func.func @one_column(%x: tensor<1x2x1xf32>, %start: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%sum = %start, %sums = %x) -> (tensor<1x2xf32>, tensor<1x2x1xf32>) {
    %row = tensor.extract_slice %x[0, 0, %i] [1, 2, 1] [1, 1, 1] : tensor<1x2x1xf32> to tensor<1x2xf32>
    %more = arith.addf %sum, %row : tensor<1x2xf32>
    %put = tensor.insert_slice %more into %sums[0, 0, %i] [1, 2, 1] [1, 1, 1] : tensor<1x2xf32> into tensor<1x2x1xf32>
    scf.yield %more, %put : tensor<1x2xf32>, tensor<1x2x1xf32>
  }
  return %r#0, %r#1 : tensor<1x2xf32>, tensor<1x2x1xf32>
}

// A transpose that leaves all in its place, also as one after another, of a tensor whose type says less than the result's.
func.func @transposed_to_the_same(%a: tensor<3x?xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %one = arith.constant 1 : index
  %n = tensor.dim %a, %one : tensor<3x?xf32>
  %e = tensor.empty(%n) : tensor<3x?xf32>
  %t = tensor.empty(%n) : tensor<?x3xf32>
  %0 = linalg.transpose ins(%a : tensor<3x?xf32>) outs(%e : tensor<3x?xf32>) permutation = [0, 1]
  %1 = tensor.cast %0 : tensor<3x?xf32> to tensor<3x2xf32>
  %2 = linalg.transpose ins(%a : tensor<3x?xf32>) outs(%t : tensor<?x3xf32>) permutation = [1, 0]
  %3 = linalg.transpose ins(%2 : tensor<?x3xf32>) outs(%e : tensor<3x?xf32>) permutation = [1, 0]
  %4 = tensor.cast %3 : tensor<3x?xf32> to tensor<3x2xf32>
  return %1, %4 : tensor<3x2xf32>, tensor<3x2xf32>
}
// A sum in f32 beside the result, the rows of which are not known.
func.func @convolution_of_unknown_rows(%a: tensor<?x2x?x2xbf16>, %b: tensor<2x2x2x1xbf16>, %n: index, %h: index) -> tensor<?x2x?x1xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty(%n, %h) : tensor<?x2x?x1xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<?x2x?x1xbf16>) -> tensor<?x2x?x1xbf16>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%a, %b : tensor<?x2x?x2xbf16>, tensor<2x2x2x1xbf16>) outs(%f : tensor<?x2x?x1xbf16>) -> tensor<?x2x?x1xbf16>
  return %r : tensor<?x2x?x1xbf16>
}
func.func @convolution_of_unknown_rows_wide(%a: tensor<?x2x?x300xf16>, %b: tensor<2x2x2x1xf16>, %n: index, %h: index) -> tensor<?x2x?x300xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty(%n, %h) : tensor<?x2x?x300xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<?x2x?x300xf16>) -> tensor<?x2x?x300xf16>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%a, %b : tensor<?x2x?x300xf16>, tensor<2x2x2x1xf16>) outs(%f : tensor<?x2x?x300xf16>) -> tensor<?x2x?x300xf16>
  return %r : tensor<?x2x?x300xf16>
}
// Of two results of one operation one leaves the dispatch, and the other goes on in it.
func.func @one_of_two_goes_on(%a: tensor<?x40xf32>, %n: index) -> (tensor<?xf32>, tensor<?x40xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty(%n) : tensor<?xf32>
  %whole = tensor.empty(%n) : tensor<?x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#e, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<?x40xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %two:2 = linalg.generic {indexing_maps = [#e, #row, #e, #e], iterator_types = ["parallel", "parallel"]} ins(%a, %sum : tensor<?x40xf32>, tensor<?xf32>) outs(%whole, %whole : tensor<?x40xf32>, tensor<?x40xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32, %p: f32):
    %d = arith.subf %x, %s : f32
    %t = arith.addf %x, %s : f32
    linalg.yield %d, %t : f32, f32
  } -> (tensor<?x40xf32>, tensor<?x40xf32>)
  %end = linalg.generic {indexing_maps = [#e, #row], iterator_types = ["parallel", "reduction"]} ins(%two#1 : tensor<?x40xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32):
    %r = arith.addf %x, %y : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %sum, %two#0, %end : tensor<?xf32>, tensor<?x40xf32>, tensor<?xf32>
}
// Rounded once: 1 / round(sqrt(x)) would be one more.
func.func @narrow_root(%a: tensor<4xbf16>, %b: tensor<4xf16>) -> (tensor<4xi16>, tensor<4xi16>) {
  %0 = math.rsqrt %a : tensor<4xbf16>
  %1 = math.rsqrt %b : tensor<4xf16>
  %2 = arith.bitcast %0 : tensor<4xbf16> to tensor<4xi16>
  %3 = arith.bitcast %1 : tensor<4xf16> to tensor<4xi16>
  return %2, %3 : tensor<4xi16>, tensor<4xi16>
}
// Of a single column: its rows lie together, and not what the slice has beside each other.
func.func @every_second_column(%x: tensor<5x1xf16>, %rows: index, %at: index, %columns: index) -> tensor<?x?xf16> {
  %0 = tensor.extract_slice %x[0, %at] [%rows, %columns] [1, 2] : tensor<5x1xf16> to tensor<?x?xf16>
  return %0 : tensor<?x?xf16>
}

// The least of numbers that are all the same: what a thread starts with is a number of the index's width.
func.func @least_index(%x: tensor<9x9xindex>, %most: tensor<index>) -> tensor<i64> {
  %c8 = arith.constant 8 : index
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<9x9xindex>) outs(%most : tensor<index>) {
  ^bb0(%in: index, %least: index):
    %1 = arith.minsi %least, %c8 : index
    linalg.yield %1 : index
  } -> tensor<index>
  %2 = arith.index_cast %0 : tensor<index> to tensor<i64>
  return %2 : tensor<i64>
}

// Packed, and without elements: compiling this did not come to an end.
func.func @no_sum(%a: tensor<?x0xi2>, %b: tensor<0x?xi2>, %c: tensor<?x?xi2>) -> tensor<?x?xi2> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x0xi2>, tensor<0x?xi2>) outs(%c : tensor<?x?xi2>) -> tensor<?x?xi2>
  return %0 : tensor<?x?xi2>
}

// The last dimension of an input is one of the batch: what lies beside each other in memory belongs to other products.
func.func @innermost_batch(%a: tensor<?x2x8x8xi16>, %b: tensor<?x2x8x?xi16>, %n: index) -> tensor<2x8x8x?xi16> {
  %zero = arith.constant 0 : i16
  %e = tensor.empty(%n) : tensor<2x8x8x?xi16>
  %init = linalg.fill ins(%zero : i16) outs(%e : tensor<2x8x8x?xi16>) -> tensor<2x8x8x?xi16>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, m, c, k, b) -> (k, b, m, c)>, affine_map<(n, m, c, k, b) -> (n, b, c, k)>,
      affine_map<(n, m, c, k, b) -> (b, m, c, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<?x2x8x8xi16>, tensor<?x2x8x?xi16>) outs(%init : tensor<2x8x8x?xi16>) {
  ^bb0(%x: i16, %y: i16, %s: i16):
    %1 = arith.muli %x, %y : i16
    %2 = arith.addi %s, %1 : i16
    linalg.yield %2 : i16
  } -> tensor<2x8x8x?xi16>
  return %0 : tensor<2x8x8x?xi16>
}

// What MLIR folds to a constant of the result's type, which has no known extents.
func.func @with_itself(%x: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi1>, tensor<?xi1>) {
  %0 = arith.xori %x, %x : tensor<?xi32>
  %1 = arith.cmpi slt, %x, %x : tensor<?xi32>
  %2 = func.call @is_itself(%x) : (tensor<?xi32>) -> tensor<?xi1>
  return %0, %1, %2 : tensor<?xi32>, tensor<?xi1>, tensor<?xi1>
}
func.func private @is_itself(%x: tensor<?xi32>) -> tensor<?xi1> {
  %0 = stablehlo.compare EQ, %x, %x : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// A slice that cuts what is not tiled of an unpacked tensor.
func.func @cut_of_unpack(%x: tensor<2x3x2xf32>) -> (tensor<3x2xf32>, tensor<1x1xf32>) {
  %e = tensor.empty() : tensor<4x3xf32>
  %u = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<2x3x2xf32> -> tensor<4x3xf32>
  %s = tensor.extract_slice %u[0, 0] [3, 2] [1, 1] : tensor<4x3xf32> to tensor<3x2xf32>
  %turned = tensor.extract_slice %x[0, 0, 0] [2, 1, 1] [1, 1, 1] : tensor<2x3x2xf32> to tensor<2x1x1xf32>
  %e2 = tensor.empty() : tensor<1x2xf32>
  %v = linalg.unpack %turned outer_dims_perm = [1, 0] inner_dims_pos = [0] inner_tiles = [1] into %e2 : tensor<2x1x1xf32> -> tensor<1x2xf32>
  %t = tensor.extract_slice %v[0, 0] [1, 1] [1, 1] : tensor<1x2xf32> to tensor<1x1xf32>
  %one = tensor.empty() : tensor<1x1xf32>
  %twice = linalg.add ins(%t, %t : tensor<1x1xf32>, tensor<1x1xf32>) outs(%one : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %s, %twice : tensor<3x2xf32>, tensor<1x1xf32>
}

// Parts that are known to be empty once a call is inlined, and one that makes all of the result empty.
func.func @concat_empty_part(%x: tensor<4x0xf32>, %y: tensor<2xf32>, %z: tensor<1x2x?xf32>) -> (tensor<?xf32>, tensor<1x4x0xf32>) {
  %none = func.call @empty_part(%x) : (tensor<4x0xf32>) -> tensor<?xf32>
  %0 = tensor.concat dim(0) %y, %none : (tensor<2xf32>, tensor<?xf32>) -> tensor<?xf32>
  %e = tensor.empty() : tensor<1x2x0xf32>
  %1 = tensor.concat dim(1) %e, %z : (tensor<1x2x0xf32>, tensor<1x2x?xf32>) -> tensor<1x4x0xf32>
  return %0, %1 : tensor<?xf32>, tensor<1x4x0xf32>
}
func.func private @empty_part(%x: tensor<4x0xf32>) -> tensor<?xf32> {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<4x0xf32> into tensor<0xf32>
  %1 = tensor.cast %0 : tensor<0xf32> to tensor<?xf32>
  return %1 : tensor<?xf32>
}

// A type without a sign, of whose constants MLIR keeps one.
func.func @scale_of_negative() -> (f8E8M0FNU, f8E8M0FNU) {
  %x = arith.constant -1.0 : f16
  %one = arith.constant 1.0 : f8E8M0FNU
  %two = arith.constant 2.0 : f8E8M0FNU
  %0 = arith.truncf %x : f16 to f8E8M0FNU
  %1 = arith.addf %0, %one : f8E8M0FNU
  %2 = arith.addf %1, %one : f8E8M0FNU
  %3 = arith.subf %one, %two : f8E8M0FNU
  return %2, %3 : f8E8M0FNU, f8E8M0FNU
}

// Tiles that stay where they are, of which the program knows more than their size.
func.func @cast_pack(%x: tensor<?x?x3xf32>, %m: index, %n: index) -> tensor<?x1x2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?x2x2xf32>
  %p = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [2] inner_tiles = [2] into %e : tensor<?x?x3xf32> -> tensor<?x?x2x2xf32>
  %c = tensor.cast %p : tensor<?x?x2x2xf32> to tensor<?x1x2x2xf32>
  return %c : tensor<?x1x2x2xf32>
}

// A product by panels, whose last one has lanes that hold no column: nothing may be looked up for these.
func.func @scaled_columns(%a: tensor<64x64xf32>, %b: tensor<65x64xf32>, %w: tensor<65x400000xf32>) -> tensor<64x65xf32> {
  %z = arith.constant dense<0.0> : tensor<64x65xf32>
  %c = arith.constant 3 : index
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<65x64xf32>) outs(%z : tensor<64x65xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %w[%j, %c] : tensor<65x400000xf32>
    %q = arith.mulf %x, %y : f32
    %t = arith.mulf %q, %v : f32
    %s = arith.addf %t, %o : f32
    linalg.yield %s : f32
  } -> tensor<64x65xf32>
  return %r : tensor<64x65xf32>
}
