// What is computed of a product's input is stored before it, with a remark, so that tensor cores multiply it: of a linalg.generic as of
// a named product.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t/cpu.vmfb
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_80 --kiln-remarks --iree-hal-dump-executable-binaries-to=%t/sm_80 %s -o %t/sm_80.vmfb 2>&1 | FileCheck %s
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-remarks --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t/sm_90a %s -o %t/sm_90a.vmfb 2>&1 | FileCheck %s
// RUN: cat %t/sm_80/*_generic_*matmul*.ptx %t/sm_80/*_named_*matmul*.ptx | FileCheck %s --check-prefixes=PRODUCT,WARPS
// RUN: cat %t/sm_90a/*_generic_*matmul*.ptx %t/sm_90a/*_named_*matmul*.ptx | FileCheck %s --check-prefixes=PRODUCT,GROUPS
// RUN: kiln-dump-module %t/sm_80.vmfb --output=metadata | grep 'kiln.remarks: not_fused 2'
// RUN: kiln-run-module --module=%t/cpu.vmfb --function=numbers --output=@%t/numbers.npy
// RUN: kiln-run-module --module=%t/cpu.vmfb --function=relu_generic --input=@%t/numbers.npy --output=@%t/product.npy
// RUN: kiln-run-module --module=%t/sm_80.vmfb --device=cuda-sim://sm_80 --function=relu_generic --input=@%t/numbers.npy --expected_output=@%t/product.npy
// RUN: kiln-run-module --module=%t/sm_80.vmfb --device=cuda-sim://sm_80 --function=relu_named --input=@%t/numbers.npy --expected_output=@%t/product.npy
// RUN: kiln-run-module --module=%t/sm_90a.vmfb --device=cuda-sim --function=relu_generic --input=@%t/numbers.npy --expected_output=@%t/product.npy
// RUN: kiln-run-module --module=%t/sm_90a.vmfb --device=cuda-sim --function=relu_named --input=@%t/numbers.npy --expected_output=@%t/product.npy

// CHECK: remark: not_fused: relu_generic stores the result of 'linalg.generic' of line {{[0-9]+}}, {{[0-9]+}} bytes, in each call and loads it for 'linalg.generic' of line {{[0-9]+}}, which uses each element
// CHECK: remark: not_fused: relu_named stores the result of 'linalg.generic' of line {{[0-9]+}}, {{[0-9]+}} bytes, in each call and loads it for 'linalg.matmul' of line {{[0-9]+}}, which uses each element
// CHECK-NOT: remark:

// PRODUCT: .entry relu_generic_dispatch_{{.*}}matmul
// WARPS: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// GROUPS: wgmma.mma_async
// PRODUCT: .entry relu_named_dispatch_{{.*}}matmul
// WARPS: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// GROUPS: wgmma.mma_async

#each = affine_map<(i, j) -> (i, j)>

// Small numbers of both signs.
func.func @numbers() -> tensor<80x80xf16> {
  %empty = tensor.empty() : tensor<80x80xf16>
  %result = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<80x80xf16>) {
  ^bb0(%old: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seven = arith.constant 7 : index
    %eleven = arith.constant 11 : index
    %five = arith.constant 5 : index
    %row = arith.muli %i, %seven : index
    %sum = arith.addi %row, %j : index
    %rest = arith.remui %sum, %eleven : index
    %both = arith.subi %rest, %five : index
    %integer = arith.index_cast %both : index to i32
    %number = arith.sitofp %integer : i32 to f16
    linalg.yield %number : f16
  } -> tensor<80x80xf16>
  return %result : tensor<80x80xf16>
}

func.func @relu_generic(%input: tensor<80x80xf16>) -> tensor<80x80xf32> {
  %zero = arith.constant 0.0 : f16
  %positive_empty = tensor.empty() : tensor<80x80xf16>
  %positive = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]} ins(%input : tensor<80x80xf16>) outs(%positive_empty : tensor<80x80xf16>) {
  ^bb0(%x: f16, %old: f16):
    %larger = arith.maximumf %x, %zero : f16
    linalg.yield %larger : f16
  } -> tensor<80x80xf16>
  %wide_zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<80x80xf32>
  %zeros = linalg.fill ins(%wide_zero : f32) outs(%empty : tensor<80x80xf32>) -> tensor<80x80xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%positive, %input : tensor<80x80xf16>, tensor<80x80xf16>) outs(%zeros : tensor<80x80xf32>) {
  ^bb0(%x: f16, %y: f16, %before: f32):
    %a = arith.extf %x : f16 to f32
    %b = arith.extf %y : f16 to f32
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %before, %product : f32
    linalg.yield %next : f32
  } -> tensor<80x80xf32>
  return %result : tensor<80x80xf32>
}

func.func @relu_named(%input: tensor<80x80xf16>) -> tensor<80x80xf32> {
  %zero = arith.constant 0.0 : f16
  %positive_empty = tensor.empty() : tensor<80x80xf16>
  %positive = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]} ins(%input : tensor<80x80xf16>) outs(%positive_empty : tensor<80x80xf16>) {
  ^bb0(%x: f16, %old: f16):
    %larger = arith.maximumf %x, %zero : f16
    linalg.yield %larger : f16
  } -> tensor<80x80xf16>
  %wide_zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<80x80xf32>
  %zeros = linalg.fill ins(%wide_zero : f32) outs(%empty : tensor<80x80xf32>) -> tensor<80x80xf32>
  %result = linalg.matmul ins(%positive, %input : tensor<80x80xf16>, tensor<80x80xf16>) outs(%zeros : tensor<80x80xf32>) -> tensor<80x80xf32>
  return %result : tensor<80x80xf32>
}
