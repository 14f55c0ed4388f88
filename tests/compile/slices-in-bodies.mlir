// A slice in the body of an operation that lies outside of its tensor fails the call, where it is taken.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=cuda %s -o %t.cuda.vmfb
// RUN: call() { kiln-run-module $device --function="$@" 2>&1 | grep -e result -A1 -e error; }; \
// RUN: calls() { call sums --input="8xf32=1 2 3 4 5 6 7 8" --input="3xi64=0 6 2" --input="3xi64=8 2 3"; \
// RUN:   for s in 7 -1 9223372036854775807; do call sums --input=8xf32=1 --input="3xi64=0 $s 2" --input=3xi64=2; done; \
// RUN:   call sums --input=8xf32=1 --input=3xi64=2 --input="3xi64=2 2 7"; call sums --input=8xf32=1 --input=3xi64=2 --input=3xi64=-1; \
// RUN:   call pairs --input="5xf32=1 2 3 4 5" --input="4xi64=0 1 2 3"; call pairs --input=5xf32=1 --input="4xi64=0 1 2 4"; \
// RUN:   call chosen --input="5xf32=1 2 3 4 5" --input="4xi64=3 9 0 -5"; call chosen --input=5xf32=1 --input="4xi64=4 9 9 9"; \
// RUN:   call border --input=2xf32=7 --input="3xf32=1 2 3"; }; \
// RUN: device="--module=%t.vmfb" calls | FileCheck %s
// RUN: call() { kiln-run-module --device=cuda-sim --module=%t.cuda.vmfb --function=sums "$@" 2>&1 | grep -e result -A1 -e error; }; \
// RUN: { call --input=8xf32=1 --input="3xi64=0 7 2" --input=3xi64=2; \
// RUN:   call --input="8xf32=1 2 3 4 5 6 7 8" --input="3xi64=0 6 2" --input="3xi64=8 2 3"; } | FileCheck %s --check-prefix=SIM
// SIM: error: {{.*}}slices-in-bodies.mlir:[[#]]:12: 'tensor.extract_slice': the slice lies outside of dimension 0 of its tensor
// SIM: 3xf32=36 15 12

// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 | grep -e result -A1 -e error; }; { \
// RUN:   call untaken --input=2xf32=1 --input=3xf32=5 --input=100 --input=0; call untaken --input=2xf32=1 --input=3xf32=5 --input=1 --input=1; \
// RUN:   call untaken --input=2xf32=1 --input=3xf32=5 --input=100 --input=1; call no_element --input=0xf32 --input=3xf32=5 --input=100; \
// RUN:   call no_element --input=2xf32=1 --input=3xf32=5 --input=1; call no_element --input=2xf32=1 --input=3xf32=5 --input=100; \
// RUN:   call chain --input="2xf32=1 2"; } | FileCheck %s --check-prefix=TAKEN
// TAKEN: 2xf32=1 1
// TAKEN: 2xf32=11 11
// TAKEN: error: {{.*}}the slice lies outside
// TAKEN: 0xf32=
// TAKEN: 2xf32=11 11
// TAKEN: error: {{.*}}the slice lies outside
// TAKEN: 2xf32=4.1943e+06 8.38861e+06

// CHECK: 3xf32=36 15 12
// CHECK-COUNT-5: error: {{.*}}slices-in-bodies.mlir:[[#]]:12: 'tensor.extract_slice': the slice lies outside of dimension 0 of its tensor
func.func @sums(%a: tensor<8xf32>, %starts: tensor<3xindex>, %sizes: tensor<3xindex>) -> tensor<3xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = tensor.generate {
  ^bb0(%i: index):
    %start = tensor.extract %starts[%i] : tensor<3xindex>
    %size = tensor.extract %sizes[%i] : tensor<3xindex>
    %row = tensor.extract_slice %a[%start] [%size] [1] : tensor<8xf32> to tensor<?xf32>
    %s = linalg.reduce { arith.addf } ins(%row : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    %x = tensor.extract %s[] : tensor<f32>
    tensor.yield %x : f32
  } : tensor<3xf32>
  return %r : tensor<3xf32>
}

// CHECK: 4xf32=3 5 7 9
// CHECK: error: {{.*}}the slice lies outside of dimension 0 of its tensor
func.func @pairs(%a: tensor<5xf32>, %starts: tensor<4xindex>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = linalg.map ins(%starts : tensor<4xindex>) outs(%e : tensor<4xf32>)
    (%start: index, %init: f32) {
      %pair = tensor.extract_slice %a[%start] [2] [1] : tensor<5xf32> to tensor<2xf32>
      %x = tensor.extract %pair[%c0] : tensor<2xf32>
      %y = tensor.extract %pair[%c1] : tensor<2xf32>
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    }
  return %r : tensor<4xf32>
}

// Only in a branch that is taken.
// CHECK: 4xf32=9 0 3 0
// CHECK: error: {{.*}}the slice lies outside of dimension 0 of its tensor
func.func @chosen(%a: tensor<5xf32>, %starts: tensor<4xindex>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %five = arith.constant 5 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = tensor.generate {
  ^bb0(%i: index):
    %start = tensor.extract %starts[%i] : tensor<4xindex>
    %taken = arith.cmpi ult, %start, %five : index
    %v = scf.if %taken -> f32 {
      %pair = tensor.extract_slice %a[%start] [2] [1] : tensor<5xf32> to tensor<2xf32>
      %x = tensor.extract %pair[%c0] : tensor<2xf32>
      %y = tensor.extract %pair[%c1] : tensor<2xf32>
      %s = arith.addf %x, %y : f32
      scf.yield %s : f32
    } else {
      scf.yield %zero : f32
    }
    tensor.yield %v : f32
  } : tensor<4xf32>
  return %r : tensor<4xf32>
}

// The value of a padding is computed for the places of the source, too, where its slice lies outside.
// CHECK: 5xf32=1 7 7 1 2
func.func @border(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<5xf32> {
  %r = tensor.pad %a low[1] high[2] {
  ^bb0(%i: index):
    %two = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %late = arith.cmpi uge, %i, %two : index
    %above = arith.subi %i, %two : index
    %start = arith.select %late, %above, %i : index
    %one = tensor.extract_slice %b[%start] [1] [1] : tensor<3xf32> to tensor<1xf32>
    %x = tensor.extract %one[%c0] : tensor<1xf32>
    tensor.yield %x : f32
  } : tensor<2xf32> to tensor<5xf32>
  return %r : tensor<5xf32>
}

// A slice that does not depend on the element stays in the branch that takes it.
func.func @untaken(%x: tensor<?xf32>, %t: tensor<?xf32>, %offset: index, %c: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %start = arith.constant dense<0.0> : tensor<f32>
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = scf.if %c -> f32 {
      %s = tensor.extract_slice %t[%offset] [2] [1] : tensor<?xf32> to tensor<2xf32>
      %u = linalg.reduce { arith.addf } ins(%s : tensor<2xf32>) outs(%start : tensor<f32>) dimensions = [0]
      %w = tensor.extract %u[] : tensor<f32>
      scf.yield %w : f32
    } else {
      scf.yield %zero : f32
    }
    %y = arith.addf %a, %v : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Where there may be no element, it stays as well.
func.func @no_element(%x: tensor<?xf32>, %t: tensor<?xf32>, %offset: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %start = arith.constant dense<0.0> : tensor<f32>
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = tensor.extract_slice %t[%offset] [2] [1] : tensor<?xf32> to tensor<2xf32>
    %u = linalg.reduce { arith.addf } ins(%s : tensor<2xf32>) outs(%start : tensor<f32>) dimensions = [0]
    %w = tensor.extract %u[] : tensor<f32>
    %y = arith.addf %a, %w : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Each operation reads its operand twice; that is one read.
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e2 = tensor.empty() : tensor<2xf32>
    %t0 = tensor.from_elements %a, %a : tensor<2xf32>
    %t1 = linalg.add ins(%t0, %t0 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t2 = linalg.add ins(%t1, %t1 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t3 = linalg.add ins(%t2, %t2 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t4 = linalg.add ins(%t3, %t3 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t5 = linalg.add ins(%t4, %t4 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t6 = linalg.add ins(%t5, %t5 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t7 = linalg.add ins(%t6, %t6 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t8 = linalg.add ins(%t7, %t7 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t9 = linalg.add ins(%t8, %t8 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t10 = linalg.add ins(%t9, %t9 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t11 = linalg.add ins(%t10, %t10 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t12 = linalg.add ins(%t11, %t11 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t13 = linalg.add ins(%t12, %t12 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t14 = linalg.add ins(%t13, %t13 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t15 = linalg.add ins(%t14, %t14 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t16 = linalg.add ins(%t15, %t15 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t17 = linalg.add ins(%t16, %t16 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t18 = linalg.add ins(%t17, %t17 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t19 = linalg.add ins(%t18, %t18 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t20 = linalg.add ins(%t19, %t19 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t21 = linalg.add ins(%t20, %t20 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %t22 = linalg.add ins(%t21, %t21 : tensor<2xf32>, tensor<2xf32>) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
    %y = tensor.extract %t22[%c0] : tensor<2xf32>
    linalg.yield %y : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}
