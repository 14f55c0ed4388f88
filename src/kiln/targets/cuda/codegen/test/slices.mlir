// Products of slices of k, which start at slice * length + k, or at k and a number: tensor cores multiply them as they do others.
// RUN: rm -rf %t && mkdir -p %t
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t/cpu.vmfb
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_80 --kiln-remarks --iree-hal-dump-executable-binaries-to=%t/sm_80 %s -o %t/sm_80.vmfb 2>&1 | count 0
// RUN: kiln-compile --iree-hal-target-backends=cuda --iree-hal-cuda-llvm-target-arch=sm_90a --kiln-remarks --kiln-cuda-fallback-arch=none --iree-hal-dump-executable-binaries-to=%t/sm_90a %s -o %t/sm_90a.vmfb 2>&1 | count 0
// RUN: cat %t/sm_80/*slices_together*.ptx %t/sm_80/*one_slice*.ptx %t/sm_80/*what_is_left*.ptx | FileCheck %s --check-prefix=WARPS
// RUN: cat %t/sm_90a/*slices_together*.ptx %t/sm_90a/*one_slice*.ptx %t/sm_90a/*what_is_left*.ptx | FileCheck %s --check-prefix=GROUPS

// WARPS: .entry slices_together
// WARPS: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// WARPS: .entry one_slice
// WARPS: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// WARPS: .entry what_is_left
// WARPS: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

// Tensor maps tell slices from each other, so that what is beyond a slice is zero. They cannot tell where one starts that is no
// whole number of slices from the start, or where the last one is shorter.
// GROUPS: .entry slices_together
// GROUPS: cp.async.bulk.tensor.3d
// GROUPS: wgmma.mma_async
// GROUPS: .entry one_slice
// GROUPS: cp.async.bulk.tensor.3d
// GROUPS: wgmma.mma_async
// GROUPS: .entry what_is_left
// GROUPS: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

// RUN: kiln-run-module --module=%t/cpu.vmfb --function=lhs --output=@%t/lhs.npy
// RUN: kiln-run-module --module=%t/cpu.vmfb --function=rhs --output=@%t/rhs.npy
// RUN: kiln-run-module --module=%t/cpu.vmfb --function=slices_together --input=@%t/lhs.npy --input=@%t/rhs.npy --output=@%t/together.npy
// RUN: kiln-run-module --module=%t/cpu.vmfb --function=one_slice --input=@%t/lhs.npy --input=@%t/rhs.npy --output=@%t/one.npy
// RUN: kiln-run-module --module=%t/cpu.vmfb --function=what_is_left --input=@%t/lhs.npy --input=@%t/rhs.npy --output=@%t/left.npy
// RUN: kiln-run-module --module=%t/sm_80.vmfb --device=cuda-sim://sm_80 --function=slices_together --input=@%t/lhs.npy --input=@%t/rhs.npy --expected_output=@%t/together.npy
// RUN: kiln-run-module --module=%t/sm_80.vmfb --device=cuda-sim://sm_80 --function=one_slice --input=@%t/lhs.npy --input=@%t/rhs.npy --expected_output=@%t/one.npy
// RUN: kiln-run-module --module=%t/sm_80.vmfb --device=cuda-sim://sm_80 --function=what_is_left --input=@%t/lhs.npy --input=@%t/rhs.npy --expected_output=@%t/left.npy
// RUN: kiln-run-module --module=%t/sm_90a.vmfb --device=cuda-sim --function=slices_together --input=@%t/lhs.npy --input=@%t/rhs.npy --expected_output=@%t/together.npy
// RUN: kiln-run-module --module=%t/sm_90a.vmfb --device=cuda-sim --function=one_slice --input=@%t/lhs.npy --input=@%t/rhs.npy --expected_output=@%t/one.npy
// RUN: kiln-run-module --module=%t/sm_90a.vmfb --device=cuda-sim --function=what_is_left --input=@%t/lhs.npy --input=@%t/rhs.npy --expected_output=@%t/left.npy

// Small numbers, which differ from one place to the next.
func.func @lhs() -> tensor<80x120xf16> {
  %empty = tensor.empty() : tensor<80x120xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<80x120xf16>) {
  ^bb0(%old: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seven = arith.constant 7 : index
    %eleven = arith.constant 11 : index
    %row = arith.muli %i, %seven : index
    %sum = arith.addi %row, %j : index
    %rest = arith.remui %sum, %eleven : index
    %integer = arith.index_cast %rest : index to i32
    %number = arith.sitofp %integer : i32 to f16
    linalg.yield %number : f16
  } -> tensor<80x120xf16>
  return %result : tensor<80x120xf16>
}
func.func @rhs() -> tensor<120x72xf16> {
  %empty = tensor.empty() : tensor<120x72xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<120x72xf16>) {
  ^bb0(%old: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %five = arith.constant 5 : index
    %thirteen = arith.constant 13 : index
    %column = arith.muli %j, %five : index
    %sum = arith.addi %i, %column : index
    %rest = arith.remui %sum, %thirteen : index
    %integer = arith.index_cast %rest : index to i32
    %number = arith.sitofp %integer : i32 to f16
    linalg.yield %number : f16
  } -> tensor<120x72xf16>
  return %result : tensor<120x72xf16>
}

func.func @slices_together(%lhs: tensor<80x120xf16>, %rhs: tensor<120x72xf16>) -> tensor<3x80x72xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x80x72xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x80x72xf32>) -> tensor<3x80x72xf32>
  %extent = tensor.empty() : tensor<40xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(s, m, n, k) -> (m, s * 40 + k)>, affine_map<(s, m, n, k) -> (s * 40 + k, n)>,
                     affine_map<(s, m, n, k) -> (k)>, affine_map<(s, m, n, k) -> (s, m, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs, %extent : tensor<80x120xf16>, tensor<120x72xf16>, tensor<40xf16>) outs(%zeros : tensor<3x80x72xf32>) {
  ^bb0(%a: f16, %b: f16, %unused: f16, %before: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %before, %product : f32
    linalg.yield %next : f32
  } -> tensor<3x80x72xf32>
  return %result : tensor<3x80x72xf32>
}

func.func @one_slice(%lhs: tensor<80x120xf16>, %rhs: tensor<120x72xf16>) -> tensor<80x72xf32> {
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<80x72xf32>
  %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<80x72xf32>) -> tensor<80x72xf32>
  %extent = tensor.empty() : tensor<40xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k + 80)>, affine_map<(m, n, k) -> (k + 80, n)>,
                     affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs, %extent : tensor<80x120xf16>, tensor<120x72xf16>, tensor<40xf16>) outs(%ones : tensor<80x72xf32>) {
  ^bb0(%a: f16, %b: f16, %unused: f16, %before: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %before, %product : f32
    linalg.yield %next : f32
  } -> tensor<80x72xf32>
  return %result : tensor<80x72xf32>
}

func.func @what_is_left(%lhs: tensor<80x120xf16>, %rhs: tensor<120x72xf16>) -> tensor<80x72xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<80x72xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<80x72xf32>) -> tensor<80x72xf32>
  %extent = tensor.empty() : tensor<16xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k + 104)>, affine_map<(m, n, k) -> (k + 104, n)>,
                     affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs, %extent : tensor<80x120xf16>, tensor<120x72xf16>, tensor<16xf16>) outs(%zeros : tensor<80x72xf32>) {
  ^bb0(%a: f16, %b: f16, %unused: f16, %before: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %product = arith.mulf %x, %y : f32
    %next = arith.addf %before, %product : f32
    linalg.yield %next : f32
  } -> tensor<80x72xf32>
  return %result : tensor<80x72xf32>
}
