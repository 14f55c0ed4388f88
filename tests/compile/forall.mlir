// Loops whose turns may run at the same time: their slices go into one tensor, and each turn reads what was before them.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: run() { kiln-run-module --module=%t.vmfb "$@"; }; \
// RUN: run --function=tiles --input="4x3xf32=1 2 3 4 5 6 7 8 9 10 11 12" --input="3x4xf32=1 0 0 1 0 1 0 1 0 0 1 1" \
// RUN:   --expected_output="4x4xf32=2 3 4 7 5 6 7 16 8 9 10 25 11 12 13 34" && \
// RUN: run --function=shifted --input="5xi32=1 2 3 4 5" --input=4 --expected_output="5xi32=1 1 2 3 4" && \
// RUN: run --function=shifted --input="5xi32=1 2 3 4 5" --input=0 --expected_output="5xi32=1 2 3 4 5" && \
// RUN: run --function=columns --input="2x3xi32=1 2 3 4 5 6" --expected_output="3x2xi32=1 4 2 5 3 6" --expected_output="3xi32=5 7 9"
// RUN: not kiln-run-module --module=%t.vmfb --function=shifted --input="5xi32=1" --input=5 2>&1 | FileCheck %s
// RUN: not kiln-run-module --module=%t.vmfb --function=row --input="1x4xi32=1" --input=0 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not kiln-run-module --module=%t.vmfb --function=row --input="1x4xi32=1" --input=3 2>&1 | FileCheck %s --check-prefix=ROW
// What is wrong is told of what the program says, not of what became of it.
// CHECK: forall.mlir:{{[0-9]+}}:7: 'tensor.parallel_insert_slice': the slice lies outside of dimension 0 of its tensor

// Each tile starts from ones.
func.func @tiles(%x: tensor<4x3xf32>, %y: tensor<3x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (4, 4) step (2, 2) shared_outs(%o = %ones) -> tensor<4x4xf32> {
    %a = tensor.extract_slice %x[%i, 0] [2, 3] [1, 1] : tensor<4x3xf32> to tensor<2x3xf32>
    %b = tensor.extract_slice %y[0, %j] [3, 2] [1, 1] : tensor<3x4xf32> to tensor<3x2xf32>
    %c = tensor.extract_slice %o[%i, %j] [2, 2] [1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
    %m = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %m into %o[%i, %j] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<4x4xf32>
    }
  }
  return %r : tensor<4x4xf32>
}

// Turns read what others write: the element from before the loop.
func.func @shifted(%x: tensor<5xi32>, %n: index) -> tensor<5xi32> {
  %c1 = arith.constant 1 : index
  %r = scf.forall (%i) in (%n) shared_outs(%o = %x) -> tensor<5xi32> {
    %e = tensor.extract_slice %o[%i] [1] [1] : tensor<5xi32> to tensor<1xi32>
    %next = arith.addi %i, %c1 : index
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%next] [1] [1] : tensor<1xi32> into tensor<5xi32>
    }
  }
  return %r : tensor<5xi32>
}

// STEP: forall.mlir:[[@LINE+2]]:8: 'scf.forall': the step must be above 0
func.func @row(%x: tensor<1x4xi32>, %n: index) -> tensor<1x4xi32> {
  %r = scf.forall (%i) = (0) to (4) step (%n) shared_outs(%o = %x) -> tensor<1x4xi32> {
    %e = tensor.extract_slice %x[0, 0] [1, 2] [1, 1] : tensor<1x4xi32> to tensor<2xi32>
    scf.forall.in_parallel {
      // ROW: forall.mlir:[[@LINE+1]]:7: 'tensor.parallel_insert_slice': the slice lies outside of dimension 1 of its tensor
      tensor.parallel_insert_slice %e into %o[0, %i] [1, 2] [1, 1] : tensor<2xi32> into tensor<1x4xi32>
    }
  }
  return %r : tensor<1x4xi32>
}

// Two results, of slices that lose a dimension.
func.func @columns(%x: tensor<2x3xi32>) -> (tensor<3x2xi32>, tensor<3xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x2xi32>
  %f = tensor.empty() : tensor<3xi32>
  %r:2 = scf.forall (%i) in (3) shared_outs(%o = %e, %p = %f) -> (tensor<3x2xi32>, tensor<3xi32>) {
    %column = tensor.extract_slice %x[0, %i] [2, 1] [1, 1] : tensor<2x3xi32> to tensor<2xi32>
    %none = tensor.empty() : tensor<i32>
    %start = linalg.fill ins(%zero : i32) outs(%none : tensor<i32>) -> tensor<i32>
    %sum = linalg.reduce { arith.addi } ins(%column : tensor<2xi32>) outs(%start : tensor<i32>) dimensions = [0]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %column into %o[%i, 0] [1, 2] [1, 1] : tensor<2xi32> into tensor<3x2xi32>
      tensor.parallel_insert_slice %sum into %p[%i] [1] [1] : tensor<i32> into tensor<3xi32>
    }
  }
  return %r#0, %r#1 : tensor<3x2xi32>, tensor<3xi32>
}
