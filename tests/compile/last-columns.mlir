// Of 9 columns a vector of eight is followed by one alone, whose store writes one element and no more: LLVM 22 stores it, where
// it was truncated, in the width that it had before. What it writes beyond is the next row's, which other workgroups compute.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --device=discrete --function=bytes --input=9x4x7xi64=1 --input=9x7x9xi64=1 --expected_output=9x4x9xi8=7
// RUN: kiln-run-module --module=%t.vmfb --device=discrete --function=words --input=9x4x7xi64=1 --input=9x7x9xi64=1 --expected_output=9x4x9xi16=7
// RUN: rm -rf %t && kiln-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=sapphirerapids \
// RUN:   --iree-hal-dump-executable-intermediates-to=%t %s -o %t.avx512.vmfb
// RUN: cat %t/*.optimized.ll | FileCheck %s
// CHECK-NOT: call void @llvm.masked.store{{.*}}<i1 true, i1 false, i1 false
// CHECK: store i8 {{.*}}, align 1
// CHECK-NOT: call void @llvm.masked.store{{.*}}<i1 true, i1 false, i1 false

#map = affine_map<(b, m, n) -> (b, m, n)>

func.func @bytes(%a: tensor<9x?x7xi64>, %b: tensor<9x7x9xi64>) -> tensor<9x?x9xi8> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %m = tensor.dim %a, %c1 : tensor<9x?x7xi64>
  %empty = tensor.empty(%m) : tensor<9x?x9xi64>
  %fill = linalg.fill ins(%zero : i64) outs(%empty : tensor<9x?x9xi64>) -> tensor<9x?x9xi64>
  %r = linalg.batch_matmul ins(%a, %b : tensor<9x?x7xi64>, tensor<9x7x9xi64>) outs(%fill : tensor<9x?x9xi64>) -> tensor<9x?x9xi64>
  %e = tensor.empty(%m) : tensor<9x?x9xi8>
  %t = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<9x?x9xi64>) outs(%e : tensor<9x?x9xi8>) {
  ^bb0(%x: i64, %o: i8):
    %y = arith.trunci %x : i64 to i8
    linalg.yield %y : i8
  } -> tensor<9x?x9xi8>
  return %t : tensor<9x?x9xi8>
}

func.func @words(%a: tensor<9x?x7xi64>, %b: tensor<9x7x9xi64>) -> tensor<9x?x9xi16> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %m = tensor.dim %a, %c1 : tensor<9x?x7xi64>
  %empty = tensor.empty(%m) : tensor<9x?x9xi64>
  %fill = linalg.fill ins(%zero : i64) outs(%empty : tensor<9x?x9xi64>) -> tensor<9x?x9xi64>
  %r = linalg.batch_matmul ins(%a, %b : tensor<9x?x7xi64>, tensor<9x7x9xi64>) outs(%fill : tensor<9x?x9xi64>) -> tensor<9x?x9xi64>
  %e = tensor.empty(%m) : tensor<9x?x9xi16>
  %t = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<9x?x9xi64>) outs(%e : tensor<9x?x9xi16>) {
  ^bb0(%x: i64, %o: i16):
    %y = arith.trunci %x : i64 to i16
    linalg.yield %y : i16
  } -> tensor<9x?x9xi16>
  return %t : tensor<9x?x9xi16>
}
