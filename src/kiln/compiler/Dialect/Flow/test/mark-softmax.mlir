// RUN: kiln-opt %s --kiln-flow-mark-softmax | FileCheck %s

#same = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#kept = affine_map<(i, j) -> (i, 0)>

// The maximum of each row is subtracted from it.
// CHECK-LABEL: util.func @softmax
// CHECK: arith.maximumf %{{.+}}, %{{.+}} fastmath<nsz>
// CHECK: math.exp %{{.+}} {kiln.at_most_zero}
util.func @softmax(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %power = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %left = arith.subf %in, %most : f32
    %e = math.exp %left : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  util.return %power : tensor<8x8xf32>
}

// The same with a dimension kept, spread over the row again, and an operation each.
// CHECK-LABEL: util.func @spread
// CHECK: arith.maximumf %{{.+}}, %{{.+}} fastmath<nsz>
// CHECK: math.exp %{{.+}} {kiln.at_most_zero}
util.func @spread(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %kept = tensor.expand_shape %max [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %wide = linalg.generic {indexing_maps = [#kept, #same], iterator_types = ["parallel", "parallel"]}
      ins(%kept : tensor<8x1xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  %left = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %wide : tensor<8x8xf32>, tensor<8x8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %d = arith.subf %in, %most : f32
    linalg.yield %d : f32
  } -> tensor<8x8xf32>
  %power = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%left : tensor<8x8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  util.return %power : tensor<8x8xf32>
}

// Who wants the difference itself, as the logarithm of a softmax does, sees the signs of its zeros.
// CHECK-LABEL: util.func @logarithm
// CHECK-NOT: nsz
// CHECK: math.exp %{{.+}} {kiln.at_most_zero}
util.func @logarithm(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %both:2 = linalg.generic {indexing_maps = [#same, #row, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%to, %to : tensor<8x8xf32>, tensor<8x8xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32, %other: f32):
    %left = arith.subf %in, %most : f32
    %e = math.exp %left : f32
    linalg.yield %left, %e : f32, f32
  } -> (tensor<8x8xf32>, tensor<8x8xf32>)
  util.return %both#0, %both#1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Each column has the maximum of a row subtracted: what is left may be anything.
// CHECK-LABEL: util.func @turned
// CHECK-NOT: nsz
// CHECK-NOT: at_most_zero
util.func @turned(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %power = linalg.generic {indexing_maps = [#same, #column, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %left = arith.subf %in, %most : f32
    %e = math.exp %left : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  util.return %power : tensor<8x8xf32>
}

// The maximum of another tensor, and what is subtracted the other way around.
// CHECK-LABEL: util.func @others
// CHECK-NOT: nsz
// CHECK-NOT: at_most_zero
util.func @others(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %both:2 = linalg.generic {indexing_maps = [#same, #same, #row, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %max : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) outs(%to, %to : tensor<8x8xf32>, tensor<8x8xf32>) {
  ^bb0(%in: f32, %another: f32, %most: f32, %out: f32, %other: f32):
    %left = arith.subf %another, %most : f32
    %e = math.exp %left : f32
    %right = arith.subf %most, %in : f32
    %f = math.exp %right : f32
    linalg.yield %e, %f : f32, f32
  } -> (tensor<8x8xf32>, tensor<8x8xf32>)
  util.return %both#0, %both#1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Exponentials whose sum holds that of the maximum are multiplied by its reciprocal; who ignores NaNs may, too.
// CHECK-LABEL: util.func @divided
// CHECK:       arith.maxnumf %{{.+}}, %{{.+}} fastmath<nsz>
// CHECK:       math.exp %{{.+}} {kiln.at_most_zero, kiln.vanishes}
// CHECK:       arith.divf %{{.+}}, %{{.+}}
// CHECK:       arith.mulf
util.func @divided(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %none = linalg.fill ins(%zero : f32) outs(%least : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maxnumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %power = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %left = arith.subf %in, %most : f32
    %e = math.exp %left : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%power : tensor<8x8xf32>) outs(%none : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %more = arith.addf %in, %out : f32
    linalg.yield %more : f32
  } -> tensor<8xf32>
  %share = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%power, %sum : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %all: f32, %out: f32):
    %part = arith.divf %in, %all : f32
    linalg.yield %part : f32
  } -> tensor<8x8xf32>
  util.return %share : tensor<8x8xf32>
}

// Sums down the columns need not hold a row's largest, and may be as small as one likes.
// CHECK-LABEL: util.func @sums_of_others
// CHECK:       math.exp %{{.+}} {kiln.at_most_zero}
// CHECK:       arith.divf %in, %{{.+}}
// CHECK-NOT:   arith.mulf
util.func @sums_of_others(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %none = linalg.fill ins(%zero : f32) outs(%least : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %power = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %left = arith.subf %in, %most : f32
    %e = math.exp %left : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  %sum = linalg.generic {indexing_maps = [#same, #column], iterator_types = ["reduction", "parallel"]}
      ins(%power : tensor<8x8xf32>) outs(%none : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %more = arith.addf %in, %out : f32
    linalg.yield %more : f32
  } -> tensor<8xf32>
  %share = linalg.generic {indexing_maps = [#same, #column, #same], iterator_types = ["parallel", "parallel"]}
      ins(%power, %sum : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %all: f32, %out: f32):
    %part = arith.divf %in, %all : f32
    linalg.yield %part : f32
  } -> tensor<8x8xf32>
  util.return %share : tensor<8x8xf32>
}

// From less than zero, sums may be as small as one likes, too.
// CHECK-LABEL: util.func @from_less
// CHECK:       math.exp %{{.+}} {kiln.at_most_zero}
// CHECK:       arith.divf %in, %{{.+}}
// CHECK-NOT:   arith.mulf
util.func @from_less(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant -1.0 : f32
  %none = linalg.fill ins(%zero : f32) outs(%least : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maxnumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %power = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %left = arith.subf %in, %most : f32
    %e = math.exp %left : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%power : tensor<8x8xf32>) outs(%none : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %more = arith.addf %in, %out : f32
    linalg.yield %more : f32
  } -> tensor<8xf32>
  %share = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%power, %sum : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %all: f32, %out: f32):
    %part = arith.divf %in, %all : f32
    linalg.yield %part : f32
  } -> tensor<8x8xf32>
  util.return %share : tensor<8x8xf32>
}

// What is read twice has its rows where the maximum's are: these sums go across them.
// CHECK-LABEL: util.func @read_twice
// CHECK:       math.exp %{{.+}} {kiln.at_most_zero}
// CHECK:       arith.divf %in, %{{.+}}
// CHECK-NOT:   arith.mulf
util.func @read_twice(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %none = linalg.fill ins(%zero : f32) outs(%least : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %power = linalg.generic {indexing_maps = [#same, affine_map<(i, j) -> (j, i)>, #column, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x, %max : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%other: f32, %in: f32, %most: f32, %out: f32):
    %left = arith.subf %in, %most : f32
    %e = math.exp %left : f32
    linalg.yield %e : f32
  } -> tensor<8x8xf32>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%power : tensor<8x8xf32>) outs(%none : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %more = arith.addf %in, %out : f32
    linalg.yield %more : f32
  } -> tensor<8xf32>
  %share = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%power, %sum : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %all: f32, %out: f32):
    %part = arith.divf %in, %all : f32
    linalg.yield %part : f32
  } -> tensor<8x8xf32>
  util.return %share : tensor<8x8xf32>
}

// The exponential may be where the sum is.
// CHECK-LABEL: util.func @in_sum
// CHECK:       math.exp %{{.+}} {kiln.at_most_zero}
util.func @in_sum(%x: tensor<8x8xf32>, %least: tensor<8xf32>, %to: tensor<8x8xf32>) -> tensor<8xf32> {
  %max = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %larger = arith.maximumf %in, %out : f32
    linalg.yield %larger : f32
  } -> tensor<8xf32>
  %left = linalg.generic {indexing_maps = [#same, #row, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%to : tensor<8x8xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %less = arith.subf %in, %most : f32
    linalg.yield %less : f32
  } -> tensor<8x8xf32>
  %sum = linalg.generic {indexing_maps = [#same, #row], iterator_types = ["parallel", "reduction"]}
      ins(%left : tensor<8x8xf32>) outs(%least : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    %more = arith.addf %e, %out : f32
    linalg.yield %more : f32
  } -> tensor<8xf32>
  util.return %sum : tensor<8xf32>
}
