// linalg.pack and linalg.unpack with tiles whose size only the call knows.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 || true; }; \
// RUN:   { call pack --input="3x4xi32=1 2 3 4 5 6 7 8 9 10 11 12" --input=2 --input=3; \
// RUN:     call unpack --input="2x2x3x2xi32=1 5 2 6 3 7 9 0 10 0 11 0 4 8 0 0 0 0 12 0 0 0 0 0" --input=3 --input=4; \
// RUN:     call pack --input=3x4xi32 --input=0 --input=3; call stranger --input=4xi32=1 --input=2 --input=3; } | FileCheck %s

// Tiles of 3 columns and 2 rows, columns outside; 77 fills up.
// CHECK: 2x2x3x2xi32=
// CHECK-SAME: [1 5][2 6][3 7]
// CHECK-SAME: [9 77][10 77][11 77]
// CHECK-SAME: [4 8][77 77][77 77]
// CHECK-SAME: [12 77][77 77][77 77]
// CHECK: 3x4xi32=[1 2 3 4][5 6 7 8][9 10 11 12]
// CHECK: 'linalg.pack': a tile is not above 0
// CHECK: 'linalg.pack': dimension 1 of the tiled tensor is not its tile
func.func @pack(%a: tensor<?x?xi32>, %rows: index, %columns: index) -> tensor<?x?x?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %padding = arith.constant 77 : i32
  %d0 = tensor.dim %a, %c0 : tensor<?x?xi32>
  %d1 = tensor.dim %a, %c1 : tensor<?x?xi32>
  %safe = arith.maxsi %rows, %c1 : index
  %o0 = arith.ceildivui %d0, %safe : index
  %o1 = arith.ceildivui %d1, %columns : index
  %e = tensor.empty(%o1, %o0, %columns, %rows) : tensor<?x?x?x?xi32>
  %0 = linalg.pack %a padding_value(%padding : i32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0]
    inner_tiles = [%columns, %rows] into %e : tensor<?x?xi32> -> tensor<?x?x?x?xi32>
  return %0 : tensor<?x?x?x?xi32>
}

func.func @unpack(%a: tensor<?x?x?x?xi32>, %rows: index, %columns: index) -> tensor<?x?xi32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %columnTile = tensor.dim %a, %c2 : tensor<?x?x?x?xi32>
  %rowTile = tensor.dim %a, %c3 : tensor<?x?x?x?xi32>
  %e = tensor.empty(%rows, %columns) : tensor<?x?xi32>
  %0 = linalg.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [%columnTile, %rowTile] into %e
    : tensor<?x?x?x?xi32> -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}

func.func @stranger(%a: tensor<4xi32>, %tile: index, %extent: index) -> tensor<?x?xi32> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty(%c2, %extent) : tensor<?x?xi32>
  %0 = linalg.pack %a inner_dims_pos = [0] inner_tiles = [%tile] into %e : tensor<4xi32> -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}
