// Functions of several blocks: branches, loops with two ways out, cases, and a loop that does not end unless it is asked to.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=branch --input=i8=0 --expected_output=2xf32=0
// RUN: kiln-run-module --module=%t.vmfb --function=branch --input=i8=3 --expected_output=2xf32=1
// RUN: kiln-run-module --module=%t.vmfb --function=loop --input="3xf32=1 2 3" --input=10 --expected_output="3xf32=11 12 13" \
// RUN:   --expected_output=i32=0
// RUN: kiln-run-module --module=%t.vmfb --function=loop --input="3xf32=1 2 3" --input=200 --expected_output="3xf32=101 102 103" \
// RUN:   --expected_output=i32=1
// RUN: kiln-run-module --module=%t.vmfb --function=loop --input="0xf32=" --input=1 --expected_output="0xf32=" \
// RUN:   --expected_output=i32=0
// RUN: kiln-run-module --module=%t.vmfb --function=cases --input=i32=3 --input="2xf32=1 2" --expected_output="2xf32=2 4"
// RUN: kiln-run-module --module=%t.vmfb --function=cases --input=i32=5 --input="2xf32=1 2" --expected_output="2xf32=1 4"
// RUN: kiln-run-module --module=%t.vmfb --function=cases --input=i32=-1 --input="2xf32=1 2" --expected_output="2xf32=1 2"
// RUN: kiln-run-module --module=%t.vmfb --function=nested --input=5 --input=2xi32=0 --expected_output=2xi32=10

func.func @branch(%which: i8) -> tensor<2xf32> {
  %zero = arith.constant 0 : i8
  %is_zero = arith.cmpi eq, %which, %zero : i8
  cf.cond_br %is_zero, ^bb1, ^bb2
^bb1:
  %0 = arith.constant dense<0.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
^bb2:
  %1 = arith.constant dense<1.0> : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// Counts up to n, and no further than 100; says which it was.
func.func @loop(%a: tensor<?xf32>, %n: index) -> (tensor<?xf32>, i32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %most = arith.constant 100 : index
  %all = arith.constant 0 : i32
  %cut = arith.constant 1 : i32
  %dim = tensor.dim %a, %zero : tensor<?xf32>
  %empty = tensor.empty(%dim) : tensor<?xf32>
  %1 = arith.constant 1.0 : f32
  %ones = linalg.fill ins(%1 : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  cf.br ^head(%zero, %a : index, tensor<?xf32>)
^head(%i: index, %x: tensor<?xf32>):
  %more = arith.cmpi ult, %i, %n : index
  cf.cond_br %more, ^check, ^end(%all : i32)
^check:
  %fits = arith.cmpi ult, %i, %most : index
  cf.cond_br %fits, ^body, ^end(%cut : i32)
^body:
  %next = arith.addi %i, %one : index
  %y = arith.addf %x, %ones : tensor<?xf32>
  cf.br ^head(%next, %y : index, tensor<?xf32>)
^end(%which: i32):
  return %x, %which : tensor<?xf32>, i32
}

func.func @cases(%which: i32, %a: tensor<2xf32>) -> tensor<2xf32> {
  cf.switch %which : i32, [
    default: ^end(%a : tensor<2xf32>),
    3: ^double,
    5: ^square
  ]
^double:
  %0 = arith.addf %a, %a : tensor<2xf32>
  cf.br ^end(%0 : tensor<2xf32>)
^square:
  %1 = arith.mulf %a, %a : tensor<2xf32>
  cf.br ^end(%1 : tensor<2xf32>)
^end(%r: tensor<2xf32>):
  return %r : tensor<2xf32>
}

// A loop in a loop, which adds 0 + 1 + .. + (n - 1).
func.func @nested(%n: index, %a: tensor<2xi32>) -> tensor<2xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ones = arith.constant dense<1> : tensor<2xi32>
  cf.br ^outer(%zero, %a : index, tensor<2xi32>)
^outer(%i: index, %x: tensor<2xi32>):
  %more = arith.cmpi ult, %i, %n : index
  cf.cond_br %more, ^inner(%zero, %x : index, tensor<2xi32>), ^end
^inner(%j: index, %y: tensor<2xi32>):
  %inside = arith.cmpi ult, %j, %i : index
  cf.cond_br %inside, ^body, ^latch
^body:
  %z = arith.addi %y, %ones : tensor<2xi32>
  %k = arith.addi %j, %one : index
  cf.br ^inner(%k, %z : index, tensor<2xi32>)
^latch:
  %next = arith.addi %i, %one : index
  cf.br ^outer(%next, %y : index, tensor<2xi32>)
^end:
  return %x : tensor<2xi32>
}
