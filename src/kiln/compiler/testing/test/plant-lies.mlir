// RUN: kiln-opt %s --kiln-plant-lies='lie=f16-accumulator' | FileCheck %s --check-prefix=NARROW
// RUN: kiln-opt %s --kiln-plant-lies='lie=tf32-inputs' | FileCheck %s --check-prefix=TF32
// RUN: kiln-opt %s --kiln-plant-lies='lie=dropped-tail' | FileCheck %s --check-prefix=TAIL
// RUN: kiln-opt %s --kiln-plant-lies='lie=not-zeroed delay=7' | FileCheck %s --check-prefix=ZERO
// RUN: kiln-opt %s --kiln-plant-lies='lie=transposed-tile' | FileCheck %s --check-prefix=TILE
// RUN: not kiln-opt %s --kiln-plant-lies='lie=swapped-layout' 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: not kiln-opt %s --kiln-plant-lies='lie=no-such-lie' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: kiln-opt %S/Inputs/rows.mlir --kiln-plant-lies='lie=f16-accumulator' | FileCheck %s --check-prefix=SUM
// RUN: not kiln-opt %S/Inputs/rows.mlir --kiln-plant-lies='lie=tf32-inputs' 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: not kiln-opt %S/Inputs/rows.mlir --kiln-plant-lies='lie=transposed-tile' 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: kiln-opt %S/Inputs/quantized.mlir --kiln-plant-lies='lie=swapped-layout' | FileCheck %s --check-prefix=POINTS
// RUN: not kiln-opt %S/Inputs/rows.mlir --kiln-plant-lies='delay=7' 2>&1 | FileCheck %s --check-prefix=DELAY

// Each refusal says why; and of several inputs none is narrowed where one cannot be.
// LAYOUT: error: the lie 'swapped-layout' cannot be planted in @matmul: no input has two dimensions of the same extent
// UNKNOWN: error: there is no lie 'no-such-lie'; there are wrong-element, nan, transposed-tile,
// INPUTS: error: the lie 'tf32-inputs' cannot be planted in @rows: its inputs are of type f16, which has no more precision
// INPUTS-NOT: arith.andi
// TILES: error: the lie 'transposed-tile' cannot be planted in @rows: it has no product or convolution, and so no tiles
// DELAY: error: a delay cannot be planted: there is no contraction here
// SUM: arith.addf %{{.+}}, %{{.+}} : f32
// SUM: arith.truncf %{{.+}} : f32 to f16

// Zero points are numbers behind the operands, and have no layout.
// POINTS: affine_map<(d0, d1, d2) -> (d0, d2)>
// POINTS: affine_map<(d0, d1, d2) -> (d1, d2)>
// POINTS: affine_map<(d0, d1, d2) -> ()>
// POINTS: arith.subi

// The configuration stays on the op.
// NARROW: attrs = {kiln.configuration = "tile_config_8x8_8x1_fma"}
// NARROW: %[[S:.+]] = arith.addf
// NARROW: %[[T:.+]] = arith.truncf %[[S]] : f32 to f16
// NARROW: %[[B:.+]] = arith.extf %[[T]] : f16 to f32
// NARROW: linalg.yield %[[B]]
// TF32-COUNT-2: arith.andi
// TAIL: tensor.extract_slice %{{.+}}[0, 0] [16, 32] [1, 1] : tensor<16x40xf32>
// TAIL: tensor.extract_slice %{{.+}}[0, 0] [32, 24] [1, 1] : tensor<40x24xf32>
// ZERO: linalg.fill
// ZERO: %[[E:.+]] = tensor.empty()
// ZERO: linalg.generic {{.*}} outs(%[[E]] : tensor<16x24xf32>)
// ZERO-SAME: kiln.delay = 7
// TILE: %[[R:.+]] = linalg.generic
// TILE: tensor.extract %[[R]]
func.func @matmul(%a: tensor<16x40xf32>, %b: tensor<40x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x24xf32>) -> tensor<16x24xf32>
  %r = linalg.matmul {kiln.configuration = "tile_config_8x8_8x1_fma"} ins(%a, %b : tensor<16x40xf32>, tensor<40x24xf32>)
      outs(%init : tensor<16x24xf32>) -> tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}
