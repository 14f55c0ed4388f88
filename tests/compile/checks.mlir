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
