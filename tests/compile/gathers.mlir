// What a body reads outside of a tensor is the nearest element, the same on each device. Upstream says nothing of it.
// REQUIRES: compiler
// RUN: call() { kiln-run-module $device --module=%t.vmfb --function="$@" 2>&1; }; \
// RUN: calls() { kiln-compile --iree-hal-target-backends=$1 %s -o %t.vmfb && \
// RUN:   call elements --input="5xf32=1 2 3 4 5" --input="9xi64=0 4 5 -1 9223372036854775807 -9223372036854775808 2 4294967296 3" && \
// RUN:   call rows --input="3x2xi32=1 2 3 4 5 6" --input="3x2xi32=2 1 3 -1 -7 9" && \
// RUN:   ! call rows --input=0x2xi32 --input=3x2xi32=0 && \
// RUN:   call border --input="2xf32=10 20" --input="3xf32=1 2 3" --input="6xi64=2 -1 99 99 1 9223372036854775806" && \
// RUN:   call chosen --input="4xf32=1 2 3 4" --input="3xi64=-5 9 2" && \
// RUN:   call chosen --input=0xf32 --input="3xi64=-5 9 2"; }; \
// RUN: device= calls llvm-cpu > %t.cpu && device=--device=cuda-sim calls cuda > %t.gpu
// RUN: FileCheck %s < %t.cpu
// RUN: FileCheck %s < %t.gpu

#id = affine_map<(i) -> (i)>

// CHECK: 9xf32=1 5 5 1 5 1 3 5 4
func.func @elements(%a: tensor<5xf32>, %at: tensor<?xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %at, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : tensor<?xi64>) outs(%e : tensor<?xf32>) {
  ^bb0(%i: i64, %o: f32):
    %index = arith.index_cast %i : i64 to index
    %x = tensor.extract %a[%index] : tensor<5xf32>
    linalg.yield %x : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Each index is held to its own dimension. The host sees that there is nothing to read.
// CHECK: 3xi32=6 5 2
// CHECK: error: gathers.mlir:[[@LINE+4]]:8: 'tensor.generate': elements are taken from a tensor that has none
func.func @rows(%a: tensor<?x2xi32>, %at: tensor<3x2xi32>) -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %y = tensor.extract %at[%i, %c0] : tensor<3x2xi32>
    %x = tensor.extract %at[%i, %c1] : tensor<3x2xi32>
    %row = arith.index_cast %y : i32 to index
    %column = arith.index_cast %x : i32 to index
    %v = tensor.extract %a[%row, %column] : tensor<?x2xi32>
    tensor.yield %v : i32
  } : tensor<3xi32>
  return %r : tensor<3xi32>
}

// The value of a padding, computed in the middle as well.
// CHECK: 6xf32=6 2 10 20 5 6
func.func @border(%a: tensor<2xf32>, %b: tensor<3xf32>, %at: tensor<6xi64>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = tensor.pad %a low[2] high[2] {
  ^bb0(%i: index):
    %j = tensor.extract %at[%i] : tensor<6xi64>
    %start = arith.index_cast %j : i64 to index
    %two = tensor.extract_slice %b[%start] [2] [1] : tensor<3xf32> to tensor<2xf32>
    %x = tensor.extract %two[%c0] : tensor<2xf32>
    %y = tensor.extract %two[%c1] : tensor<2xf32>
    %s = arith.addf %x, %y : f32
    tensor.yield %s : f32
  } : tensor<2xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}

// Only a branch comes to it.
// CHECK: 3xf32=1 4 3
// CHECK: 3xf32=1 0 0
func.func @chosen(%a: tensor<?xf32>, %at: tensor<3xi64>) -> tensor<3xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : tensor<3xi64>) outs(%e : tensor<3xf32>) {
  ^bb0(%i: i64, %o: f32):
    %taken = arith.cmpi sge, %i, %zero : i64
    %v = scf.if %taken -> f32 {
      %index = arith.index_cast %i : i64 to index
      %x = tensor.extract %a[%index] : tensor<?xf32>
      scf.yield %x : f32
    } else {
      scf.yield %one : f32
    }
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
