// REQUIRES: compiler
// An argument that a product sums up, and that what follows the product reads element by element: the product is cut into
// tiles by its own result.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --kiln-remarks %s -o %t.vmfb 2> %t.remarks
// RUN: not grep one_workgroup %t.remarks
// RUN: kiln-run-module --module=%t.vmfb --function=scaled --input="1x3xbf16=1 2 -1" --input="1x3x3xbf16=1 2 3 4 5 6 7 8 9" \
// RUN:   --expected_output="1x3xbf16=2 16 -14"
// RUN: kiln-run-module --module=%t.vmfb --function=large --input=512xf32=1 --input=512x512xf32=2 --expected_output=512xf32=1025
// RUN: kiln-run-module --module=%t.vmfb --function=polynomial --input=512x512xf32=2 --expected_output=512x512xf32=2050

#n_k = affine_map<(k, n, b) -> (b, n, k)>
#k = affine_map<(k, n, b) -> (b, k)>
#n = affine_map<(k, n, b) -> (b, n)>
#all = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i) -> (i)>

func.func @scaled(%x: tensor<1x?xbf16>, %a: tensor<1x?x?xbf16>) -> tensor<1x?xbf16> {
  %c1 = arith.constant 1 : index
  %size = tensor.dim %x, %c1 : tensor<1x?xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%size) : tensor<1x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?xf32>) -> tensor<1x?xf32>
  %sum = linalg.generic {indexing_maps = [#k, #n_k, #n], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %a : tensor<1x?xbf16>, tensor<1x?x?xbf16>) outs(%f : tensor<1x?xf32>) {
  ^bb0(%p: bf16, %q: bf16, %acc: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.extf %q : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<1x?xf32>
  %out = tensor.empty(%size) : tensor<1x?xbf16>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<1x?xbf16>, tensor<1x?xf32>) outs(%out : tensor<1x?xbf16>) {
  ^bb0(%p: bf16, %s: f32, %o: bf16):
    %0 = arith.truncf %s : f32 to bf16
    %1 = arith.mulf %p, %0 : bf16
    linalg.yield %1 : bf16
  } -> tensor<1x?xbf16>
  return %r : tensor<1x?xbf16>
}

// Enough work for several workgroups.
func.func @large(%x: tensor<512xf32>, %a: tensor<512x512xf32>) -> tensor<512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %p = linalg.matvec ins(%a, %x : tensor<512x512xf32>, tensor<512xf32>) outs(%f : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
      ins(%x, %p : tensor<512xf32>, tensor<512xf32>) outs(%e : tensor<512xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.addf %u, %v : f32
    linalg.yield %0 : f32
  } -> tensor<512xf32>
  return %r : tensor<512xf32>
}

// Both of a product's arguments are what is added to it.
func.func @polynomial(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul ins(%a, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%a, %p : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %0 = arith.addf %u, %v : f32
    linalg.yield %0 : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
