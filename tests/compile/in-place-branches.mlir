// What is updated in some branches, in loops of loops, or under names that change places is not copied either, unless
// something needs what was there. All copies are told, and how much memory a call takes is counted.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --kiln-remarks %s -o %t.vmfb 2> %t.remarks
// RUN: grep "remark: copy:" %t.remarks | sed "s/.*remark: copy: //" | sort > %t.copies
// RUN: FileCheck %s --implicit-check-not=copies < %t.copies
// CHECK: append_to_any copies a tensor in each call: a loop updates a tensor that others use, too
// CHECK: append_to_argument copies 32 bytes in each call: a loop updates a tensor that others use, too
// CHECK: constant_or_append copies 32 bytes in each turn: control flow passes a constant on
// CHECK: kept copies 32 bytes in each call: a result of the program is memory of its own, which nothing else shares
// CHECK: kept copies 32 bytes in each turn: a dispatch updates a tensor that control flow may share with others
// CHECK: kept_outside copies 32 bytes in each call: a result of the program is memory of its own, which nothing else shares
// CHECK: kept_outside copies 32 bytes in each turn: a loop updates a tensor that others use, too
// CHECK: shared copies 32 bytes in each call: a dispatch updates a tensor that control flow may share with others
// CHECK: shared copies 32 bytes in each call: a result of the program is memory of its own, which nothing else shares
// RUN: kiln-run-module --module=%t.vmfb --function=append --input=6 --expected_output="8xf32=0 7 0 7 0 7 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=append --input=6 --print_statistics 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: HOST_LOCAL: {{.*}} 32B allocated
// BYTES: TRANSIENT: {{.*}} 0B allocated
// RUN: kiln-run-module --module=%t.vmfb --function=append_to_argument --input=8xf32=3 --input=6 --expected_output="8xf32=3 7 3 7 3 7 3 3"
// RUN: kiln-run-module --module=%t.vmfb --function=append_to_any --input=5xf32=9 --input=4 --expected_output="5xf32=9 7 9 7 9"
// RUN: kiln-run-module --module=%t.vmfb --function=accumulate --input=2x2xf32=1 --input=6 --expected_output="2x2xf32=6"
// RUN: kiln-run-module --module=%t.vmfb --function=either --input=6 --expected_output="8xf32=9 7 9 7 9 7 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=read_after --input=6 --expected_output="8xf32=0 7 0 7 0 7 0 0" \
// RUN:   --expected_output="f32=63"
// RUN: kiln-run-module --module=%t.vmfb --function=nested --input=2 --input=3 --expected_output="8xf32=7 7 0 7 7 0 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=which --input=6 --expected_output="8xf32=7 9 0 0 7 9 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=while_append --input=6 --expected_output="8xf32=0 7 0 7 0 7 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=some_swap --input=6 --expected_output="8xf32=0 7 7 0 0 7 0 0" \
// RUN:   --expected_output="8xf32=7 0 0 7 7 0 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=constant_or_append --input=6 --expected_output="8xf32=1 2 3 7 5 7 7 8"
// RUN: kiln-run-module --module=%t.vmfb --function=kept --input=6 --expected_output="8xf32=0 7 0 7 0 7 0 0" \
// RUN:   --expected_output="f32=42"
// RUN: kiln-run-module --module=%t.vmfb --function=kept_outside --input=2 --input=3 --expected_output="8xf32=7 7 7 0 0 0 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=shared --input=0 --input=8xf32=3 --expected_output="8xf32=7 3 3 3 3 3 3 3" \
// RUN:   --expected_output="8xf32=3"
// RUN: kiln-run-module --module=%t.vmfb --function=shared --input=1 --input=8xf32=3 --expected_output="8xf32=7 0 0 0 0 0 0 0" \
// RUN:   --expected_output="8xf32=3"
// RUN: kiln-run-module --module=%t.vmfb --function=chosen --input=1 --expected_output="8xf32=7 0 0 0 0 0 0 0"

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

func.func private @zeros() -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

func.func private @put(%x: f32, %into: tensor<8xf32>, %at: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<1xf32>
  %one = linalg.fill ins(%x : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %r = tensor.insert_slice %one into %into[%at] [1] [1] : tensor<1xf32> into tensor<8xf32>
  return %r : tensor<8xf32>
}

// What `before` was, and the sum of the tensor.
func.func private @add(%before: tensor<f32>, %x: tensor<8xf32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%before : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

func.func private @is_odd(%i: index) -> i1 {
  %c1 = arith.constant 1 : index
  %low = arith.andi %i, %c1 : index
  %odd = arith.cmpi eq, %low, %c1 : index
  return %odd : i1
}

// Odd turns append; the tensor passes even ones unchanged.
func.func @append(%n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> tensor<8xf32> {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<8xf32> {
      %p = func.call @put(%seven, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The caller's tensor is copied once.
func.func @append_to_argument(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<8xf32> {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<8xf32> {
      %p = func.call @put(%seven, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// The size of a dynamic tensor stays the same in branches, too.
func.func @append_to_any(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant dense<7.0> : tensor<1xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<?xf32> {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<?xf32> {
      %p = tensor.insert_slice %seven into %t[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
      scf.yield %p : tensor<?xf32>
    } else {
      scf.yield %t : tensor<?xf32>
    }
    scf.yield %m : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// A product adds to what the loop has.
func.func @accumulate(%x: tensor<2x2xf32>, %n: index) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> tensor<2x2xf32> {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<2x2xf32> {
      %p = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%t : tensor<2x2xf32>) -> tensor<2x2xf32>
      scf.yield %p : tensor<2x2xf32>
    } else {
      scf.yield %t : tensor<2x2xf32>
    }
    scf.yield %m : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}

// Both branches append.
func.func @either(%n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %nine = arith.constant 9.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> tensor<8xf32> {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<8xf32> {
      %p = func.call @put(%seven, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    } else {
      %p = func.call @put(%nine, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    }
    scf.yield %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// What the branches leave is read before the next turn updates it.
func.func @read_after(%n: index) -> (tensor<8xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %zero = arith.constant 0.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %e = tensor.empty() : tensor<f32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z, %s = %none) -> (tensor<8xf32>, tensor<f32>) {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<8xf32> {
      %p = func.call @put(%seven, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    %sum = func.call @add(%s, %m) : (tensor<f32>, tensor<8xf32>) -> tensor<f32>
    scf.yield %m, %sum : tensor<8xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<f32>
}

// A loop in a loop goes on with what that one has.
func.func @nested(%n: index, %m: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %seven = arith.constant 7.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %z) -> tensor<8xf32> {
    %start = arith.muli %i, %m : index
    %q = scf.for %j = %c0 to %m step %c1 iter_args(%inner = %outer) -> tensor<8xf32> {
      %more = arith.cmpi ult, %j, %c2 : index
      %p = scf.if %more -> tensor<8xf32> {
        %at = arith.addi %start, %j : index
        %o = func.call @put(%seven, %inner, %at) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
        scf.yield %o : tensor<8xf32>
      } else {
        scf.yield %inner : tensor<8xf32>
      }
      scf.yield %p : tensor<8xf32>
    }
    scf.yield %q : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// Of four branches two append.
func.func @which(%n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %seven = arith.constant 7.0 : f32
  %nine = arith.constant 9.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> tensor<8xf32> {
    %low = arith.andi %i, %c3 : index
    %m = scf.index_switch %low -> tensor<8xf32>
    case 0 {
      %p = func.call @put(%seven, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    }
    case 1 {
      %p = func.call @put(%nine, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    }
    default {
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %m : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func @while_append(%n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %r:2 = scf.while (%i = %c0, %t = %z) : (index, tensor<8xf32>) -> (index, tensor<8xf32>) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %t : index, tensor<8xf32>
  } do {
  ^bb0(%i: index, %t: tensor<8xf32>):
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<8xf32> {
      %p = func.call @put(%seven, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    %j = arith.addi %i, %c1 : index
    scf.yield %j, %m : index, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// Two tensors change places in odd turns; in each turn the first is updated.
func.func @some_swap(%n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %x = func.call @zeros() : () -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %f = util.optimization_barrier %zero : f32
  %y = linalg.fill ins(%f : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %s:2 = scf.if %odd -> (tensor<8xf32>, tensor<8xf32>) {
      scf.yield %b, %a : tensor<8xf32>, tensor<8xf32>
    } else {
      scf.yield %a, %b : tensor<8xf32>, tensor<8xf32>
    }
    %p = func.call @put(%seven, %s#0, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    scf.yield %p, %s#1 : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Even turns start again from a constant, which is copied once and updated in place.
func.func @constant_or_append(%n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %numbers = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %three = arith.constant 3 : index
  %z = func.call @zeros() : () -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> tensor<8xf32> {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<8xf32> {
      %p = func.call @put(%seven, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    } else {
      scf.yield %numbers : tensor<8xf32>
    }
    %p = func.call @put(%seven, %m, %three) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    scf.yield %p : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// What was there before the branch is needed after it.
func.func @kept(%n: index) -> (tensor<8xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %zero = arith.constant 0.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %e = tensor.empty() : tensor<f32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z, %s = %none) -> (tensor<8xf32>, tensor<f32>) {
    %odd = func.call @is_odd(%i) : (index) -> i1
    %m = scf.if %odd -> tensor<8xf32> {
      %p = func.call @put(%seven, %t, %i) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %p : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    %sum = func.call @add(%s, %t) : (tensor<f32>, tensor<8xf32>) -> tensor<f32>
    scf.yield %m, %sum : tensor<8xf32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<f32>
}

// Each turn starts again from the same tensor.
func.func @kept_outside(%n: index, %m: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %w = func.call @zeros() : () -> tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %w) -> tensor<8xf32> {
    %q = scf.for %j = %c0 to %m step %c1 iter_args(%t = %z) -> tensor<8xf32> {
      %o = func.call @put(%seven, %t, %j) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
      scf.yield %o : tensor<8xf32>
    }
    scf.yield %q : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// One of both branches gives the caller's tensor, which stays as it is.
func.func @shared(%own: i1, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7.0 : f32
  %m = scf.if %own -> tensor<8xf32> {
    %z = func.call @zeros() : () -> tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  %p = func.call @put(%seven, %m, %c0) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
  return %p, %x : tensor<8xf32>, tensor<8xf32>
}

// What a branch has made leaves the program as it is.
func.func @chosen(%first: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7.0 : f32
  %z = func.call @zeros() : () -> tensor<8xf32>
  %m = scf.if %first -> tensor<8xf32> {
    %p = func.call @put(%seven, %z, %c0) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    scf.yield %p : tensor<8xf32>
  } else {
    %p = func.call @put(%seven, %z, %c1) : (f32, tensor<8xf32>, index) -> tensor<8xf32>
    scf.yield %p : tensor<8xf32>
  }
  return %m : tensor<8xf32>
}
