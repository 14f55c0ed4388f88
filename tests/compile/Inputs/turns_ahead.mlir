// Loops in which the host may be ahead of the device.

// Two products in a turn: one stays in the turn, the other goes on. X, times 4 in each turn where %half holds 1/2 and n is 4.
func.func private @twice(%x: tensor<?x?xf32>, %half: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %0 = linalg.matmul ins(%x, %half : tensor<?x?xf32>, tensor<?x?xf32>) outs(%clear : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.matmul ins(%0, %half : tensor<?x?xf32>, tensor<?x?xf32>) outs(%clear : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

func.func @powers(%x: tensor<4x4xf32>, %half: tensor<4x4xf32>, %turns: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dx = tensor.cast %x : tensor<4x4xf32> to tensor<?x?xf32>
  %dh = tensor.cast %half : tensor<4x4xf32> to tensor<?x?xf32>
  %0 = scf.for %i = %c0 to %turns step %c1 iter_args(%t = %dx) -> tensor<?x?xf32> {
    %1 = func.call @twice(%t, %dh) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    scf.yield %1 : tensor<?x?xf32>
  }
  %r = tensor.cast %0 : tensor<?x?xf32> to tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// 147,456 bytes each.
func.func @large(%x: tensor<192x192xf32>, %y: tensor<192x192xf32>, %turns: index) -> tensor<192x192xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<192x192xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<192x192xf32>) -> tensor<192x192xf32>
  %0 = scf.for %i = %c0 to %turns step %c1 iter_args(%t = %x) -> tensor<192x192xf32> {
    %1 = linalg.matmul ins(%t, %y : tensor<192x192xf32>, tensor<192x192xf32>) outs(%clear : tensor<192x192xf32>) -> tensor<192x192xf32>
    %2 = linalg.matmul ins(%1, %y : tensor<192x192xf32>, tensor<192x192xf32>) outs(%clear : tensor<192x192xf32>) -> tensor<192x192xf32>
    scf.yield %2 : tensor<192x192xf32>
  }
  return %0 : tensor<192x192xf32>
}

// Loops and branches in a loop that ends when the host says so; what it gives is used behind it.
func.func @nested(%x: tensor<4xi32>, %turns: i32) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %0:2 = scf.while (%i = %zero, %t = %x) : (i32, tensor<4xi32>) -> (i32, tensor<4xi32>) {
    %more = arith.cmpi slt, %i, %turns : i32
    scf.condition(%more) %i, %t : i32, tensor<4xi32>
  } do {
  ^bb0(%i: i32, %t: tensor<4xi32>):
    %next = arith.addi %i, %one : i32
    %rest = arith.remui %i, %two : i32
    %odd = arith.cmpi eq, %rest, %one : i32
    %1 = scf.if %odd -> tensor<4xi32> {
      %splat = tensor.splat %i : tensor<4xi32>
      %sum = arith.addi %t, %splat : tensor<4xi32>
      scf.yield %sum : tensor<4xi32>
    } else {
      scf.yield %t : tensor<4xi32>
    }
    %2 = scf.for %j = %c0 to %c3 step %c1 iter_args(%u = %1) -> tensor<4xi32> {
      %number = arith.index_cast %j : index to i32
      %splat = tensor.splat %number : tensor<4xi32>
      %sum = arith.addi %u, %splat : tensor<4xi32>
      scf.yield %sum : tensor<4xi32>
    }
    scf.yield %next, %2 : i32, tensor<4xi32>
  }
  %3 = arith.muli %0#1, %x : tensor<4xi32>
  return %3 : tensor<4xi32>
}

// The turn that meets an element of -1 fails.
func.func @checked(%x: tensor<4xi32>, %turns: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %limit = arith.constant -1 : i32
  %0 = scf.for %i = %c0 to %turns step %c1 iter_args(%t = %x) -> tensor<4xi32> {
    %empty = tensor.empty() : tensor<4xi32>
    %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%t : tensor<4xi32>) outs(%empty : tensor<4xi32>) {
    ^bb0(%e: i32, %o: i32):
      %fine = arith.cmpi ne, %e, %limit : i32
      cf.assert %fine, "an element has come to its limit"
      %less = arith.subi %e, %one : i32
      linalg.yield %less : i32
    } -> tensor<4xi32>
    scf.yield %1 : tensor<4xi32>
  }
  return %0 : tensor<4xi32>
}

// Turns that end while the host still computes, so that memory is short until the very moment in which it is asked for.
func.func @late(%x: tensor<78400xf32>, %turns: index) -> (tensor<4xf32>, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 1499 : index
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %0:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%t = %x, %a = %zero) -> (tensor<78400xf32>, i32) {
    %s = tensor.extract_slice %t[0] [4] [1] : tensor<78400xf32> to tensor<4xf32>
    %e = tensor.empty() : tensor<78400xf32>
    %1 = tensor.insert_slice %s into %e[0] [4] [1] : tensor<4xf32> into tensor<78400xf32>
    %n = arith.remui %i, %most : index
    %b = scf.for %j = %c0 to %n step %c1 iter_args(%u = %a) -> i32 {
      %p = arith.muli %u, %three : i32
      %k = arith.index_cast %j : index to i32
      %q = arith.xori %p, %k : i32
      scf.yield %q : i32
    }
    scf.yield %1, %b : tensor<78400xf32>, i32
  }
  %r = tensor.extract_slice %0#0[0] [4] [1] : tensor<78400xf32> to tensor<4xf32>
  return %r, %0#1 : tensor<4xf32>, i32
}
