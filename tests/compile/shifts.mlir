// A shift by more bits than there are leaves zeros, or the sign: where constants are folded, on the host and in kernels.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %S/Inputs/shifts.mlir -o %t.given.vmfb
// RUN: kiln-run-module --module=%t.given.vmfb --function=scalars --input=-7 --input=33 --expected_output=i32=0 --expected_output=i32=0 \
// RUN:   --expected_output=i32=-1 --expected_output=i64=0
// RUN: kiln-run-module --module=%t.given.vmfb --function=scalars --input=-7 --input=31 --expected_output=i32=-2147483648 \
// RUN:   --expected_output=i32=1 --expected_output=i32=-1 --expected_output=i64=4611686018427387904
// RUN: kiln-run-module --module=%t.given.vmfb --function=dynamic --input="6xi32=-7 -7 -7 -7 -7 -7" --input="6xi32=1 31 32 33 64 -1" \
// RUN:   --expected_output="6xi32=-14 -2147483648 0 0 0 0" --expected_output="6xi32=2147483644 1 0 0 0 0" \
// RUN:   --expected_output="6xi32=-4 -1 -1 -1 -1 -1"
// RUN: kiln-run-module --module=%t.given.vmfb --function=questions --input="4xf32=1 nan inf 1e-40" \
// RUN:   --expected_output="4xi1=0 0 1 0" --expected_output="4xi1=1 0 0 0"

func.func @folded() {
  %a = arith.constant dense<[1, -8, 5]> : tensor<3xi32>
  %n = arith.constant dense<[32, 40, 2]> : tensor<3xi32>
  %far = arith.constant dense<32> : tensor<3xi32>
  %0 = arith.shrsi %a, %n : tensor<3xi32>
  check.expect_eq_const(%0, dense<[0, -1, 1]> : tensor<3xi32>) : tensor<3xi32>
  %1 = arith.shli %a, %n : tensor<3xi32>
  check.expect_eq_const(%1, dense<[0, 0, 20]> : tensor<3xi32>) : tensor<3xi32>
  %2 = arith.shrui %a, %far : tensor<3xi32>
  check.expect_eq_const(%2, dense<0> : tensor<3xi32>) : tensor<3xi32>
  return
}

func.func @narrow() {
  %a = util.unfoldable_constant dense<[1, -8, 5, -1]> : tensor<4xi4>
  %n = util.unfoldable_constant dense<[4, 5, 2, -1]> : tensor<4xi4>
  %0 = arith.shrsi %a, %n : tensor<4xi4>
  check.expect_eq_const(%0, dense<[0, -1, 1, -1]> : tensor<4xi4>) : tensor<4xi4>
  %1 = arith.shli %a, %n : tensor<4xi4>
  check.expect_eq_const(%1, dense<[0, 0, 4, 0]> : tensor<4xi4>) : tensor<4xi4>
  %2 = arith.shrui %a, %n : tensor<4xi4>
  check.expect_eq_const(%2, dense<[0, 0, 1, 0]> : tensor<4xi4>) : tensor<4xi4>
  %b = util.unfoldable_constant dense<[true, true]> : tensor<2xi1>
  %m = util.unfoldable_constant dense<[true, false]> : tensor<2xi1>
  %3 = arith.shli %b, %m : tensor<2xi1>
  check.expect_eq_const(%3, dense<[false, true]> : tensor<2xi1>) : tensor<2xi1>
  return
}

// In the body of an operation, by an amount that the loop computes, and by one that is known.
func.func @bodies() {
  %e = tensor.empty() : tensor<80xi8>
  %far = arith.constant 9 : i8
  %a = arith.constant -3 : i8
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<80xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i8
    %x = arith.shli %a, %n : i8
    %y = arith.shrui %x, %far : i8
    %z = arith.ori %x, %y : i8
    linalg.yield %z : i8
  } -> tensor<80xi8>
  %1 = tensor.extract_slice %0[0] [10] [1] : tensor<80xi8> to tensor<10xi8>
  check.expect_eq_const(%1, dense<[-3, -6, -12, -24, -48, -96, 64, -128, 0, 0]> : tensor<10xi8>) : tensor<10xi8>
  %2 = tensor.extract_slice %0[8] [72] [1] : tensor<80xi8> to tensor<72xi8>
  check.expect_eq_const(%2, dense<0> : tensor<72xi8>) : tensor<72xi8>
  return
}
