// Small functions whose checks fail, or hold: the index, the step, an extent, a cast, a slice that numbers could wrap.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 || true; }; { call f --input="2xf32=1 2" --input=1; \
// RUN:   call f --input="2xf32=1 2" --input=2; call cd --input=7 --input=2; call cd --input=-7 --input=2; \
// RUN:   call step --input=10 --input=3; call step --input=10 --input=0; call empty --input=3; call empty --input=-1; \
// RUN:   call empty --input=4611686018427387904; call cast --input=4xf32=1; call cast --input=3xf32=1; \
// RUN:   call slice --input=10xf32=1 --input=1 --input=5 --input=2; call slice --input=10xf32=1 --input=1 --input=6 --input=2; \
// RUN:   call slice --input=10xf32=1 --input=0 --input=9 --input=2305843009213693952; \
// RUN:   call slice --input=10xf32=1 --input=0 --input=3 --input=-9223372036854775808; \
// RUN:   call pack --input=8x8xf32=1 --input=2; call pack --input=8x8xf32=1 --input=1; } | FileCheck %s
// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 || true; }; \
// RUN: { call reversed --input="6xi32=1 2 3 4 5 6" --input=4xi32=0; call reversed --input="6xi32=1 2 3 4 5 6" --input=7xi32=0; \
// RUN:   call reversed --input="5xi32=1 2 3 4 5" --input=4xi32=0; call reversed --input=0xi32 --input=0xi32; \
// RUN:   call periodic --input="3xi32=1 2 3" --input=4xi32=0; call periodic --input="2xi32=1 2" --input=2xi32=0; \
// RUN:   call periodic --input="2xi32=1 2" --input=3xi32=0; call halved --input="2xi32=1 2" --input=4xi32=0; \
// RUN:   call halved --input="2xi32=1 2" --input=5xi32=0; call third --input="3xi32=1 2 3" --input=2xi32=0; \
// RUN:   call third --input="2xi32=1 2" --input=2xi32=0; call pad --input="2xi8=1 2" --input=1 --input=2; \
// RUN:   call pad --input="2xi8=1 2" --input=-1 --input=2; \
// RUN:   call pad --input="2xi8=1 2" --input=9223372036854775807 --input=9223372036854775807; \
// RUN:   call expand --input=6xi8=1 --input=2 --input=3; call expand --input=6xi8=1 --input=-2 --input=-3; \
// RUN:   call expand --input=0xi8 --input=4294967296 --input=4294967296; \
// RUN:   call reshape --input="6xi8=1 2 3 4 5 6" --input="2xi64=2 3"; call reshape --input=6xi8=1 --input="2xi64=2 4"; \
// RUN:   call reshape --input=6xi8=1 --input="2xi64=-2 -3"; \
// RUN:   call splat --input=2; call splat --input=-2; call gather --input="2xi32=5 6" --input="3xi32=1 0 9"; \
// RUN:   call gather --input=0xi32 --input=0xi32; call gather --input=0xi32 --input="1xi32=0"; \
// RUN:   call generate --input="2xi32=5 6" --input=3; call generate --input=0xi32 --input=0; \
// RUN:   call generate --input=0xi32 --input=1; call pad_from --input="2xi32=1 2" --input="4xi32=5 6 7 8" --input=4; \
// RUN:   call pad_from --input="2xi32=1 2" --input=0xi32 --input=4; \
// RUN:   call slices --input="5xi32=1 2 3 4 5" --input="4xi64=0 2 3 100000000"; \
// RUN:   call slices --input="5xi32=1 2 3 4 5" --input="4xi64=0 2 3 1"; } | FileCheck %s --check-prefix=MAPS
// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 || true; }; { \
// RUN:   call start --input=4xf32=1 --input=4xf32=2 --input=100000000xf32=1 --input=4xf32=1; \
// RUN:   call start --input=4xf32=1 --input=4xf32=2 --input=4xf32=1 --input=4xf32=1; \
// RUN:   call start_at --input=4xf32=1 --input=4xf32=2 --input=3xf32=1 --input=300000000; \
// RUN:   call divided --input=4xf32=1 --input=4xf32=2 --input=3 --input=0; } | FileCheck %s --check-prefix=MERGED
// MERGED: checks.mlir:{{.*}} must be equal
// MERGED: f32=-4
// MERGED: f32=-1
// MERGED: the slice lies outside
// MERGED: checks.mlir:{{.*}} integer division by zero
// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 || true; }; { \
// RUN:   call far --input=4xf32=1 --input=1; call far --input=4xf32=1 --input=2; call far --input=4xf32=1 --input=3; \
// RUN:   call far --input=4xf32=1 --input=4; call gaps --input="4xf32=1 2 3 4" --input=5; \
// RUN:   call gaps --input="4xf32=1 2 3 4" --input=6; call falling --input="4xf32=1 2 3 4" --input=4; \
// RUN:   call falling --input="4xf32=1 2 3 4" --input=5; call waves --input="3xf32=1 2 3" --input=3; \
// RUN:   call waves --input="3xf32=1 2 3" --input=4; } | FileCheck %s --check-prefix=RANGES
// RANGES: 1xf32=1
// RANGES: dimension 0 of operand 0 is too small for what is read from it
// RANGES: dimension 0 of operand 0 is too small for what is read from it
// RANGES: dimension 0 of operand 0 is too small for what is read from it
// RANGES: 5xf32=1 2 3 4 4
// RANGES: dimension 0 of operand 0 is too small for what is read from it{{$}}
// RANGES: 4xf32=4 3 2 1
// RANGES: dimension 0 of operand 0 is read from before its start{{$}}
// RANGES: 3xf32=1 2 3
// RANGES: dimension 0 of operand 0 is too small for what is read from it, as far as its index map's terms tell
// MAPS: 4xi32=6 5 4 3
// MAPS: dimension 0 of operand 0 is read from before its start
// MAPS: dimension 0 of operand 0 is too small for what is read from it
// MAPS: 0xi32=
// MAPS: 4xi32=1 2 3 1
// MAPS: 2xi32=1 2
// MAPS: dimension 0 of operand 0 is too small for what is read from it
// MAPS: 4xi32=1 1 2 2
// MAPS: dimension 0 of operand 0 is too small for what is read from it
// MAPS: 2xi32=3 3
// MAPS: dimension 0 of operand 0 is too small for what is read from it
// MAPS: 5xi8=7 1 2 7 7
// MAPS: 'tensor.pad': the padding must not be negative
// MAPS: 'tensor.pad': an extent is negative, or the tensor is too large
// MAPS: 2x3xi8=
// MAPS-COUNT-2: 'tensor.expand_shape': an extent is negative, or the tensor is too large
// MAPS: 2x3xi8=[1 2 3][4 5 6]
// MAPS: 'tensor.reshape': the result must have as many bytes as the source
// MAPS: 'tensor.reshape': an extent is negative, or the tensor is too large
// MAPS: 2xi32=7 7
// MAPS: 'tensor.splat': an extent is negative, or the tensor is too large
// MAPS: 3xi32=6 5 6
// MAPS: 0xi32=
// MAPS: elements are taken from a tensor that has none
// MAPS: 3xi32=5 6 6
// MAPS: 0xi32=
// MAPS: 'tensor.generate': elements are taken from a tensor that has none
// MAPS: 6xi32=1 2 7 8 8 8
// MAPS: 'tensor.pad': elements are taken from a tensor that has none
// MAPS: 'tensor.extract_slice': the slice lies outside of dimension 0 of its tensor
// MAPS: 4xi32=2 4 5 3

// CHECK: f32=2
// CHECK: checks.mlir:[[#]]:8: 'tensor.extract': the index of dimension 0 lies outside of the tensor
// CHECK: result[0]: i64=4
// CHECK: result[1]: i64=4
// CHECK: result[2]: i64=3
// CHECK: result[1]: i64=-3
// CHECK: result[2]: i64=-4
// CHECK: i64=18
// CHECK: 'scf.for': the step must be above 0
// CHECK: 3xf32=3 3 3
// CHECK: 'tensor.empty': an extent is negative, or the tensor is too large
// CHECK: 'tensor.empty': an extent is negative, or the tensor is too large
// CHECK: 4xf32=1 1 1 1
// CHECK: 'tensor.cast': dimension 0 must be 4
// CHECK: 5xf32=1 1 1 1 1
// CHECK-COUNT-3: 'tensor.extract_slice': the slice lies outside of dimension 0 of its tensor
// CHECK: 2x2x4x4xf32=
// CHECK: 'linalg.pack': dimension 0 of the tiled tensor is not the number of tiles of dimension 0
func.func @f(%x: tensor<?xf32>, %n: index) -> f32 {
  %r = tensor.extract %x[%n] : tensor<?xf32>
  return %r : f32
}
func.func @cd(%n: index, %m: index) -> (index, index, index) {
  %a = arith.ceildivui %n, %m : index
  %b = arith.ceildivsi %n, %m : index
  %c = arith.floordivsi %n, %m : index
  return %a, %b, %c : index, index, index
}
func.func @step(%n: index, %s: index) -> index {
  %c0 = arith.constant 0 : index
  %r = scf.for %i = %c0 to %n step %s iter_args(%a = %c0) -> index {
    %b = arith.addi %a, %i : index
    scf.yield %b : index
  }
  return %r : index
}
func.func @empty(%n: index) -> tensor<?xf32> {
  %z = arith.constant 3.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}
func.func @cast(%x: tensor<?xf32>) -> tensor<4xf32> {
  %r = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @slice(%x: tensor<10xf32>, %o: index, %s: index, %t: index) -> tensor<?xf32> {
  %r = tensor.extract_slice %x[%o] [%s] [%t] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @pack(%x: tensor<8x8xf32>, %n: index) -> tensor<?x2x4x4xf32> {
  %e = tensor.empty(%n) : tensor<?x2x4x4xf32>
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %e : tensor<8x8xf32> -> tensor<?x2x4x4xf32>
  return %r : tensor<?x2x4x4xf32>
}
// Indices that are no sums of loops.
func.func @reversed(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (5 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%e: i32, %o: i32):
    linalg.yield %e : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @periodic(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 3)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%e: i32, %o: i32):
    linalg.yield %e : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @halved(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%e: i32, %o: i32):
    linalg.yield %e : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @third(%x: tensor<?xi32>, %y: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<?xi32>) outs(%y : tensor<?xi32>) {
  ^bb0(%e: i32, %o: i32):
    linalg.yield %e : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
// Numbers that wrap.
func.func @pad(%x: tensor<?xi8>, %low: index, %high: index) -> tensor<?xi8> {
  %seven = arith.constant 7 : i8
  %r = tensor.pad %x low[%low] high[%high] {
  ^bb0(%i: index):
    tensor.yield %seven : i8
  } : tensor<?xi8> to tensor<?xi8>
  return %r : tensor<?xi8>
}
func.func @expand(%x: tensor<?xi8>, %m: index, %n: index) -> tensor<?x?xi8> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [%m, %n] : tensor<?xi8> into tensor<?x?xi8>
  return %r : tensor<?x?xi8>
}
func.func @reshape(%x: tensor<?xi8>, %shape: tensor<2xi64>) -> tensor<?x?xi8> {
  %r = tensor.reshape %x(%shape) : (tensor<?xi8>, tensor<2xi64>) -> tensor<?x?xi8>
  return %r : tensor<?x?xi8>
}
func.func @splat(%n: index) -> tensor<?xi32> {
  %seven = arith.constant 7 : i32
  %r = tensor.splat %seven[%n] : tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @gather(%x: tensor<?xi32>, %at: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    outs(%at : tensor<?xi32>) {
  ^bb0(%i: i32):
    %index = arith.index_cast %i : i32 to index
    %e = tensor.extract %x[%index] : tensor<?xi32>
    linalg.yield %e : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @generate(%x: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %r = tensor.generate %n {
  ^bb0(%i: index):
    %e = tensor.extract %x[%i] : tensor<?xi32>
    tensor.yield %e : i32
  } : tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @pad_from(%x: tensor<2xi32>, %from: tensor<?xi32>, %high: index) -> tensor<?xi32> {
  %r = tensor.pad %x low[0] high[%high] {
  ^bb0(%i: index):
    %e = tensor.extract %from[%i] : tensor<?xi32>
    tensor.yield %e : i32
  } : tensor<2xi32> to tensor<?xi32>
  return %r : tensor<?xi32>
}
func.func @slices(%x: tensor<?xi32>, %at: tensor<4xi64>) -> tensor<4xi32> {
  %one = arith.constant 1 : index
  %empty = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%at : tensor<4xi64>) outs(%empty : tensor<4xi32>) {
  ^bb0(%i: i64, %o: i32):
    %index = arith.index_cast %i : i64 to index
    %slice = tensor.extract_slice %x[%index] [2] [1] : tensor<?xi32> to tensor<2xi32>
    %e = tensor.extract %slice[%one] : tensor<2xi32>
    linalg.yield %e : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// Two sums of one value, of which the second starts from what checks come before.
func.func @start(%x: tensor<?xf32>, %y: tensor<?xf32>, %a: tensor<?xf32>, %b: tensor<?xf32>) -> (f32, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = arith.subf %x, %y : tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%d : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %v = tensor.extract %s[] : tensor<f32>
  %q = arith.addf %a, %b : tensor<?xf32>
  %l = linalg.reduce { arith.addf } ins(%q : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %m = linalg.reduce { arith.minimumf } ins(%d : tensor<?xf32>) outs(%l : tensor<f32>) dimensions = [0]
  return %v, %m : f32, tensor<f32>
}

func.func @start_at(%x: tensor<?xf32>, %y: tensor<?xf32>, %a: tensor<?xf32>, %i: index) -> (f32, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = arith.subf %x, %y : tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%d : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %v = tensor.extract %s[] : tensor<f32>
  %q = tensor.extract_slice %a[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
  %l = tensor.collapse_shape %q [] : tensor<1xf32> into tensor<f32>
  %m = linalg.reduce { arith.minimumf } ins(%d : tensor<?xf32>) outs(%l : tensor<f32>) dimensions = [0]
  return %v, %m : f32, tensor<f32>
}

func.func @divided(%x: tensor<?xf32>, %y: tensor<?xf32>, %a: i64, %b: i64) -> (f32, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %d = arith.subf %x, %y : tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%d : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %v = tensor.extract %s[] : tensor<f32>
  %q = arith.divsi %a, %b : i64
  %f = arith.sitofp %q : i64 to f32
  %l = tensor.from_elements %f : tensor<f32>
  %m = linalg.reduce { arith.minimumf } ins(%d : tensor<?xf32>) outs(%l : tensor<f32>) dimensions = [0]
  return %v, %m : f32, tensor<f32>
}

// The product is no 64-bit number from the third step on; what is left of it would be a place in the tensor.
func.func @far(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 6148914691236517206)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Along one loop that only rises, what is read is known exactly.
func.func @gaps(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i - i floordiv 4)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// And where it only falls.
func.func @falling(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (3 - i + i floordiv 100)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A place that rises and falls: up to four of its values lie in the tensor, but its terms alone do not say so.
func.func @waves(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 3 + i floordiv 3)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
