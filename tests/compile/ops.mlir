// Ops that stand for several others, a long program of small ops, and divisions that would trap.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=softmaxd --input="2x3xf32=1 2 3 4 5 6" | FileCheck %s --check-prefix=SOFTMAX
// RUN: kiln-run-module --module=%t.vmfb --function=pack --input="2x4xf32=1 2 3 4 5 6 7 8" | FileCheck %s --check-prefix=PACK
// RUN: kiln-run-module --module=%t.vmfb --function=affine --input=5 | FileCheck %s --check-prefix=AFFINE
// RUN: kiln-run-module --module=%t.vmfb --function=div --input="6xi32=7 -7 7 -2147483648 7 -7" \
// RUN:   --input="6xi32=2 2 0 -1 -1 -2" | FileCheck %s --check-prefix=DIV
// RUN: kiln-run-module --module=%t.vmfb --function=gather --input="8xf32=0 1 2 3 4 5 6 7" \
// RUN:   --input="4xi32=2 100000000 -5 7" | FileCheck %s --check-prefix=GATHER
// RUN: kiln-run-module --module=%t.vmfb --function=gatherd --input="8xf32=0 1 2 3 4 5 6 7" \
// RUN:   --input="4xi32=2 100000000 -5 7" | FileCheck %s --check-prefix=GATHER
// RUN: kiln-run-module --module=%t.vmfb --function=chain --input=64xi32=1 | FileCheck %s --check-prefix=CHAIN

func.func @softmaxd(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @pack(%x: tensor<2x4xf32>) -> tensor<1x2x2x2xf32> {
  %e = tensor.empty() : tensor<1x2x2x2xf32>
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<2x4xf32> -> tensor<1x2x2x2xf32>
  return %r : tensor<1x2x2x2xf32>
}
func.func @affine(%n: index) -> index {
  %r = affine.apply affine_map<(d0) -> (d0 * 3 + d0 floordiv 2)>(%n)
  return %r : index
}
func.func @div(%a: tensor<6xi32>, %b: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) {
  %0 = arith.divsi %a, %b : tensor<6xi32>
  %1 = arith.remsi %a, %b : tensor<6xi32>
  %2 = arith.divui %a, %b : tensor<6xi32>
  %3 = arith.floordivsi %a, %b : tensor<6xi32>
  return %0, %1, %2, %3 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
}
func.func @gather(%x: tensor<8xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%k: i32, %o: f32):
    %j = arith.index_cast %k : i32 to index
    %v = tensor.extract %x[%j] : tensor<8xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @gatherd(%x: tensor<?xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%k: i32, %o: f32):
    %j = arith.index_cast %k : i32 to index
    %v = tensor.extract %x[%j] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @chain(%x0: tensor<64xi32>) -> tensor<64xi32> {
  %x1 = arith.addi %x0, %x0 : tensor<64xi32>
  %x2 = arith.addi %x1, %x0 : tensor<64xi32>
  %x3 = arith.addi %x2, %x1 : tensor<64xi32>
  %x4 = arith.addi %x3, %x1 : tensor<64xi32>
  %x5 = arith.addi %x4, %x2 : tensor<64xi32>
  %x6 = arith.addi %x5, %x2 : tensor<64xi32>
  %x7 = arith.addi %x6, %x3 : tensor<64xi32>
  %x8 = arith.addi %x7, %x3 : tensor<64xi32>
  %x9 = arith.addi %x8, %x4 : tensor<64xi32>
  %x10 = arith.addi %x9, %x4 : tensor<64xi32>
  %x11 = arith.addi %x10, %x5 : tensor<64xi32>
  %x12 = arith.addi %x11, %x5 : tensor<64xi32>
  %x13 = arith.addi %x12, %x6 : tensor<64xi32>
  %x14 = arith.addi %x13, %x6 : tensor<64xi32>
  %x15 = arith.addi %x14, %x7 : tensor<64xi32>
  %x16 = arith.addi %x15, %x7 : tensor<64xi32>
  %x17 = arith.addi %x16, %x8 : tensor<64xi32>
  %x18 = arith.addi %x17, %x8 : tensor<64xi32>
  %x19 = arith.addi %x18, %x9 : tensor<64xi32>
  %x20 = arith.addi %x19, %x9 : tensor<64xi32>
  %x21 = arith.addi %x20, %x10 : tensor<64xi32>
  %x22 = arith.addi %x21, %x10 : tensor<64xi32>
  %x23 = arith.addi %x22, %x11 : tensor<64xi32>
  %x24 = arith.addi %x23, %x11 : tensor<64xi32>
  %x25 = arith.addi %x24, %x12 : tensor<64xi32>
  %x26 = arith.addi %x25, %x12 : tensor<64xi32>
  %x27 = arith.addi %x26, %x13 : tensor<64xi32>
  %x28 = arith.addi %x27, %x13 : tensor<64xi32>
  %x29 = arith.addi %x28, %x14 : tensor<64xi32>
  %x30 = arith.addi %x29, %x14 : tensor<64xi32>
  %x31 = arith.addi %x30, %x15 : tensor<64xi32>
  %x32 = arith.addi %x31, %x15 : tensor<64xi32>
  %x33 = arith.addi %x32, %x16 : tensor<64xi32>
  %x34 = arith.addi %x33, %x16 : tensor<64xi32>
  %x35 = arith.addi %x34, %x17 : tensor<64xi32>
  %x36 = arith.addi %x35, %x17 : tensor<64xi32>
  %x37 = arith.addi %x36, %x18 : tensor<64xi32>
  %x38 = arith.addi %x37, %x18 : tensor<64xi32>
  %x39 = arith.addi %x38, %x19 : tensor<64xi32>
  %x40 = arith.addi %x39, %x19 : tensor<64xi32>
  return %x40 : tensor<64xi32>
}
// SOFTMAX: 2x3xf32=[0.0900306 0.244728 0.665241][0.0900306 0.244728 0.665241]
// PACK: 1x2x2x2xf32={{.*}}[1 2][5 6]{{.*}}[3 4][7 8]
// AFFINE: i64=17
// A division by zero gives 0, and the one that overflows wraps.
// DIV: 6xi32=3 -3 0 -2147483648 -7 3
// DIV: 6xi32=1 -1 0 0 0 -1
// DIV: 6xi32=3 2147483644 0 0 0 0
// DIV: 6xi32=3 -4 0 -2147483648 -7 3
// CHAIN: 64xi32=2257 2257
// What lies outside of a tensor is read from its edge.
// GATHER: 4xf32=2 7 0 7
