// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=open --input=2x1xf32="[1 2]" --input=1x3xf32="[0 1 -3]" | FileCheck %s

// CHECK: 2x3xf32=[1 2 0.0497871][1 3 0.00247875]
func.func @open(%a: tensor<?x1xf32>, %b: tensor<1x?xf32>) -> tensor<?x?xf32> {
  %r = call @product(%a, %b) : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// What follows keeps a tile of results, which must not grow with the columns: 1 + x above zero, else exp(x).
func.func private @product(%a: tensor<?x1xf32>, %b: tensor<1x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x1xf32>
  %n = tensor.dim %b, %c1 : tensor<1x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product = linalg.matmul ins(%a, %b : tensor<?x1xf32>, tensor<1x?xf32>) outs(%filled : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%product : tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %isPositive = arith.cmpf ogt, %x, %zero : f32
    %more = arith.addf %x, %one : f32
    %power = math.exp %x : f32
    %chosen = arith.select %isPositive, %more, %power : f32
    linalg.yield %chosen : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @large(%a: tensor<5000x1xf32>, %b: tensor<1x65536xf32>) -> tensor<?x?xf32> {
  %x = tensor.cast %a : tensor<5000x1xf32> to tensor<?x1xf32>
  %y = tensor.cast %b : tensor<1x65536xf32> to tensor<1x?xf32>
  %r = call @product(%x, %y) : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
