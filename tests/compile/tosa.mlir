// TOSA, from its operations to results.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --iree-input-type=tosa %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.auto.vmfb && cmp %t.vmfb %t.auto.vmfb

func.func @matmul() {
  %a = util.unfoldable_constant dense<[[[1., 2., 3.], [4., 5., 6.]]]> : tensor<1x2x3xf32>
  %b = util.unfoldable_constant dense<[[[1., -1.], [2., 0.], [-3., 5.]]]> : tensor<1x3x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %a, %b, %zero, %zero
    : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  check.expect_eq_const(%0, dense<[[[-4., 14.], [-4., 26.]]]> : tensor<1x2x2xf32>) : tensor<1x2x2xf32>
  return
}

// The zero points are subtracted first.
func.func @quantized_matmul() {
  %a = util.unfoldable_constant dense<[[[3, 4], [5, 6]]]> : tensor<1x2x2xi8>
  %b = util.unfoldable_constant dense<[[[1, 2], [3, 4]]]> : tensor<1x2x2xi8>
  %azp = "tosa.const"() <{values = dense<2> : tensor<1xi8>}> : () -> tensor<1xi8>
  %bzp = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %a, %b, %azp, %bzp
    : (tensor<1x2x2xi8>, tensor<1x2x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2xi32>
  check.expect_eq_const(%0, dense<[[[4, 7], [8, 15]]]> : tensor<1x2x2xi32>) : tensor<1x2x2xi32>
  return
}

// A filter of ones over a padded image adds what it covers, and the bias.
func.func @convolution() {
  %image = util.unfoldable_constant dense<[[[[1.], [2.]], [[3.], [4.]]]]> : tensor<1x2x2x1xf32>
  %filter = util.unfoldable_constant dense<1.0> : tensor<1x3x3x1xf32>
  %bias = util.unfoldable_constant dense<0.5> : tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %image, %filter, %bias, %zero, %zero
    {acc_type = f32, pad = array<i64: 1, 1, 1, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
    : (tensor<1x2x2x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1x1xf32>
  check.expect_eq_const(%0, dense<10.5> : tensor<1x2x1x1xf32>) : tensor<1x2x1x1xf32>
  return
}

func.func @pooling() {
  %a = util.unfoldable_constant dense<[[[[1.], [8.]], [[3.], [4.]]]]> : tensor<1x2x2x1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.max_pool2d %a {kernel = array<i64: 2, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>}
    : (tensor<1x2x2x1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.avg_pool2d %a, %zero, %zero
    {acc_type = f32, kernel = array<i64: 2, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>}
    : (tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  check.expect_eq_const(%0, dense<8.0> : tensor<1x1x1x1xf32>) : tensor<1x1x1x1xf32>
  check.expect_eq_const(%1, dense<4.0> : tensor<1x1x1x1xf32>) : tensor<1x1x1x1xf32>
  return
}

func.func @reductions() {
  %a = util.unfoldable_constant dense<[[1, 7, -3], [4, -5, 6]]> : tensor<2x3xi32>
  %0 = tosa.reduce_sum %a {axis = 0 : i32} : (tensor<2x3xi32>) -> tensor<1x3xi32>
  %1 = tosa.reduce_max %a {axis = 1 : i32} : (tensor<2x3xi32>) -> tensor<2x1xi32>
  %2 = tosa.argmax %a {axis = 1 : i32} : (tensor<2x3xi32>) -> tensor<2xi32>
  check.expect_eq_const(%0, dense<[[5, 2, 3]]> : tensor<1x3xi32>) : tensor<1x3xi32>
  check.expect_eq_const(%1, dense<[[7], [6]]> : tensor<2x1xi32>) : tensor<2x1xi32>
  check.expect_eq_const(%2, dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>
  return
}

func.func @activations() {
  %a = util.unfoldable_constant dense<[-3.0, -0.5, 0.0, 2.5, 9.0]> : tensor<5xf32>
  %0 = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<5xf32>) -> tensor<5xf32>
  %1 = tosa.sigmoid %a : (tensor<5xf32>) -> tensor<5xf32>
  check.expect_eq_const(%0, dense<[0.0, 0.0, 0.0, 2.5, 6.0]> : tensor<5xf32>) : tensor<5xf32>
  check.expect_almost_eq_const(%1, dense<[0.0474259, 0.3775407, 0.5, 0.9241418, 0.9998766]> : tensor<5xf32>,
    atol 1.0e-6) : tensor<5xf32>
  return
}

// 3 / 8 of each, rounded half up, between zero points 1 and -2.
func.func @rescale() {
  %a = util.unfoldable_constant dense<[1, 9, 13, -7, 127]> : tensor<5xi8>
  %multiplier = "tosa.const"() <{values = dense<1610612736> : tensor<1xi32>}> : () -> tensor<1xi32>
  %shift = "tosa.const"() <{values = dense<32> : tensor<1xi8>}> : () -> tensor<1xi8>
  %izp = "tosa.const"() <{values = dense<1> : tensor<1xi8>}> : () -> tensor<1xi8>
  %ozp = "tosa.const"() <{values = dense<-2> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.rescale %a, %multiplier, %shift, %izp, %ozp
    {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
    : (tensor<5xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<5xi8>
  check.expect_eq_const(%0, dense<[-2, 1, 3, -5, 45]> : tensor<5xi8>) : tensor<5xi8>
  return
}

// Twice as large, from half a pixel before the first one on: what lies before it is the first one. Weights add up to 16.
func.func @resize_from_before() {
  %a = util.unfoldable_constant dense<[[[[10], [20]], [[30], [50]]]]> : tensor<1x2x2x1xi8>
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<-1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.resize %a, %scale, %offset, %border {mode = BILINEAR}
    : (tensor<1x2x2x1xi8>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x4x4x1xi32>
  check.expect_eq_const(%0, dense<[[
    [[160], [200], [280], [320]], [[240], [290], [390], [440]],
    [[400], [470], [610], [680]], [[480], [560], [720], [800]]]]> : tensor<1x4x4x1xi32>) : tensor<1x4x4x1xi32>
  return
}

func.func @fourier() {
  %a = util.unfoldable_constant dense<[[[1.0, 2.0], [3.0, -4.0]]]> : tensor<1x2x2xf32>
  %real, %imaginary = tosa.rfft2d %a : (tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>)
  check.expect_almost_eq_const(%real, dense<[[[2.0, 6.0], [4.0, -8.0]]]> : tensor<1x2x2xf32>, atol 1.0e-5)
    : tensor<1x2x2xf32>
  check.expect_almost_eq_const(%imaginary, dense<0.0> : tensor<1x2x2xf32>, atol 1.0e-5) : tensor<1x2x2xf32>
  return
}

// Extents that only the call knows, and one of them is broadcast.
func.func @dynamic() {
  %a = flow.tensor.dynamic_constant dense<[[1, 2, 3]]> : tensor<1x3xi32> -> tensor<1x?xi32>
  %b = flow.tensor.dynamic_constant dense<[[10, 10, 10], [20, 20, 20]]> : tensor<2x3xi32> -> tensor<?x?xi32>
  %0 = tosa.add %a, %b : (tensor<1x?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  %1 = tensor.cast %0 : tensor<?x?xi32> to tensor<2x3xi32>
  check.expect_eq_const(%1, dense<[[11, 12, 13], [21, 22, 23]]> : tensor<2x3xi32>) : tensor<2x3xi32>
  return
}

tosa.variable @total = dense<[1, 2]> : tensor<2xi32>
func.func private @add(%a: tensor<2xi32>) {
  %0 = tosa.variable_read @total : tensor<2xi32>
  %1 = tosa.add %0, %a : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  tosa.variable_write @total, %1 : tensor<2xi32>
  return
}
func.func @variable() {
  %a = util.unfoldable_constant dense<[10, 20]> : tensor<2xi32>
  call @add(%a) : (tensor<2xi32>) -> ()
  call @add(%a) : (tensor<2xi32>) -> ()
  %0 = tosa.variable_read @total : tensor<2xi32>
  check.expect_eq_const(%0, dense<[21, 42]> : tensor<2xi32>) : tensor<2xi32>
  return
}

// Arithmetic beside TOSA's operations, which MLIR would fold to a constant of unknown extents.
func.func @with_itself() {
  %a = flow.tensor.dynamic_constant dense<[10, 20]> : tensor<2xi32> -> tensor<?xi32>
  %0 = arith.xori %a, %a : tensor<?xi32>
  %1 = util.optimization_barrier %0 : tensor<?xi32>
  %2 = tensor.cast %1 : tensor<?xi32> to tensor<2xi32>
  check.expect_eq_const(%2, dense<0> : tensor<2xi32>) : tensor<2xi32>
  return
}
