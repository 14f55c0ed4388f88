// A cache of keys or values is updated where it is: from turn to turn of a loop, and from call to call where the caller
// gives it away. Only what is new is stored.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --kiln-remarks %s -o %t.vmfb 2>&1 | FileCheck %s --allow-empty
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --compile-to=stream %s | FileCheck %s --check-prefix=STREAM
// RUN: kiln-run-module --module=%t.vmfb --function=generate --input=3x2x4xf32=1 --expected_output="3x2x4xf32=1" \
// RUN:   --expected_output="2x5x4xf32=1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0"
// RUN: kiln-run-module --module=%t.vmfb --function=step --input=2x4xf32=3 --input=2x2x4xf32=1 --input=1 \
// RUN:   --expected_output="2x4xf32=3" --expected_output="2x2x4xf32=1 1 1 1 3 3 3 3 1 1 1 1 3 3 3 3"
// RUN: kiln-run-module --module=%t.vmfb --function=pass --input="2xf32=1 2" --expected_output="2xf32=1 2"
// RUN: kiln-run-module --module=%t.vmfb --function=twice --input="2xf32=1 2" --expected_output="2xf32=1 2" \
// RUN:   --expected_output="2xf32=1 2"
// RUN: kiln-dump-module %t.vmfb | FileCheck %s --check-prefix=MODULE

// CHECK-NOT: remark: copy: {{generate|step|pass}}
// CHECK: remark: copy: generate copies 32 bytes in each turn: the result of 'tensor.extract_slice'
// CHECK-NOT: remark: copy: {{generate|step|pass}}
// CHECK: remark: copy: twice copies 8 bytes in each call: a result of the program is memory of its own
// CHECK-NOT: remark: copy: {{generate|step|pass}}

// STREAM-LABEL: util.func @generate
// STREAM-NOT: stream.cmd.copy
// STREAM-LABEL: util.func @step
// STREAM: %[[CACHE:.+]] = stream.tensor.import %arg1 {donated}
// STREAM-NOT: stream.cmd.copy
// STREAM: stream.tensor.export %[[CACHE]]
// STREAM-LABEL: util.func @pass
// STREAM-NOT: stream.cmd
// STREAM-LABEL: util.func @twice
// STREAM: stream.cmd.copy
// STREAM-NOT: stream.cmd.copy

// MODULE: @step(%input0: tensor<2x4xf32>, %input1: tensor<2x?x4xf32> {kiln.donated}, %input2: index)

#of_row = affine_map<(h, s, d) -> (h, d)>
#of_cache = affine_map<(h, s, d) -> (h, s, d)>
#of_score = affine_map<(h, s, d) -> (h, s)>
#score = affine_map<(h, s) -> (h, s)>
#head = affine_map<(h, s) -> (h)>
#result = affine_map<(h, d) -> (h, d)>
#total = affine_map<(h, d) -> (h)>

// The rows of the cache up to `at`, weighted by how much each is like the query.
func.func private @attend(%query: tensor<2x4xf32>, %cache: tensor<2x?x4xf32>, %at: index) -> tensor<2x4xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %extent = tensor.dim %cache, %c1 : tensor<2x?x4xf32>
  %e0 = tensor.empty(%extent) : tensor<2x?xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x?xf32>) -> tensor<2x?xf32>
  %scores = linalg.generic {indexing_maps = [#of_row, #of_cache, #of_score], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%query, %cache : tensor<2x4xf32>, tensor<2x?x4xf32>) outs(%z0 : tensor<2x?xf32>) {
  ^bb0(%q: f32, %k: f32, %s: f32):
    %p = arith.mulf %q, %k : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x?xf32>
  %weights = linalg.generic {indexing_maps = [#score, #score], iterator_types = ["parallel", "parallel"]}
      ins(%scores : tensor<2x?xf32>) outs(%e0 : tensor<2x?xf32>) {
  ^bb0(%s: f32, %o: f32):
    %place = linalg.index 1 : index
    %is_there = arith.cmpi ule, %place, %at : index
    %w = math.exp %s : f32
    %m = arith.select %is_there, %w, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x?xf32>
  %e1 = tensor.empty() : tensor<2xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#score, #head], iterator_types = ["parallel", "reduction"]}
      ins(%weights : tensor<2x?xf32>) outs(%z1 : tensor<2xf32>) {
  ^bb0(%w: f32, %s: f32):
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %e2 = tensor.empty() : tensor<2x4xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %mixed = linalg.generic {indexing_maps = [#of_score, #of_cache, #of_row], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%weights, %cache : tensor<2x?xf32>, tensor<2x?x4xf32>) outs(%z2 : tensor<2x4xf32>) {
  ^bb0(%w: f32, %v: f32, %s: f32):
    %p = arith.mulf %w, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4xf32>
  %r = linalg.generic {indexing_maps = [#result, #total, #result], iterator_types = ["parallel", "parallel"]}
      ins(%mixed, %sum : tensor<2x4xf32>, tensor<2xf32>) outs(%e2 : tensor<2x4xf32>) {
  ^bb0(%m: f32, %s: f32, %o: f32):
    %q = arith.divf %m, %s : f32
    linalg.yield %q : f32
  } -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

func.func private @put(%row: tensor<2x4xf32>, %cache: tensor<2x?x4xf32>, %at: index) -> tensor<2x?x4xf32> {
  %r = tensor.insert_slice %row into %cache[0, %at, 0] [2, 1, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<2x?x4xf32>
  return %r : tensor<2x?x4xf32>
}

func.func @generate(%rows: tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<2x5x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%c5) : tensor<2x?x4xf32>
  %empty = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %none = tensor.empty() : tensor<3x2x4xf32>
  %all, %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%results = %none, %cache = %empty) -> (tensor<3x2x4xf32>, tensor<2x?x4xf32>) {
    %row = tensor.extract_slice %rows[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<2x4xf32>
    %longer = func.call @put(%row, %cache, %i) : (tensor<2x4xf32>, tensor<2x?x4xf32>, index) -> tensor<2x?x4xf32>
    %r = func.call @attend(%row, %longer, %i) : (tensor<2x4xf32>, tensor<2x?x4xf32>, index) -> tensor<2x4xf32>
    %kept = tensor.insert_slice %r into %results[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf32> into tensor<3x2x4xf32>
    scf.yield %kept, %longer : tensor<3x2x4xf32>, tensor<2x?x4xf32>
  }
  %cast = tensor.cast %last : tensor<2x?x4xf32> to tensor<2x5x4xf32>
  return %all, %cast : tensor<3x2x4xf32>, tensor<2x5x4xf32>
}

func.func @step(%row: tensor<2x4xf32>, %cache: tensor<2x?x4xf32> {kiln.donated}, %at: index) -> (tensor<2x4xf32>, tensor<2x?x4xf32>) {
  %longer = func.call @put(%row, %cache, %at) : (tensor<2x4xf32>, tensor<2x?x4xf32>, index) -> tensor<2x?x4xf32>
  %r = func.call @attend(%row, %longer, %at) : (tensor<2x4xf32>, tensor<2x?x4xf32>, index) -> tensor<2x4xf32>
  return %r, %longer : tensor<2x4xf32>, tensor<2x?x4xf32>
}

func.func @pass(%x: tensor<2xf32> {kiln.donated}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// One memory for two results is one too few.
func.func @twice(%x: tensor<2xf32> {kiln.donated}) -> (tensor<2xf32>, tensor<2xf32>) {
  return %x, %x : tensor<2xf32>, tensor<2xf32>
}
