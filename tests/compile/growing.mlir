// Tensors that another extent has in each turn of a loop, where the first one's is known; and extents that are claimed and not so.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 || true; }; { call grow_from_none --input=1x2xf32=1 --input=3; \
// RUN:   call grow_from_one --input=1x2xf32=1 --input=1x2xf32=2 --input=2; call grow_used_twice --input=1x2xf32=1 --input=3; \
// RUN:   call shrink --input=16xf32=1 --input=2; call shrink --input=16xf32=1 --input=0; } | FileCheck %s --check-prefix=LOOPS
// LOOPS: 3x2xf32=[1 1][1 1][1 1]
// LOOPS: 3x2xf32=[1 1][2 2][2 2]
// LOOPS: 3x2xf32=[1 1][1 1][1 1]
// LOOPS: result[1]: i64=3
// LOOPS: {{^}}4xf32=1 1 1 1
// LOOPS: 16xf32=1 1
// RUN: call() { kiln-run-module --module=%t.vmfb --function="$@" 2>&1 || true; }; { \
// RUN:   call slice --input=20xf32=1 --input=12; call slice --input=20xf32=1 --input=16; \
// RUN:   call filled --input=3; call filled --input=16; call pad --input=20xf32=1 --input=3; call pad --input=20xf32=1 --input=4; \
// RUN:   call inserted --input=8xf32=1 --input=8xf32=2 --input=4; call inserted --input=8xf32=1 --input=8xf32=2 --input=8; \
// RUN:   call added --input=12xf32=1 --input=7 --input=8xf32=2; call added --input=12xf32=1 --input=8 --input=8xf32=2; \
// RUN:   call put --input=12xf32=1 --input=2 --input=8xf32=2; call put --input=12xf32=1 --input=3 --input=8xf32=2; \
// RUN:   call of_tosa --input=20xf32=-1 --input=12; call of_tosa --input=20xf32=-1 --input=16; \
// RUN:   } | FileCheck %s --check-prefix=CLAIMS
// CLAIMS: 'tensor.cast': dimension 0 must be 16
// CLAIMS: 16xf32=1 1
// CLAIMS: 'tensor.cast': dimension 0 must be 16
// CLAIMS: 16xf32=2 2
// CLAIMS: 'tensor.cast': dimension 0 must be 24
// CLAIMS: 24xf32=1 1
// CLAIMS: 'tensor.cast': dimension 0 must be 8
// CLAIMS: 8xf32=2 2
// CLAIMS: dimension 0 of operand 0 and dimension 0 of operand 1 must be equal
// CLAIMS: 8xf32=3 3
// CLAIMS: 'tensor.insert_slice': dimension 0 of what is inserted must be as large as the slice
// CLAIMS: 12xf32=2 2 2 1
// CLAIMS: 'tensor.cast': dimension 0 must be 16
// CLAIMS: 16xf32=1 1

func.func @grow_from_none(%row: tensor<1x2xf32>, %turns: index) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = tensor.empty() : tensor<0x2xf32>
  %first = tensor.cast %none : tensor<0x2xf32> to tensor<?x2xf32>
  %all = scf.for %i = %c0 to %turns step %c1 iter_args(%rows = %first) -> tensor<?x2xf32> {
    %more = tensor.concat dim(0) %rows, %row : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
    scf.yield %more : tensor<?x2xf32>
  }
  return %all : tensor<?x2xf32>
}

func.func @grow_from_one(%one: tensor<1x2xf32>, %row: tensor<1x2xf32>, %turns: index) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tensor.cast %one : tensor<1x2xf32> to tensor<?x2xf32>
  %all = scf.for %i = %c0 to %turns step %c1 iter_args(%rows = %first) -> tensor<?x2xf32> {
    %more = tensor.concat dim(0) %rows, %row : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
    scf.yield %more : tensor<?x2xf32>
  }
  return %all : tensor<?x2xf32>
}

func.func @grow_used_twice(%row: tensor<1x2xf32>, %turns: index) -> (tensor<?x2xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tensor.empty(%c0) : tensor<?x2xf32>
  %all = scf.for %i = %c0 to %turns step %c1 iter_args(%rows = %first) -> tensor<?x2xf32> {
    %more = tensor.concat dim(0) %rows, %row : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
    scf.yield %more : tensor<?x2xf32>
  }
  %count = tensor.dim %all, %c0 : tensor<?x2xf32>
  return %all, %count : tensor<?x2xf32>, index
}

func.func @shrink(%x: tensor<16xf32>, %turns: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %first = tensor.cast %x : tensor<16xf32> to tensor<?xf32>
  %last = scf.for %i = %c0 to %turns step %c1 iter_args(%now = %first) -> tensor<?xf32> {
    %count = tensor.dim %now, %c0 : tensor<?xf32>
    %half = arith.divui %count, %c2 : index
    %rest = tensor.extract_slice %now[0] [%half] [2] : tensor<?xf32> to tensor<?xf32>
    scf.yield %rest : tensor<?xf32>
  }
  return %last : tensor<?xf32>
}

func.func @slice(%x: tensor<20xf32>, %count: index) -> tensor<16xf32> {
  %some = tensor.extract_slice %x[0] [%count] [1] : tensor<20xf32> to tensor<?xf32>
  %sixteen = tensor.cast %some : tensor<?xf32> to tensor<16xf32>
  return %sixteen : tensor<16xf32>
}

func.func @filled(%count: index) -> tensor<16xf32> {
  %two = arith.constant 2.0 : f32
  %some = tensor.empty(%count) : tensor<?xf32>
  %twos = linalg.fill ins(%two : f32) outs(%some : tensor<?xf32>) -> tensor<?xf32>
  %sixteen = tensor.cast %twos : tensor<?xf32> to tensor<16xf32>
  return %sixteen : tensor<16xf32>
}

func.func @pad(%x: tensor<20xf32>, %more: index) -> tensor<24xf32> {
  %two = arith.constant 2.0 : f32
  %some = tensor.pad %x low[0] high[%more] {
  ^bb0(%i: index):
    tensor.yield %two : f32
  } : tensor<20xf32> to tensor<?xf32>
  %all = tensor.cast %some : tensor<?xf32> to tensor<24xf32>
  return %all : tensor<24xf32>
}

func.func @inserted(%x: tensor<?xf32>, %y: tensor<8xf32>, %count: index) -> tensor<?xf32> {
  %some = tensor.extract_slice %y[0] [%count] [1] : tensor<8xf32> to tensor<?xf32>
  %eight = tensor.cast %some : tensor<?xf32> to tensor<8xf32>
  %all = tensor.insert_slice %eight into %x[0] [8] [1] : tensor<8xf32> into tensor<?xf32>
  return %all : tensor<?xf32>
}

func.func @added(%x: tensor<12xf32>, %count: index, %y: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %some = tensor.extract_slice %x[0] [%count] [1] : tensor<12xf32> to tensor<?xf32>
  %sums = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%some, %y : tensor<?xf32>, tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  return %sums : tensor<8xf32>
}

func.func @put(%x: tensor<12xf32>, %count: index, %y: tensor<8xf32>) -> tensor<12xf32> {
  %some = tensor.extract_slice %y[0] [%count] [1] : tensor<8xf32> to tensor<?xf32>
  %three = arith.constant 3 : index
  %all = tensor.insert_slice %some into %x[0] [%three] [1] : tensor<?xf32> into tensor<12xf32>
  return %all : tensor<12xf32>
}

func.func @of_tosa(%x: tensor<20xf32>, %count: index) -> tensor<16xf32> {
  %some = tensor.extract_slice %x[0] [%count] [1] : tensor<20xf32> to tensor<?xf32>
  %sixteen = tensor.cast %some : tensor<?xf32> to tensor<16xf32>
  %abs = tosa.abs %sixteen : (tensor<16xf32>) -> tensor<16xf32>
  return %abs : tensor<16xf32>
}
