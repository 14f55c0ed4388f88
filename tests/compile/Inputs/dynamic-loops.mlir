func.func @double(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<?xf32> {
    %w = arith.addf %v, %v : tensor<?xf32>
    scf.yield %w : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @insert(%x: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<?xi32> {
    %k = arith.index_cast %i : index to i32
    %w = tensor.insert %k into %v[%i] : tensor<?xi32>
    scf.yield %w : tensor<?xi32>
  }
  return %r : tensor<?xi32>
}
func.func @grow(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<?xf32> {
    %w = tensor.concat dim(0) %v, %v : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %w : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @branch(%n: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %w = scf.if %n -> tensor<?xf32> {
    %a = arith.addf %x, %x : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    %a = math.sqrt %y : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  %d = tensor.dim %w, %c0 : tensor<?xf32>
  return %w, %d : tensor<?xf32>, index
}
func.func @shrink(%x: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r:2 = scf.while (%v = %x, %k = %c0) : (tensor<?xf32>, index) -> (tensor<?xf32>, index) {
    %d = tensor.dim %v, %c0 : tensor<?xf32>
    %go = arith.cmpi sgt, %d, %c2 : index
    scf.condition(%go) %v, %k : tensor<?xf32>, index
  } do {
  ^bb0(%v: tensor<?xf32>, %k: index):
    %d = tensor.dim %v, %c0 : tensor<?xf32>
    %h = arith.divui %d, %c2 : index
    %s = tensor.extract_slice %v[0] [%h] [1] : tensor<?xf32> to tensor<?xf32>
    %t = tensor.extract_slice %v[%h] [%h] [1] : tensor<?xf32> to tensor<?xf32>
    %w = arith.addf %s, %t : tensor<?xf32>
    %k1 = arith.addi %k, %c1 : index
    scf.yield %w, %k1 : tensor<?xf32>, index
  }
  return %r#0, %r#1 : tensor<?xf32>, index
}
func.func @reshapes(%x: tensor<?x4xf32>, %y: tensor<?x?xf32>, %lo: index) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
  %z = arith.constant 9.0 : f32
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %b = tensor.collapse_shape %y [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %p = tensor.pad %y low[%lo, 0] high[0, %lo] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  return %a, %b, %p : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
}
func.func @concat(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %w = tensor.concat dim(0) %x, %y : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %w : tensor<?x3xf32>
}
func.func @nest(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<?xf32> {
    %q = scf.for %j = %c0 to %c2 step %c1 iter_args(%u = %v) -> tensor<?xf32> {
      %even = arith.cmpi eq, %j, %c0 : index
      %w = scf.if %even -> tensor<?xf32> {
        %w = tensor.concat dim(0) %u, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        scf.yield %w : tensor<?xf32>
      } else {
        %w = arith.addf %u, %u : tensor<?xf32>
        scf.yield %w : tensor<?xf32>
      }
      scf.yield %w : tensor<?xf32>
    }
    scf.yield %q : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @second_of_two(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (tensor<?xf32>, tensor<?xf32>) {
    %s = arith.addf %a, %b : tensor<?xf32>
    %p = arith.mulf %a, %b : tensor<?xf32>
    scf.yield %s, %p : tensor<?xf32>, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}
