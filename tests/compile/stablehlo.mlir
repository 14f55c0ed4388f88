// Programs in StableHLO, in the text that JAX prints: each operation that Kiln takes, with what it computes.
// REQUIRES: compiler
// RUN: kiln-compile --iree-input-type=stablehlo --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb
// RUN: kiln-opt %s | kiln-opt | kiln-compile --iree-hal-target-backends=llvm-cpu - -o %t.again.vmfb
// RUN: kiln-check-module --module=%t.again.vmfb

func.func @floats() {
  %x = util.unfoldable_constant dense<[-2.5, -0.5, 0.5, 3.0]> : tensor<4xf32>
  %y = util.unfoldable_constant dense<[2.0, -1.0, 4.0, 0.5]> : tensor<4xf32>
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %1 = stablehlo.subtract %0, %y : tensor<4xf32>
  %2 = stablehlo.multiply %x, %y : tensor<4xf32>
  %3 = stablehlo.divide %x, %y : tensor<4xf32>
  %4 = stablehlo.maximum %x, %y : tensor<4xf32>
  %5 = stablehlo.minimum %x, %y : tensor<4xf32>
  %6 = stablehlo.remainder %x, %y : tensor<4xf32>
  %7 = stablehlo.round_nearest_afz %x : tensor<4xf32>
  %8 = stablehlo.round_nearest_even %x : tensor<4xf32>
  %9 = stablehlo.sign %x : tensor<4xf32>
  %10 = stablehlo.abs %x : tensor<4xf32>
  %11 = stablehlo.power %10, %y : tensor<4xf32>
  %12 = stablehlo.logistic %x : tensor<4xf32>
  %13 = stablehlo.negate %12 : tensor<4xf32>
  %14 = stablehlo.is_finite %3 : (tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const(%0, dense<[-0.5, -1.5, 4.5, 3.5]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq(%1, %x) : tensor<4xf32>
  check.expect_eq_const(%2, dense<[-5.0, 0.5, 2.0, 1.5]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%3, dense<[-1.25, 0.5, 0.125, 6.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%4, dense<[2.0, -0.5, 4.0, 3.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%5, dense<[-2.5, -1.0, 0.5, 0.5]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%6, dense<[-0.5, -0.5, 0.5, 0.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%7, dense<[-3.0, -1.0, 1.0, 3.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%8, dense<[-2.0, -0.0, 0.0, 3.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%9, dense<[-1.0, -1.0, 1.0, 1.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_almost_eq_const(%11, dense<[6.25, 2.0, 0.0625, 1.7320508]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_almost_eq_const(%13, dense<[-0.0758582, -0.3775407, -0.6224593, -0.9525741]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_all_true(%14) : tensor<4xi1>
  return
}

func.func @integers() {
  %x = util.unfoldable_constant dense<[7, -8, 5, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 3, 31, 40]> : tensor<4xi32>
  %0 = stablehlo.divide %x, %y : tensor<4xi32>
  %1 = stablehlo.remainder %x, %y : tensor<4xi32>
  %2 = stablehlo.shift_left %x, %y : tensor<4xi32>
  %3 = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi32>
  %4 = stablehlo.shift_right_logical %x, %y : tensor<4xi32>
  %5 = stablehlo.sign %x : tensor<4xi32>
  %6 = stablehlo.not %x : tensor<4xi32>
  %7 = stablehlo.popcnt %x : tensor<4xi32>
  %8 = stablehlo.count_leading_zeros %x : tensor<4xi32>
  %9 = stablehlo.compare LT, %x, %y, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %10 = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %11 = stablehlo.add %9, %10 : tensor<4xi1>
  %12 = stablehlo.multiply %9, %10 : tensor<4xi1>
  check.expect_eq_const(%0, dense<[3, -2, 0, 0]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%1, dense<[1, -2, 5, 0]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%2, dense<[28, -64, -2147483648, 0]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%3, dense<[1, -1, 0, 0]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%4, dense<[1, 536870911, 0, 0]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%5, dense<[1, -1, 1, 0]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%6, dense<[-8, 7, -6, -1]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%7, dense<[3, 29, 2, 0]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%8, dense<[29, 0, 29, 32]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%11, dense<[false, true, true, true]> : tensor<4xi1>) : tensor<4xi1>
  check.expect_eq_const(%12, dense<[false, false, true, true]> : tensor<4xi1>) : tensor<4xi1>
  return
}

func.func @conversions() {
  %x = util.unfoldable_constant dense<[-1.75, 0.0, 2.5, 300.0]> : tensor<4xf32>
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi1>
  %2 = stablehlo.convert %1 : (tensor<4xi1>) -> tensor<4xf16>
  %3 = stablehlo.convert %2 : (tensor<4xf16>) -> tensor<4xbf16>
  %4 = stablehlo.convert %0 : (tensor<4xi32>) -> tensor<4xi8>
  %5 = stablehlo.convert %4 : (tensor<4xi8>) -> tensor<4xi64>
  %6 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>
  check.expect_eq_const(%0, dense<[-1, 0, 2, 300]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%3, dense<[1.0, 0.0, 1.0, 1.0]> : tensor<4xbf16>) : tensor<4xbf16>
  check.expect_eq_const(%5, dense<[-1, 0, 2, 44]> : tensor<4xi64>) : tensor<4xi64>
  check.expect_eq_const(%6, dense<[-1075838976, 0, 1075838976, 1133903872]> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @choices() {
  %x = util.unfoldable_constant dense<[1, 2, 3]> : tensor<3xi32>
  %y = util.unfoldable_constant dense<[4, 5, 6]> : tensor<3xi32>
  %each = util.unfoldable_constant dense<[true, false, true]> : tensor<3xi1>
  %all = util.unfoldable_constant dense<false> : tensor<i1>
  %0 = stablehlo.select %each, %x, %y : tensor<3xi1>, tensor<3xi32>
  %1 = stablehlo.select %all, %x, %y : tensor<i1>, tensor<3xi32>
  %low = util.unfoldable_constant dense<2> : tensor<i32>
  %high = util.unfoldable_constant dense<[9, 9, 2]> : tensor<3xi32>
  %2 = stablehlo.clamp %low, %x, %high : (tensor<i32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const(%0, dense<[1, 5, 3]> : tensor<3xi32>) : tensor<3xi32>
  check.expect_eq(%1, %y) : tensor<3xi32>
  check.expect_eq_const(%2, dense<2> : tensor<3xi32>) : tensor<3xi32>
  return
}

func.func @movement() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %1 = stablehlo.add %x, %0 : tensor<2x3xi32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %3 = stablehlo.reverse %2, dims = [0] : tensor<3x2xi32>
  %4 = stablehlo.reshape %3 : (tensor<3x2xi32>) -> tensor<6xi32>
  check.expect_eq_const(%4, dense<[5, 8, 3, 6, 1, 4]> : tensor<6xi32>) : tensor<6xi32>
  %5 = stablehlo.slice %4 [1:6:2] : (tensor<6xi32>) -> tensor<3xi32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
  %7 = stablehlo.concatenate %6, %x, dim = 0 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<4x3xi32>
  check.expect_eq_const(%7, dense<[[8, 6, 4], [8, 6, 4], [1, 2, 3], [4, 5, 6]]> : tensor<4x3xi32>) : tensor<4x3xi32>
  %column = stablehlo.slice %x [0:2, 0:1] : (tensor<2x3xi32>) -> tensor<2x1xi32>
  %8 = stablehlo.broadcast_in_dim %column, dims = [0, 1] : (tensor<2x1xi32>) -> tensor<2x2xi32>
  check.expect_eq_const(%8, dense<[[1, 1], [4, 4]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  // Between elements and around them, and less than there was.
  %value = util.unfoldable_constant dense<-1> : tensor<i32>
  %9 = stablehlo.pad %x, %value, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x6xi32>
  check.expect_eq_const(%9, dense<[[-1, -1, -1, -1, -1, -1], [-1, 2, -1, 3, -1, -1], [-1, 5, -1, 6, -1, -1]]> : tensor<3x6xi32>)
    : tensor<3x6xi32>
  return
}

// Starts are moved so that slices lie in the tensor.
func.func @dynamic_slices() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %two = util.unfoldable_constant dense<2> : tensor<i64>
  %minus = util.unfoldable_constant dense<-5> : tensor<i64>
  %0 = stablehlo.dynamic_slice %x, %two, %minus, sizes = [2, 2] : (tensor<3x3xi32>, tensor<i64>, tensor<i64>) -> tensor<2x2xi32>
  %1 = stablehlo.dynamic_update_slice %x, %0, %minus, %two : (tensor<3x3xi32>, tensor<2x2xi32>, tensor<i64>, tensor<i64>) -> tensor<3x3xi32>
  check.expect_eq_const(%0, dense<[[4, 5], [7, 8]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  check.expect_eq_const(%1, dense<[[1, 4, 5], [4, 7, 8], [7, 8, 9]]> : tensor<3x3xi32>) : tensor<3x3xi32>
  return
}

// Rows; and elements of the batch's own row, whose places come in the first dimension of the indices.
func.func @gathers() {
  %x = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %rows = util.unfoldable_constant dense<[[2], [0], [99]]> : tensor<3x1xi32>
  %0 = "stablehlo.gather"(%x, %rows) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>} : (tensor<3x3xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  check.expect_eq_const(%0, dense<[[7, 8], [1, 2], [7, 8]]> : tensor<3x2xi32>) : tensor<3x2xi32>
  %places = util.unfoldable_constant dense<[[1, 2, 0]]> : tensor<1x3xi64>
  %1 = "stablehlo.gather"(%x, %places) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1],
      operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 0>,
      slice_sizes = array<i64: 1, 1>} : (tensor<3x3xi32>, tensor<1x3xi64>) -> tensor<3xi32>
  check.expect_eq_const(%1, dense<[2, 6, 7]> : tensor<3xi32>) : tensor<3xi32>
  %2 = "stablehlo.torch_index_select"(%x, %places) {dim = -1 : i64, batch_dims = 0 : i64}
      : (tensor<3x3xi32>, tensor<1x3xi64>) -> tensor<3x1x3xi32>
  check.expect_eq_const(%2, dense<[[[2, 3, 1]], [[5, 6, 4]], [[8, 9, 7]]]> : tensor<3x1x3xi32>) : tensor<3x1x3xi32>
  return
}

func.func @products() {
  %a = util.unfoldable_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = util.unfoldable_constant dense<[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]> : tensor<3x2xf32>
  %0 = stablehlo.dot %a, %b, precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const(%0, dense<[[4.0, 5.0], [10.0, 11.0]]> : tensor<2x2xf32>) : tensor<2x2xf32>
  %v = util.unfoldable_constant dense<[1.0, 10.0, 100.0]> : tensor<3xf32>
  %1 = stablehlo.dot %a, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  check.expect_eq_const(%1, dense<[321.0, 654.0]> : tensor<2xf32>) : tensor<2xf32>
  // The batch is the last dimension of one and the first of the other; i8 is summed in i32.
  %c = util.unfoldable_constant dense<[[100, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %d = util.unfoldable_constant dense<[[[2, 1, 1]], [[1, 1, 1]]]> : tensor<2x1x3xi8>
  %2 = stablehlo.dot_general %c, %d, batching_dims = [1] x [0], contracting_dims = [0] x [2]
      : (tensor<3x2xi8>, tensor<2x1x3xi8>) -> tensor<2x1xi32>
  check.expect_eq_const(%2, dense<[[208], [12]]> : tensor<2x1xi32>) : tensor<2x1xi32>
  return
}

func.func @convolutions() {
  %x = util.unfoldable_constant dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]]> : tensor<1x2x3x1xf32>
  %k = util.unfoldable_constant dense<[[[[1.0, 10.0]], [[2.0, 20.0]]]]> : tensor<1x2x1x2xf32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 0, 1],
      window = {stride = [1, 2], pad = [[0, 0], [1, 0]], rhs_dilate = [1, 1]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x3x1xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x2x2xf32>
  // Windows of (0, 1) and (2, 3), of (0, 4) and (5, 6).
  check.expect_eq_const(%0, dense<[[[[2.0, 8.0], [8.0, 17.0]], [[20.0, 80.0], [80.0, 170.0]]]]> : tensor<1x2x2x2xf32>)
    : tensor<1x2x2x2xf32>
  // Two groups of two features each, the kernel turned around, with a zero between elements of the image.
  %y = util.unfoldable_constant dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xf32>
  %g = util.unfoldable_constant dense<[[[1.0, 1.0], [1.0, 2.0]], [[10.0, 10.0], [10.0, 20.0]]]> : tensor<2x2x2xf32>
  %1 = stablehlo.convolution(%y, %g) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {stride = [1], lhs_dilate = [2], reverse = [true]}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x2x2xf32>) -> tensor<1x2x2xf32>
  // Images are (y0, 0, y1); the kernel's second part comes first: 10 * (1 + 2) and 10 * 3 + 20 * 4; then 5 + 6 and 7 + 2 * 8.
  check.expect_eq_const(%1, dense<[[[30.0, 110.0], [11.0, 23.0]]]> : tensor<1x2x2xf32>) : tensor<1x2x2xf32>
  return
}

func.func @reductions() {
  %x = util.unfoldable_constant dense<[[3, 1, 2], [9, 7, 8]]> : tensor<2x3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const(%0, dense<[6, 24]> : tensor<2xi32>) : tensor<2xi32>
  // The smallest, and where it is.
  %most = stablehlo.constant dense<2147483647> : tensor<i32>
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %places = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %1:2 = stablehlo.reduce(%x init: %most), (%places init: %zero) across dimensions = [1]
      : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
   reducer(%a: tensor<i32>, %b: tensor<i32>) (%i: tensor<i32>, %j: tensor<i32>) {
    %2 = stablehlo.compare LE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<i32>
    %4 = stablehlo.select %2, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %3, %4 : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const(%1#0, dense<[1, 7]> : tensor<2xi32>) : tensor<2xi32>
  check.expect_eq_const(%1#1, dense<[1, 1]> : tensor<2xi32>) : tensor<2xi32>
  // A start that only the call knows, and a body that uses a value from outside.
  %start = util.unfoldable_constant dense<100> : tensor<i32>
  %2 = stablehlo.reduce(%x init: %start) across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
   reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %3 = stablehlo.multiply %b, %two : tensor<i32>
    %4 = stablehlo.subtract %a, %3 : tensor<i32>
    %5 = stablehlo.minimum %4, %start : tensor<i32>
    stablehlo.return %5 : tensor<i32>
  }
  check.expect_eq_const(%2, dense<40> : tensor<i32>) : tensor<i32>
  %3 = "stablehlo.reduce_window"(%x, %least) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %4 = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %4 : tensor<i32>
  }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}
      : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x2xi32>
  check.expect_eq_const(%3, dense<[[3, 2], [9, 8]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  return
}

func.func @sorts() {
  %x = util.unfoldable_constant dense<[[3.0, 1.0, 2.0], [0.5, 0.25, 0.75]]> : tensor<2x3xf32>
  %places = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %0:2 = "stablehlo.sort"(%x, %places) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimension = -1 : i64, is_stable = true} : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  check.expect_eq_const(%0#0, dense<[[3.0, 2.0, 1.0], [0.75, 0.5, 0.25]]> : tensor<2x3xf32>) : tensor<2x3xf32>
  check.expect_eq_const(%0#1, dense<[[0, 2, 1], [2, 0, 1]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  return
}

// The largest power of three below 1000, and how often it can be halved.
func.func @loops() {
  %one = util.unfoldable_constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %limit = stablehlo.constant dense<1000> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%a = %one, %n = %zero) : tensor<i32>, tensor<i32> cond {
    %1 = stablehlo.multiply %a, %three : tensor<i32>
    %2 = stablehlo.compare LT, %1, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %1 = stablehlo.multiply %a, %three : tensor<i32>
    %2:2 = stablehlo.while(%b = %1, %m = %zero) : tensor<i32>, tensor<i32> cond {
      %3 = stablehlo.compare GT, %b, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.shift_right_arithmetic %b, %3 : tensor<i32>
      %5 = stablehlo.add %m, %3 : tensor<i32>
      stablehlo.return %4, %5 : tensor<i32>, tensor<i32>
    }
    stablehlo.return %1, %2#1 : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const(%0#0, dense<729> : tensor<i32>) : tensor<i32>
  check.expect_eq_const(%0#1, dense<10> : tensor<i32>) : tensor<i32>
  return
}

// Of a program whose extents only the call knows.
func.func @dynamic() {
  %x = flow.tensor.dynamic_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32> -> tensor<?x?xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.dot %x, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = stablehlo.exponential_minus_one %1 : tensor<?x?xf32>
  %3 = stablehlo.log_plus_one %2 : tensor<?x?xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %5 = util.optimization_barrier %4 : tensor<?xf32>
  %6 = tensor.cast %5 : tensor<?xf32> to tensor<2xf32>
  check.expect_almost_eq_const(%6, dense<[46.0, 109.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}

// False is below true.
func.func @clamped_truths() {
  %low = util.unfoldable_constant dense<[false, false, false, false, true, true, true, true]> : tensor<8xi1>
  %x = util.unfoldable_constant dense<[false, false, true, true, false, false, true, true]> : tensor<8xi1>
  %high = util.unfoldable_constant dense<[false, true, false, true, false, true, false, true]> : tensor<8xi1>
  %0 = stablehlo.clamp %low, %x, %high : tensor<8xi1>
  check.expect_eq_const(%0, dense<[false, false, false, true, false, true, false, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}

// Constants that operations bring have extents that only the call knows, too.
func.func @dynamic_elements() {
  %f = flow.tensor.dynamic_constant dense<[-2.0, 0.0, 3.0]> : tensor<3xf32> -> tensor<?xf32>
  %i = flow.tensor.dynamic_constant dense<[-7, 0, 5]> : tensor<3xi32> -> tensor<?xi32>
  %0 = stablehlo.logistic %f : tensor<?xf32>
  %1 = stablehlo.sign %i : tensor<?xi32>
  %2 = stablehlo.negate %i : tensor<?xi32>
  %3 = stablehlo.convert %f : (tensor<?xf32>) -> tensor<?xi1>
  %4 = stablehlo.not %3 : tensor<?xi1>
  %bits = stablehlo.bitcast_convert %f : (tensor<?xf32>) -> tensor<?xi32>
  %bytes = stablehlo.bitcast_convert %f : (tensor<?xf32>) -> tensor<?x4xi8>
  %joined = stablehlo.bitcast_convert %bytes : (tensor<?x4xi8>) -> tensor<?xf32>
  %knownBits = tensor.cast %bits : tensor<?xi32> to tensor<3xi32>
  %knownJoined = tensor.cast %joined : tensor<?xf32> to tensor<3xf32>
  check.expect_eq_const(%knownBits, dense<[0xC0000000, 0, 0x40400000]> : tensor<3xi32>) : tensor<3xi32>
  check.expect_eq_const(%knownJoined, dense<[-2.0, 0.0, 3.0]> : tensor<3xf32>) : tensor<3xf32>
  %5 = tensor.cast %0 : tensor<?xf32> to tensor<3xf32>
  %6 = tensor.cast %1 : tensor<?xi32> to tensor<3xi32>
  %7 = tensor.cast %2 : tensor<?xi32> to tensor<3xi32>
  %8 = tensor.cast %4 : tensor<?xi1> to tensor<3xi1>
  check.expect_almost_eq_const(%5, dense<[0.1192029, 0.5, 0.9525741]> : tensor<3xf32>) : tensor<3xf32>
  check.expect_eq_const(%6, dense<[-1, 0, 1]> : tensor<3xi32>) : tensor<3xi32>
  check.expect_eq_const(%7, dense<[7, 0, -5]> : tensor<3xi32>) : tensor<3xi32>
  check.expect_eq_const(%8, dense<[false, true, false]> : tensor<3xi1>) : tensor<3xi1>
  return
}
