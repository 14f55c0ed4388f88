// RUN: kiln-opt %s --split-input-file --kiln-widen-floats | FileCheck %s
// RUN: kiln-opt %S/Inputs/widen-bits.mlir --split-input-file --kiln-widen-floats --verify-diagnostics

// CHECK-LABEL: @product(%{{.*}}: tensor<4x6xf16>, %{{.*}}: tensor<6x8xf16>) -> tensor<4x8xf32>
// CHECK-DAG: arith.extf %arg0 : tensor<4x6xf16> to tensor<4x6xf64>
// CHECK-DAG: arith.extf %arg1 : tensor<6x8xf16> to tensor<6x8xf64>
// CHECK: arith.constant 5.000000e-01 : f64
// CHECK: linalg.fill {{.*}} -> tensor<4x8xf64>
// CHECK: linalg.matmul {{.*}} -> tensor<4x8xf64>
// CHECK: arith.truncf %{{.*}} : tensor<4x8xf64> to tensor<4x8xf32>
func.func @product(%a: tensor<4x6xf16>, %b: tensor<6x8xf16>) -> tensor<4x8xf32> {
  %half = arith.constant 0.5 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %init = linalg.fill ins(%half : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x6xf16>, tensor<6x8xf16>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// -----

// Roundings of the program's own stay, and what is no float stays as it is.
// CHECK-LABEL: @body
// CHECK: arith.constant dense<[1.000000e+00, 2.500000e-01]> : tensor<2xf64>
// CHECK: ^bb0(%[[X:.*]]: f64, %{{.*}}: f64, %{{.*}}: i32):
// CHECK-NEXT: %[[N:.*]] = arith.truncf %[[X]] : f64 to bf16
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[N]] : bf16 to f64
// CHECK-NEXT: math.exp %[[W]] : f64
// CHECK: arith.fptosi {{.*}} : f64 to i32
func.func @body(%a: tensor<2xf32>) -> tensor<2xi32> {
  %c = arith.constant dense<[1.0, 0.25]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<2xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
    ins(%a, %c : tensor<2xf32>, tensor<2xf32>) outs(%empty : tensor<2xi32>) {
  ^bb0(%x: f32, %y: f32, %o: i32):
    %narrow = arith.truncf %x : f32 to bf16
    %wide = arith.extf %narrow : bf16 to f32
    %e = math.exp %wide : f32
    %s = arith.addf %e, %y : f32
    %i = arith.fptosi %s : f32 to i32
    linalg.yield %i : i32
  } -> tensor<2xi32>
  return %r : tensor<2xi32>
}

// -----

// CHECK-LABEL: @loop(%arg0: tensor<2xbf16>, %arg1: tensor<3xi8>) -> (tensor<2xbf16>, tensor<3xi8>)
// CHECK: scf.for {{.*}} -> (tensor<2xf64>)
// CHECK: arith.addf {{.*}} : tensor<2xf64>
// CHECK: arith.truncf %{{.*}} : tensor<2xf64> to tensor<2xbf16>
// CHECK: return %{{.*}}, %arg1
func.func @loop(%a: tensor<2xbf16>, %b: tensor<3xi8>) -> (tensor<2xbf16>, tensor<3xi8>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %r = scf.for %i = %zero to %ten step %one iter_args(%s = %a) -> tensor<2xbf16> {
    %t = arith.addf %s, %a : tensor<2xbf16>
    scf.yield %t : tensor<2xbf16>
  }
  return %r, %b : tensor<2xbf16>, tensor<3xi8>
}
