// What is updated is copied only where something still needs what was there: never in a loop that appends, and not where
// a value was read before. Copies and their bytes are counted, and results are those of tensors.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --kiln-remarks %s -o %t.vmfb 2>&1 | FileCheck %s
// What a dispatch does with each binding is in the module.
// RUN: kiln-dump-module %t.vmfb | FileCheck %s --check-prefix=ACCESS
// ACCESS: append_dispatch_0_insert_slice_8_f32 (1 bindings: rw, 2 constants)
// ACCESS: read_first_dispatch_0_elementwise_4_f32 (2 bindings: r w, 0 constants)
// RUN: kiln-run-module --module=%t.vmfb --function=append --input=8xf32=0 --expected_output="8xf32=0 1 2 3 4 5 6 7"
// RUN: kiln-run-module --module=%t.vmfb --function=append_to_own --expected_output="8xf32=0 1 2 3 4 5 6 7"
// RUN: kiln-run-module --module=%t.vmfb --function=read_first --input="4xf32=1 -2 3 -4" --expected_output="f32=10" \
// RUN:   --expected_output="4xf32=1 7 3 4"
// RUN: kiln-run-module --module=%t.vmfb --function=read_later --input="4xf32=1 -2 3 -4" --expected_output="f32=10" \
// RUN:   --expected_output="4xf32=1 7 3 4"
// RUN: kiln-run-module --module=%t.vmfb --function=both --input="4xf32=1 -2 3 -4" --expected_output="4xf32=1 2 3 4" \
// RUN:   --expected_output="4xf32=1 7 3 4"
// RUN: kiln-run-module --module=%t.vmfb --function=swap --input="2xf32=1 2" --input="2xf32=3 4" \
// RUN:   --expected_output="2xf32=9 4" --expected_output="2xf32=9 2"
// RUN: kiln-run-module --module=%t.vmfb --function=while_append --input=8xf32=0 --input=5 --expected_output="8xf32=7 7 7 7 7 0 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=while_append --input=8xf32=3 --input=0 --expected_output="8xf32=3"
// RUN: kiln-run-module --module=%t.vmfb --function=while_own --input=4 --expected_output="8xf32=7 7 7 7 0 0 0 0" \
// RUN:   --expected_output="i32=16"
// RUN: kiln-run-module --module=%t.vmfb --function=while_kept --input=2 --expected_output="8xf32=7 7 0 0 0 0 0 0" \
// RUN:   --expected_output="8xf32=7 0 0 0 0 0 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=append_to_any --input=3xf32=5 --input=2 --expected_output="3xf32=0 1 5"
// RUN: kiln-run-module --module=%t.vmfb --function=append_to_any --input=3xf32=5 --input=0 --expected_output="3xf32=5 5 5"
// CHECK-NOT: remark: copy: {{append|both|read|swap}}
// CHECK: remark: copy: append copies 32 bytes in each call: a loop updates a tensor that others use, too
// CHECK-NOT: remark: copy: {{append|both|read|swap}}
// CHECK: remark: copy: append_to_any copies a tensor in each call: a loop updates a tensor that others use, too
// CHECK-NOT: remark: copy: {{append|both|read|swap}}
// CHECK: remark: copy: both copies 16 bytes in each call: a dispatch updates a tensor that is still needed
// CHECK-NOT: remark: copy: {{append|both|read|swap}}
// CHECK: remark: copy: read_later copies 16 bytes in each call: a dispatch updates a tensor that is still needed
// CHECK-NOT: remark: copy: {{append|both|read|swap}}
// CHECK: remark: copy: swap copies 8 bytes in each call: a loop updates a tensor that others use, too
// CHECK: remark: copy: swap copies 8 bytes in each call: a loop updates a tensor that others use, too
// CHECK-NOT: remark: copy: {{append|both|read|swap}}
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --kiln-remarks %s -o %t.vmfb 2>&1 | FileCheck %s --check-prefix=WHILE
// WHILE-NOT: remark: copy: while
// WHILE: remark: copy: while_kept copies 32 bytes in each turn: a dispatch updates a tensor that control flow may share with others
// WHILE-NOT: remark: copy: while
// WHILE: remark: copy: while_append copies 32 bytes in each call: a loop updates a tensor that others use, too
// WHILE-NOT: remark: copy: while
// WHILE: remark: copy: while_kept copies 32 bytes in each call: a result of the program is memory of its own
// WHILE: remark: copy: while_kept copies 32 bytes in each call: a result of the program is memory of its own
// WHILE-NOT: remark: copy: while

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

func.func private @put(%x: f32, %into: tensor<8xf32>, %at: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<1xf32>
  %one = linalg.fill ins(%x : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %r = tensor.insert_slice %one into %into[%at] [1] [1] : tensor<1xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// An argument is the caller's: it is copied once, not in each turn.
func.func @append(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %x) -> tensor<8xf32> {
    %j = arith.index_cast %i : index to i32
    %v = arith.sitofp %j : i32 to f32
    %n = func.call @put(%v, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @append_to_own() -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %z) -> tensor<8xf32> {
    %j = arith.index_cast %i : index to i32
    %v = arith.sitofp %j : i32 to f32
    %n = func.call @put(%v, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The size of a dynamic tensor is known before the loop where it stays the same.
func.func @append_to_any(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<?xf32> {
    %j = arith.index_cast %i : index to i32
    %v = arith.sitofp %j : i32 to f32
    %e = tensor.empty() : tensor<1xf32>
    %one = linalg.fill ins(%v : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
    %m = tensor.insert_slice %one into %t[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    scf.yield %m : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

func.func private @abs(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func private @sum(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

func.func private @put_seven(%into: tensor<4xf32>) -> tensor<4xf32> {
  %seven = arith.constant dense<7.0> : tensor<1xf32>
  %r = tensor.insert_slice %seven into %into[1] [1] [1] : tensor<1xf32> into tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @read_first(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %y = func.call @abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = func.call @sum(%y) : (tensor<4xf32>) -> tensor<f32>
  %r = func.call @put_seven(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %s, %r : tensor<f32>, tensor<4xf32>
}

func.func @read_later(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %y = func.call @abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = func.call @put_seven(%y) : (tensor<4xf32>) -> tensor<4xf32>
  %s = func.call @sum(%y) : (tensor<4xf32>) -> tensor<f32>
  return %s, %r : tensor<f32>, tensor<4xf32>
}

func.func @both(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = func.call @abs(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = func.call @put_seven(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %r : tensor<4xf32>, tensor<4xf32>
}

// Two tensors change places in each turn, and one is updated.
func.func @swap(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %nine = arith.constant dense<9.0> : tensor<1xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<2xf32>, tensor<2xf32>) {
    %n = tensor.insert_slice %nine into %a[0] [1] [1] : tensor<1xf32> into tensor<2xf32>
    scf.yield %b, %n : tensor<2xf32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}

// Each turn decides whether another one follows.
func.func @while_append(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 7.0 : f32
  %r:2 = scf.while (%i = %c0, %t = %x) : (index, tensor<8xf32>) -> (index, tensor<8xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %t : index, tensor<8xf32>
  } do {
  ^bb0(%i: index, %t: tensor<8xf32>):
    %u = func.call @put(%v, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %u : index, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// Updates in both halves of a turn, one of them of what the host reads.
func.func @while_own(%n: index) -> (tensor<8xf32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 7.0 : f32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %ec = tensor.empty() : tensor<i32>
  %zc = linalg.fill ins(%one : i32) outs(%ec : tensor<i32>) -> tensor<i32>
  %limit = arith.constant 16 : i32
  %r:3 = scf.while (%i = %c0, %t = %z, %c = %zc) : (index, tensor<8xf32>, tensor<i32>) -> (index, tensor<8xf32>, tensor<i32>) {
    %u = func.call @put(%v, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    %d = arith.addi %c, %c : tensor<i32>
    %k = tensor.extract %d[] : tensor<i32>
    %more = arith.cmpi slt, %k, %limit : i32
    scf.condition(%more) %i, %u, %d : index, tensor<8xf32>, tensor<i32>
  } do {
  ^bb0(%i: index, %t: tensor<8xf32>, %c: tensor<i32>):
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %t, %c : index, tensor<8xf32>, tensor<i32>
  }
  return %r#1, %r#2 : tensor<8xf32>, tensor<i32>
}

// What was there before a turn stays: it is copied.
func.func @while_kept(%n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 7.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:3 = scf.while (%i = %c0, %t = %z, %s = %z) : (index, tensor<8xf32>, tensor<8xf32>) -> (index, tensor<8xf32>, tensor<8xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %t, %s : index, tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%i: index, %t: tensor<8xf32>, %s: tensor<8xf32>):
    %u = func.call @put(%v, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %u, %t : index, tensor<8xf32>, tensor<8xf32>
  }
  return %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>
}
