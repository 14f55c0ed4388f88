// Operations of iree_linalg_ext: what they compute, on extents that no power of two divides, and on ones that only the
// call knows.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb

// Equal keys keep their order; what goes along with them is moved as they are.
func.func @sort_pairs() {
  %keys = util.unfoldable_constant dense<[3, 1, 2, 3, 1, 2, 3]> : tensor<7xi32>
  %items = util.unfoldable_constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<7xf32>
  %0:2 = iree_linalg_ext.sort dimension(0) outs(%keys, %items : tensor<7xi32>, tensor<7xf32>) {
  ^bb0(%a: i32, %b: i32, %x: f32, %y: f32):
    %less = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %less : i1
  } -> tensor<7xi32>, tensor<7xf32>
  check.expect_eq_const(%0#0, dense<[1, 1, 2, 2, 3, 3, 3]> : tensor<7xi32>) : tensor<7xi32>
  check.expect_eq_const(%0#1, dense<[1.0, 4.0, 2.0, 5.0, 0.0, 3.0, 6.0]> : tensor<7xf32>) : tensor<7xf32>
  return
}

// i * 7919 mod 1009 takes each number from 0 to 1008 once.
func.func @sort_many_columns() {
  %n = arith.constant 1009 : index
  %shape = util.optimization_barrier %n : index
  %c7919 = arith.constant 7919 : index
  %c3 = arith.constant 3 : index
  %numbers = tensor.generate %shape {
  ^bb0(%i: index, %j: index):
    %0 = arith.muli %i, %c7919 : index
    %1 = arith.addi %0, %j : index
    %2 = arith.remui %1, %n : index
    %3 = arith.index_cast %2 : index to i64
    tensor.yield %3 : i64
  } : tensor<?x3xi64>
  %sorted = iree_linalg_ext.sort dimension(0) outs(%numbers : tensor<?x3xi64>) {
  ^bb0(%a: i64, %b: i64):
    %greater = arith.cmpi sgt, %a, %b : i64
    iree_linalg_ext.yield %greater : i1
  } -> tensor<?x3xi64>
  %expected = tensor.generate %shape {
  ^bb0(%i: index, %j: index):
    %c1008 = arith.constant 1008 : index
    %0 = arith.subi %c1008, %i : index
    %1 = arith.index_cast %0 : index to i64
    tensor.yield %1 : i64
  } : tensor<?x3xi64>
  check.expect_eq(%sorted, %expected) : tensor<?x3xi64>
  return
}

// Outputs compete, and are before inputs of the same value; indices that are not given count from zero.
func.func @largest_three() {
  %x = util.unfoldable_constant dense<[[2.0, 9.0, 4.0, 9.0, 1.0], [8.0, 3.0, 8.0, 5.0, 8.0]]> : tensor<2x5xf32>
  %best = util.unfoldable_constant dense<[[9.0, -1.0, -1.0], [-1.0, -1.0, -1.0]]> : tensor<2x3xf32>
  %where = util.unfoldable_constant dense<-7> : tensor<2x3xi32>
  %0:2 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<2x5xf32>)
      outs(%best, %where : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%a: f32, %b: f32):
    %greater = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %greater : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  check.expect_eq_const(%0#0, dense<[[9.0, 9.0, 9.0], [8.0, 8.0, 8.0]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  check.expect_eq_const(%0#1, dense<[[-7, 1, 3], [0, 2, 4]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  return
}

func.func @smallest_values_alone() {
  %x = util.unfoldable_constant dense<[5, -2, 7, 0]> : tensor<4xi16>
  %most = arith.constant dense<32767> : tensor<6xi16>
  %0 = iree_linalg_ext.topk_v2 dimension(0) is_sorted ins(%x : tensor<4xi16>) outs(%most : tensor<6xi16>) {
  ^bb0(%a: i16, %b: i16):
    %less = arith.cmpi slt, %a, %b : i16
    iree_linalg_ext.yield %less : i1
  } -> tensor<6xi16>
  check.expect_eq_const(%0, dense<[-2, 0, 5, 7, 32767, 32767]> : tensor<6xi16>) : tensor<6xi16>
  return
}

// A product of 2x2 matrices would do as well: the body need not commute. Here it keeps the first that is not zero.
func.func @scan_first() {
  %x = util.unfoldable_constant dense<[[0, 4, 0], [3, 5, 0], [6, 0, 0], [0, 7, 8], [9, 0, 0]]> : tensor<5x3xi32>
  %out = tensor.empty() : tensor<5x3xi32>
  %start = util.unfoldable_constant dense<0> : tensor<3xi32>
  %zero = arith.constant 0 : i32
  %0:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<5x3xi32>)
      outs(%out, %start : tensor<5x3xi32>, tensor<3xi32>) {
  ^bb0(%a: i32, %b: i32):
    %is = arith.cmpi ne, %a, %zero : i32
    %1 = arith.select %is, %a, %b : i32
    iree_linalg_ext.yield %1 : i32
  } -> tensor<5x3xi32>, tensor<3xi32>
  check.expect_eq_const(%0#0, dense<[[0, 4, 0], [3, 4, 0], [3, 4, 0], [3, 4, 8], [3, 4, 8]]> : tensor<5x3xi32>)
    : tensor<5x3xi32>
  check.expect_eq_const(%0#1, dense<[3, 4, 8]> : tensor<3xi32>) : tensor<3xi32>
  return
}

func.func @scan_exclusive_dynamic() {
  %x = flow.tensor.dynamic_constant dense<[[1, 2, 3, 4, 5, 6, 7], [1, 1, 1, 1, 1, 1, 1]]> : tensor<2x7xi64> -> tensor<?x?xi64>
  %start = flow.tensor.dynamic_constant dense<[100, -1]> : tensor<2xi64> -> tensor<?xi64>
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(false) ins(%x : tensor<?x?xi64>)
      outs(%x, %start : tensor<?x?xi64>, tensor<?xi64>) {
  ^bb0(%a: i64, %b: i64):
    %1 = arith.addi %a, %b : i64
    iree_linalg_ext.yield %1 : i64
  } -> tensor<?x?xi64>, tensor<?xi64>
  %expected = flow.tensor.dynamic_constant
      dense<[[100, 101, 103, 106, 110, 115, 121], [-1, 0, 1, 2, 3, 4, 5]]> : tensor<2x7xi64> -> tensor<?x?xi64>
  %last = flow.tensor.dynamic_constant dense<[121, 5]> : tensor<2xi64> -> tensor<?xi64>
  check.expect_eq(%0#0, %expected) : tensor<?x?xi64>
  check.expect_eq(%0#1, %last) : tensor<?xi64>
  return
}

func.func @nearest_to_five() {
  %x = util.unfoldable_constant dense<[[1, 8, 4, 6], [5, 0, 9, 5]]> : tensor<2x4xi32>
  %far = arith.constant dense<1000> : tensor<2xi32>
  %nowhere = arith.constant dense<-1> : tensor<2xi64>
  %five = arith.constant 5 : i32
  %base = arith.constant 10 : index
  %0:2 = iree_linalg_ext.arg_compare dimension(1) ins(%x : tensor<2x4xi32>)
      outs(%far, %nowhere : tensor<2xi32>, tensor<2xi64>) index_base(%base : index) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.subi %a, %five : i32
    %2 = arith.subi %b, %five : i32
    %3 = math.absi %1 : i32
    %4 = math.absi %2 : i32
    %less = arith.cmpi slt, %3, %4 : i32
    iree_linalg_ext.yield %less : i1
  } -> tensor<2xi32>, tensor<2xi64>
  check.expect_eq_const(%0#0, dense<[4, 5]> : tensor<2xi32>) : tensor<2xi32>
  check.expect_eq_const(%0#1, dense<[12, 10]> : tensor<2xi64>) : tensor<2xi64>
  return
}

// Slices of 2 from a middle dimension, and of single elements.
func.func @gathers() {
  %x = util.unfoldable_constant dense<[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]> : tensor<2x3x2xi32>
  %middle = util.unfoldable_constant dense<[2, 0, 2]> : tensor<3xi32>
  %out = tensor.empty() : tensor<3x2x2xi32>
  %0 = iree_linalg_ext.gather dimension_map = [1] ins(%x, %middle : tensor<2x3x2xi32>, tensor<3xi32>)
      outs(%out : tensor<3x2x2xi32>) -> tensor<3x2x2xi32>
  check.expect_eq_const(%0, dense<[[[5, 6], [11, 12]], [[1, 2], [7, 8]], [[5, 6], [11, 12]]]> : tensor<3x2x2xi32>)
    : tensor<3x2x2xi32>
  %places = util.unfoldable_constant dense<[[1, 0, 2], [0, 1, 1]]> : tensor<2x3xi64>
  %mask = util.unfoldable_constant dense<[true, false]> : tensor<2xi1>
  %kept = util.unfoldable_constant dense<[-1, -2]> : tensor<2xi32>
  %1 = iree_linalg_ext.gather dimension_map = [2, 0, 1] ins(%x, %places, %mask : tensor<2x3x2xi32>, tensor<2x3xi64>, tensor<2xi1>)
      outs(%kept : tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const(%1, dense<[6, -2]> : tensor<2xi32>) : tensor<2xi32>
  return
}

// One after the other: what comes twice is added twice.
func.func @scatters() {
  %x = util.unfoldable_constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %slices = util.unfoldable_constant dense<[[10, 20], [30, 40], [50, 60]]> : tensor<3x2xi8>
  %places = util.unfoldable_constant dense<[[2], [0], [2]]> : tensor<3x1xi32>
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false)
      ins(%slices, %places : tensor<3x2xi8>, tensor<3x1xi32>) outs(%x : tensor<3x2xi32>) {
  ^bb0(%new: i8, %old: i32):
    %1 = arith.extsi %new : i8 to i32
    %2 = arith.addi %old, %1 : i32
    iree_linalg_ext.yield %2 : i32
  } -> tensor<3x2xi32>
  check.expect_eq_const(%0, dense<[[31, 42], [3, 4], [65, 86]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  // The place that is masked is none of the tensor.
  %where = util.unfoldable_constant dense<[[1, 0], [99, 0], [0, 2]]> : tensor<3x2xi64>
  %mask = util.unfoldable_constant dense<[true, false, true]> : tensor<3xi1>
  %numbers = util.unfoldable_constant dense<[-1, -2, -3]> : tensor<3xi32>
  %3 = iree_linalg_ext.scatter dimension_map = [1, 0] unique_indices(true)
      ins(%numbers, %where, %mask : tensor<3xi32>, tensor<3x2xi64>, tensor<3xi1>) outs(%x : tensor<3x2xi32>) {
  ^bb0(%new: i32, %old: i32):
    iree_linalg_ext.yield %new : i32
  } -> tensor<3x2xi32>
  check.expect_eq_const(%3, dense<[[1, -1], [3, 4], [-3, 6]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  return
}

func.func @map_load() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %out = tensor.empty() : tensor<4x2xf32>
  %one = arith.constant 1 : index
  %padding = arith.constant -1.0 : f32
  // Turned, and moved by one row.
  %0 = iree_linalg_ext.map_load %x into %out {
  ^bb0(%i: index, %j: index):
    %row = arith.subi %i, %one : index
    iree_linalg_ext.yield %j, %row, %padding : index, index, f32
  } : tensor<2x3xf32> into tensor<4x2xf32> -> tensor<4x2xf32>
  check.expect_eq_const(%0, dense<[[-1.0, -1.0], [1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<4x2xf32>) : tensor<4x2xf32>
  return
}

// Of two elements in one place the last stays; places outside, and those that are masked, hold what the output has.
func.func @map_store() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %out = util.unfoldable_constant dense<[10, 11, 12, 13]> : tensor<4xi32>
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %0 = iree_linalg_ext.map_store %x into %out {
  ^bb0(%i: index, %j: index):
    %twice = arith.muli %j, %two : index
    %is = arith.cmpi ne, %j, %i : index
    iree_linalg_ext.yield %twice, %is : index, i1
  } : tensor<2x3xi32> into tensor<4xi32> -> tensor<4xi32>
  // Elements 2 and 3 of the first row are put at 2 and 4, elements 4 and 6 of the second one at 0 and 4.
  check.expect_eq_const(%0, dense<[4, 11, 2, 13]> : tensor<4xi32>) : tensor<4xi32>
  %1 = iree_linalg_ext.map_store %x into %out {
  ^bb0(%i: index, %j: index):
    %true = arith.constant true
    iree_linalg_ext.yield %j, %true : index, i1
  } : tensor<2x3xi32> into tensor<4xi32> -> tensor<4xi32>
  check.expect_eq_const(%1, dense<[4, 5, 6, 13]> : tensor<4xi32>) : tensor<4xi32>
  return
}

// With keys that are all the same, a row is the mean of the values that take part.
func.func @attention_masked() {
  %q = util.unfoldable_constant dense<1.0> : tensor<2x3x4xf16>
  %k = util.unfoldable_constant dense<0.5> : tensor<2x5x4xf16>
  %v = util.unfoldable_constant dense<[[[1.0], [2.0], [3.0], [4.0], [5.0]], [[2.0], [4.0], [6.0], [8.0], [10.0]]]> : tensor<2x5x1xf16>
  %mask = util.unfoldable_constant dense<[[true, true, true, true, true], [true, false, false, false, true],
                                          [false, false, true, true, false]]> : tensor<3x5xi1>
  %scale = arith.constant 0.25 : f16
  %init = tensor.empty() : tensor<2x3x1xf32>
  %0 = iree_linalg_ext.attention {indexing_maps = [affine_map<(b, m, k1, k2, n) -> (b, m, k1)>,
      affine_map<(b, m, k1, k2, n) -> (b, k2, k1)>, affine_map<(b, m, k1, k2, n) -> (b, k2, n)>,
      affine_map<(b, m, k1, k2, n) -> ()>, affine_map<(b, m, k1, k2, n) -> (m, k2)>,
      affine_map<(b, m, k1, k2, n) -> (b, m, n)>]}
      ins(%q, %k, %v, %scale, %mask : tensor<2x3x4xf16>, tensor<2x5x4xf16>, tensor<2x5x1xf16>, f16, tensor<3x5xi1>)
      outs(%init : tensor<2x3x1xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<2x3x1xf32>
  check.expect_almost_eq_const(%0, dense<[[[3.0], [3.0], [3.5]], [[6.0], [6.0], [7.0]]]> : tensor<2x3x1xf32>) : tensor<2x3x1xf32>
  return
}

// Two keys whose scores differ by ln 3: weights of 3/4 and 1/4. What is added to scores does the same as they do, and a
// part of the keys after the other gives the same as all at once.
func.func @attention_in_parts() {
  %q = util.unfoldable_constant dense<[[2.0]]> : tensor<1x1xf32>
  %k = util.unfoldable_constant dense<[[0.0], [0.0]]> : tensor<2x1xf32>
  %v = util.unfoldable_constant dense<[[8.0, 0.0], [0.0, 4.0]]> : tensor<2x2xf32>
  %added = util.unfoldable_constant dense<[[1.09861229, 0.0]]> : tensor<1x2xf32>
  %scale = arith.constant 1.0 : f32
  %init = tensor.empty() : tensor<1x2xf32>
  %0 = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, k1, k2, n) -> (m, k1)>,
      affine_map<(m, k1, k2, n) -> (k2, k1)>, affine_map<(m, k1, k2, n) -> (k2, n)>, affine_map<(m, k1, k2, n) -> ()>,
      affine_map<(m, k1, k2, n) -> (m, k2)>, affine_map<(m, k1, k2, n) -> (m, n)>]}
      ins(%q, %k, %v, %scale, %added : tensor<1x1xf32>, tensor<2x1xf32>, tensor<2x2xf32>, f32, tensor<1x2xf32>)
      outs(%init : tensor<1x2xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<1x2xf32>
  check.expect_almost_eq_const(%0, dense<[[6.0, 1.0]]> : tensor<1x2xf32>) : tensor<1x2xf32>

  %first_k = util.unfoldable_constant dense<[[0.549306145]]> : tensor<1x1xf32>
  %second_k = util.unfoldable_constant dense<[[0.0]]> : tensor<1x1xf32>
  %first_v = tensor.extract_slice %v[0, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<1x2xf32>
  %second_v = tensor.extract_slice %v[1, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<1x2xf32>
  %none = arith.constant dense<0.0> : tensor<1x2xf32>
  %least = arith.constant dense<0xFF800000> : tensor<1xf32>
  %nothing = arith.constant dense<0.0> : tensor<1xf32>
  %1:3 = iree_linalg_ext.online_attention {indexing_maps = [affine_map<(m, k1, k2, n) -> (m, k1)>,
      affine_map<(m, k1, k2, n) -> (k2, k1)>, affine_map<(m, k1, k2, n) -> (k2, n)>, affine_map<(m, k1, k2, n) -> ()>,
      affine_map<(m, k1, k2, n) -> (m, n)>, affine_map<(m, k1, k2, n) -> (m)>, affine_map<(m, k1, k2, n) -> (m)>]}
      ins(%q, %second_k, %second_v, %scale : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x2xf32>, f32)
      outs(%none, %least, %nothing : tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>
  %2:3 = iree_linalg_ext.online_attention {indexing_maps = [affine_map<(m, k1, k2, n) -> (m, k1)>,
      affine_map<(m, k1, k2, n) -> (k2, k1)>, affine_map<(m, k1, k2, n) -> (k2, n)>, affine_map<(m, k1, k2, n) -> ()>,
      affine_map<(m, k1, k2, n) -> (m, n)>, affine_map<(m, k1, k2, n) -> (m)>, affine_map<(m, k1, k2, n) -> (m)>]}
      ins(%q, %first_k, %first_v, %scale : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x2xf32>, f32)
      outs(%1#0, %1#1, %1#2 : tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> tensor<1x2xf32>, tensor<1xf32>, tensor<1xf32>
  check.expect_almost_eq_const(%2#0, dense<[[8.0, 1.33333337]]> : tensor<1x2xf32>) : tensor<1x2xf32>
  // An exponent of two.
  check.expect_almost_eq_const(%2#1, dense<1.5849625> : tensor<1xf32>) : tensor<1xf32>
  check.expect_almost_eq_const(%2#2, dense<1.33333337> : tensor<1xf32>) : tensor<1xf32>
  return
}

// A convolution by Winograd's method is one as any other: transformed with a filter of ones, whose transform's rows are
// known, multiplied, and transformed back.
func.func @winograd() {
  %image = util.unfoldable_constant dense<1.0> : tensor<1x9x8x1xf32>
  %c2 = arith.constant 2 : index
  %tiles_init = tensor.empty() : tensor<8x8x1x2x1x1xf32>
  %tiles = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) image_dimensions([1, 2])
      ins(%image : tensor<1x9x8x1xf32>) outs(%tiles_init : tensor<8x8x1x2x1x1xf32>) -> tensor<8x8x1x2x1x1xf32>
  // Sums of the rows of the filter's transform: of 1, -2/9 (1, 1, 1), -2/9 (1, -1, 1), (1, 2, 4) / 90, (1, -2, 4) / 90,
  // (32, 16, 8) / 45, (32, -16, 8) / 45, 1.
  %g = util.unfoldable_constant dense<[1.0, -0.666666687, -0.222222224, 0.0777777806, 0.0333333351, 1.24444449, 0.533333361, 1.0]> : tensor<8xf32>
  %products_init = tensor.empty() : tensor<8x8x1x2x1x1xf32>
  %products = linalg.generic {indexing_maps = [affine_map<(i, j, n, y, x, c) -> (i, j, n, y, x, c)>,
      affine_map<(i, j, n, y, x, c) -> (i)>, affine_map<(i, j, n, y, x, c) -> (j)>,
      affine_map<(i, j, n, y, x, c) -> (i, j, n, y, x, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%tiles, %g, %g : tensor<8x8x1x2x1x1xf32>, tensor<8xf32>, tensor<8xf32>) outs(%products_init : tensor<8x8x1x2x1x1xf32>) {
  ^bb0(%t: f32, %a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %t, %a : f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<8x8x1x2x1x1xf32>
  %result_init = tensor.empty() : tensor<1x7x6x1xf32>
  %result = iree_linalg_ext.winograd.output_transform output_tile_size(6) kernel_size(3) image_dimensions([1, 2])
      ins(%products : tensor<8x8x1x2x1x1xf32>) outs(%result_init : tensor<1x7x6x1xf32>) -> tensor<1x7x6x1xf32>
  check.expect_almost_eq_const(%result, dense<9.0> : tensor<1x7x6x1xf32>, atol 1.0e-3) : tensor<1x7x6x1xf32>
  return
}

// What upstream splits an index with, in a body.
func.func @split_indices() {
  %x = util.unfoldable_constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %e = tensor.empty() : tensor<6xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<6xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %at:2 = affine.delinearize_index %i into (3, 2) : index, index
    %1 = tensor.extract %x[%at#1, %at#0] : tensor<2x3xi32>
    %joined = affine.linearize_index [%at#1, %at#0] by (2, 3) : index
    %2 = arith.index_cast %joined : index to i32
    %3 = arith.subi %1, %2 : i32
    %4 = arith.muli %1, %1 : i32
    %5 = arith.addi %3, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<6xi32>
  check.expect_eq_const(%0, dense<[0, 9, 1, 16, 4, 25]> : tensor<6xi32>) : tensor<6xi32>
  return
}
