// Tensor operations in the bodies of others, which compute one element.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 | grep -e result -A1 -e error; }; \
// RUN: m="3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12"; { call row_sums --input="$m"; call shifted --input="$m"; call products --input="$m"; \
// RUN:   call border --input="2xf32=1 2" --input="3xf32=4 5 6"; call payload --input="3xf32=1 2 3" --input="2xf32=10 20"; \
// RUN:   call nested --input="$m" --input=2; call nested --input=3x0xf32 --input=2; call shapes --input="$m"; \
// RUN:   call branches --input="$m"; call largest --input="$m"; } | FileCheck %s

#row = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// CHECK: 3xf32=10 26 42
func.func @row_sums(%a: tensor<3x4xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.generate {
  ^bb0(%i: index):
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%row : tensor<4xf32>) outs(%f : tensor<f32>) dimensions = [0]
    %x = tensor.extract %s[] : tensor<f32>
    tensor.yield %x : f32
  } : tensor<3xf32>
  return %r : tensor<3xf32>
}

// The sum of what lies below the row's largest element; each is subtracted from it first.
// CHECK: 3xf32=6 6 6
func.func @shifted(%a: tensor<3x4xf32>) -> tensor<3xf32> {
  %least = arith.constant dense<0xFF800000> : tensor<f32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = tensor.generate {
  ^bb0(%i: index):
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %max = linalg.reduce { arith.maximumf } ins(%row : tensor<4xf32>) outs(%least : tensor<f32>) dimensions = [0]
    %e = tensor.empty() : tensor<4xf32>
    %d = linalg.generic {indexing_maps = [#row, #none, #row], iterator_types = ["parallel"]}
        ins(%row, %max : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: f32, %m: f32, %o: f32):
      %y = arith.subf %m, %x : f32
      linalg.yield %y : f32
    } -> tensor<4xf32>
    %s = linalg.reduce { arith.addf } ins(%d : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %x = tensor.extract %s[] : tensor<f32>
    tensor.yield %x : f32
  } : tensor<3xf32>
  return %r : tensor<3xf32>
}

// One element of a product of the matrix and its transpose, and one of a sum of tensors.
// CHECK: 3x3xf32=[60 140 220][140 348 556][220 556 892]
func.func @products(%a: tensor<3x4xf32>) -> tensor<3x3xf32> {
  %zero = arith.constant dense<0.0> : tensor<3x3xf32>
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %e = tensor.empty() : tensor<4x3xf32>
    %t = linalg.transpose ins(%a : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) permutation = [1, 0]
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
    %z = tensor.extract_slice %zero[0, 0] [1, 3] [1, 1] : tensor<3x3xf32> to tensor<1x3xf32>
    %p = linalg.matmul ins(%row, %t : tensor<1x4xf32>, tensor<4x3xf32>) outs(%z : tensor<1x3xf32>) -> tensor<1x3xf32>
    %q = arith.addf %p, %p : tensor<1x3xf32>
    %c0 = arith.constant 0 : index
    %x = tensor.extract %q[%c0, %j] : tensor<1x3xf32>
    tensor.yield %x : f32
  } : tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// CHECK: 5xf32=15 1 2 16 17
func.func @border(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<5xf32> {
  %r = tensor.pad %a low[1] high[2] {
  ^bb0(%i: index):
    %two = arith.constant 2 : index
    %late = arith.cmpi ugt, %i, %two : index
    %above = arith.subi %i, %two : index
    %none = arith.constant 0 : index
    %k = arith.select %late, %above, %none : index
    %f = arith.index_cast %k : index to i32
    %g = arith.sitofp %f : i32 to f32
    %e = tensor.empty() : tensor<f32>
    %start = linalg.fill ins(%g : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%b : tensor<3xf32>) outs(%start : tensor<f32>) dimensions = [0]
    %x = tensor.extract %s[] : tensor<f32>
    tensor.yield %x : f32
  } : tensor<2xf32> to tensor<5xf32>
  return %r : tensor<5xf32>
}

// CHECK: 3xf32=31 32 33
func.func @payload(%a: tensor<3xf32>, %b: tensor<2xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.map ins(%a : tensor<3xf32>) outs(%e : tensor<3xf32>) (%in: f32, %out: f32) {
    %e0 = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%in : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%b : tensor<2xf32>) outs(%f : tensor<f32>) dimensions = [0]
    %x = tensor.extract %s[] : tensor<f32>
    linalg.yield %x : f32
  }
  return %r : tensor<3xf32>
}

// Bodies in bodies, of extents that the call knows; nothing is read where there is nothing.
// CHECK: 2xf32=15 18
// CHECK: 2xf32=0 0
func.func @nested(%a: tensor<3x?xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %c1 = arith.constant 1 : index
  %r = tensor.generate %n {
  ^bb0(%i: index):
    %t = tensor.generate {
    ^bb0(%j: index):
      %column = tensor.extract_slice %a[0, %i] [3, 1] [1, 1] : tensor<3x?xf32> to tensor<3xf32>
      %v = tensor.extract %column[%j] : tensor<3xf32>
      tensor.yield %v : f32
    } : tensor<3xf32>
    %width = tensor.dim %a, %c1 : tensor<3x?xf32>
    %c0 = arith.constant 0 : index
    %any = arith.cmpi ne, %width, %c0 : index
    %x = scf.if %any -> f32 {
      %s = linalg.reduce { arith.addf } ins(%t : tensor<3xf32>) outs(%zero : tensor<f32>) dimensions = [0]
      %y = tensor.extract %s[] : tensor<f32>
      scf.yield %y : f32
    } else {
      %y = tensor.extract %zero[] : tensor<f32>
      scf.yield %y : f32
    }
    tensor.yield %x : f32
  } : tensor<?xf32>
  return %r : tensor<?xf32>
}

// A row is written into another at every second place from 1 on, reshaped to 3x3, joined and padded.
// CHECK: 3xf32=-11 -54 -97
func.func @shapes(%a: tensor<3x4xf32>) -> tensor<3xf32> {
  %minus = arith.constant -1.0 : f32
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = tensor.generate {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i32
    %weight = arith.sitofp %n : i32 to f32
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %e = tensor.empty() : tensor<9xf32>
    %f = linalg.fill ins(%weight : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
    %s = tensor.insert_slice %row into %f[1] [4] [2] : tensor<4xf32> into tensor<9xf32>
    %square = tensor.expand_shape %s [[0, 1]] output_shape [3, 3] : tensor<9xf32> into tensor<3x3xf32>
    %two = tensor.concat dim(1) %square, %square : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x6xf32>
    %p = tensor.pad %two low[1, 0] high[0, 1] {
    ^bb0(%j: index, %k: index):
      tensor.yield %minus : f32
    } : tensor<3x6xf32> to tensor<4x7xf32>
    %flat = tensor.collapse_shape %p [[0, 1]] : tensor<4x7xf32> into tensor<28xf32>
    %place = arith.constant 27 : index
    %q = tensor.insert %weight into %flat[%place] : tensor<28xf32>
    %sum = linalg.reduce { arith.subf } ins(%q : tensor<28xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %x = tensor.extract %sum[] : tensor<f32>
    tensor.yield %x : f32
  } : tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK: 3xf32=2 -7 11
func.func @branches(%a: tensor<3x4xf32>) -> tensor<3xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %is = arith.cmpi eq, %i, %c1 : index
    %t = scf.if %is -> tensor<2xf32> {
      %row = tensor.extract_slice %a[%i, 1] [1, 2] [1, 1] : tensor<3x4xf32> to tensor<2xf32>
      %e = tensor.empty() : tensor<2xf32>
      %m = linalg.negf ins(%row : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      scf.yield %m : tensor<2xf32>
    } else {
      %x = tensor.extract %a[%i, %c1] : tensor<3x4xf32>
      %y = tensor.extract %a[%i, %c2] : tensor<3x4xf32>
      %both = tensor.from_elements %x, %y : tensor<2xf32>
      scf.yield %both : tensor<2xf32>
    }
    %half = arith.ceildivui %i, %c2 : index
    %x = tensor.extract %t[%half] : tensor<2xf32>
    tensor.yield %x : f32
  } : tensor<3xf32>
  return %r : tensor<3xf32>
}

// Two results at once, of which the place is used.
// CHECK: 3xi32=3 3 3
func.func @largest(%a: tensor<3x4xf32>) -> tensor<3xi32> {
  %least = arith.constant dense<0xFF800000> : tensor<f32>
  %none = arith.constant dense<-1> : tensor<i32>
  %r = tensor.generate {
  ^bb0(%i: index):
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %m:2 = linalg.generic {indexing_maps = [#row, #none, #none], iterator_types = ["reduction"]}
        ins(%row : tensor<4xf32>) outs(%least, %none : tensor<f32>, tensor<i32>) {
    ^bb0(%x: f32, %best: f32, %at: i32):
      %j = linalg.index 0 : index
      %k = arith.index_cast %j : index to i32
      %is = arith.cmpf ogt, %x, %best : f32
      %b = arith.select %is, %x, %best : f32
      %c = arith.select %is, %k, %at : i32
      linalg.yield %b, %c : f32, i32
    } -> (tensor<f32>, tensor<i32>)
    %x = tensor.extract %m#1[] : tensor<i32>
    tensor.yield %x : i32
  } : tensor<3xi32>
  return %r : tensor<3xi32>
}
