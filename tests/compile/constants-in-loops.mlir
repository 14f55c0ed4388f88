// Constants of a function that its loops and branches use, at any depth; one that is only used there, and one that is
// read on the host.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=nested --device=local-task --input=4xi32=1 --input=3 --input=1 \
// RUN:   --expected_output="4xi32=41 81 121 161"
// RUN: kiln-run-module --module=%t.vmfb --function=nested --device=local-sync --input=4xi32=1 --input=3 --input=0 \
// RUN:   --expected_output="4xi32=2 4 6 8"
// RUN: kiln-run-module --module=%t.vmfb --function=until --device=local-task --input=4xi32=0 --input=100 \
// RUN:   --expected_output="4xi32=26 52 78 104" --expected_output="4xi32=1 2 3 4"

func.func @nested(%a: tensor<4xi32>, %n: index, %more: i1) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %ten = arith.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<4xi32> {
    %1 = scf.if %more -> tensor<4xi32> {
      %2 = scf.for %j = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<4xi32> {
        %3 = arith.addi %y, %k : tensor<4xi32>
        scf.yield %3 : tensor<4xi32>
      }
      %4 = arith.addi %2, %ten : tensor<4xi32>
      scf.yield %4 : tensor<4xi32>
    } else {
      scf.yield %k : tensor<4xi32>
    }
    scf.yield %1 : tensor<4xi32>
  }
  %5 = arith.addi %0, %k : tensor<4xi32>
  return %5 : tensor<4xi32>
}

func.func @until(%a: tensor<4xi32>, %limit: i32) -> (tensor<4xi32>, tensor<4xi32>) {
  %c3 = arith.constant 3 : index
  %k = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = scf.while (%x = %a) : (tensor<4xi32>) -> tensor<4xi32> {
    %last = tensor.extract %x[%c3] : tensor<4xi32>
    %more = arith.cmpi slt, %last, %limit : i32
    scf.condition(%more) %x : tensor<4xi32>
  } do {
  ^bb0(%x: tensor<4xi32>):
    %1 = arith.addi %x, %k : tensor<4xi32>
    %2 = arith.addi %1, %k : tensor<4xi32>
    scf.yield %2 : tensor<4xi32>
  }
  return %0, %k : tensor<4xi32>, tensor<4xi32>
}
