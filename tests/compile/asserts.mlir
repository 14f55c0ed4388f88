// Assertions in the bodies of operations: a kernel that one of them stops fails the call, with message and place.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic --iree-opt-level=O0 %s -o %t.generic.vmfb
// RUN: kiln-compile --iree-hal-target-backends=cuda %s -o %t.cuda.vmfb
// RUN: run() { for on in %t.vmfb,local-sync %t.vmfb,local-task %t.generic.vmfb,local-sync %t.generic.vmfb,local-task \
// RUN:     %t.cuda.vmfb,cuda-sim %t.cuda.vmfb,cuda-sim://5; do \
// RUN:   kiln-run-module --module=${on%%,*} --device=${on#*,} "$@" 2>&1; echo "exit code $?"; done; }; \
// RUN: { run --function=gather --input="4xf32=1 2 3 4" --input="37xi64=1"; \
// RUN:   run --function=gather --input="4xf32=1 2 3 4" --input="37xi64=$(yes 1 | head -36 | tr '\n' ' ')4"; \
// RUN:   run --function=two_checks --input="5xi32=1 2 3 4 5"; run --function=two_checks --input="5xi32=1 2 3 4 200"; \
// RUN:   run --function=two_checks --input="5xi32=1 2 -3 4 5"; run --function=in_sum --input="3x5xi32=1"; \
// RUN:   run --function=in_sum --input="3x5xi32=-1"; run --function=in_branch --input=4xf32=1; \
// RUN:   run --function=in_branch --input="4xf32=1 1 1 -1"; run --function=generated --input=3; run --function=generated --input=9; \
// RUN:   run --function=on_the_host --input=0; run --function=unused --input=4xi32=-1; \
// RUN:   run --function=in_vectors --input=5000xf32=1; run --function=in_vectors --input="5000xf32=$(yes 1 | head -4998 | tr '\n' ' ')-1 1"; \
// RUN:   run --function=in_rows --input=7x300xf32=1; run --function=in_rows --input=7x300xf32=-1; \
// RUN:   run --function=in_product --input=37x19xf32=1 --input=19x41xf32=2; run --function=in_product --input=37x19xf32=0 --input=19x41xf32=2; \
// RUN:   run --function=after_product --input=37x16xf16=1 --input=16x40xf16=2; run --function=after_product --input=37x16xf16=2 --input=16x40xf16=2; } | FileCheck %s

// CHECK-COUNT-6: 37xf32=2 2 2
// CHECK: asserts.mlir:[[#@LINE+35]]:5: index must be smaller than dim size (in dispatch 'gather_dispatch_0_{{.*}}', workgroup (0, 0, 0))
// CHECK: exit code 1
// CHECK: index must be smaller than dim size
// CHECK: index must be smaller than dim size
// CHECK: index must be smaller than dim size
// A GPU names the dispatch alone.
// CHECK-COUNT-2: index must be smaller than dim size (in dispatch 'gather_dispatch_0_{{.*}}'){{$}}
// CHECK-COUNT-6: 5xi32=2 4 6 8 10
// CHECK-COUNT-6: too large
// CHECK-COUNT-6: negative
// CHECK-COUNT-6: 3xi32=5 5 5
// CHECK-COUNT-6: negative term
// CHECK-COUNT-6: 4xf32=1 1 1 1
// CHECK-COUNT-6: negative root
// CHECK-COUNT-6: 3xi64=0 1 2
// CHECK-COUNT-6: too many
// CHECK-COUNT-6: asserts.mlir:{{[0-9]+}}:3: zero
// What nothing uses is not computed.
// CHECK-COUNT-6: 4xi32=-1 -1 -1 -1
// CHECK-COUNT-6: 5000xf32=1 1 1
// CHECK-COUNT-6: negative element
// CHECK-COUNT-6: 7x300xf32=[0.00333333
// CHECK-COUNT-6: negative weight
// CHECK-COUNT-6: 37x41xf32=[38 38
// CHECK-COUNT-6: no factor
// CHECK-COUNT-6: 37x40xf32=[32 32
// CHECK-COUNT-6: large product

#id = affine_map<(i) -> (i)>
func.func @gather(%table: tensor<4xf32>, %at: tensor<37xi64>) -> tensor<37xf32> {
  %four = arith.constant 4 : i64
  %e = tensor.empty() : tensor<37xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : tensor<37xi64>) outs(%e : tensor<37xf32>) {
  ^bb0(%i: i64, %out: f32):
    %inside = arith.cmpi slt, %i, %four : i64
    cf.assert %inside, "index must be smaller than dim size"
    %index = arith.index_cast %i : i64 to index
    %x = tensor.extract %table[%index] : tensor<4xf32>
    linalg.yield %x : f32
  } -> tensor<37xf32>
  return %r : tensor<37xf32>
}
func.func @two_checks(%x: tensor<5xi32>) -> tensor<5xi32> {
  %zero = arith.constant 0 : i32
  %most = arith.constant 100 : i32
  %e = tensor.empty() : tensor<5xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%a: i32, %out: i32):
    %fine = arith.cmpi sge, %a, %zero : i32
    cf.assert %fine, "negative"
    linalg.yield %a : i32
  } -> tensor<5xi32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<5xi32>) outs(%e : tensor<5xi32>) {
  ^bb0(%a: i32, %out: i32):
    %fine = arith.cmpi sle, %a, %most : i32
    cf.assert %fine, "too large"
    %twice = arith.addi %a, %a : i32
    linalg.yield %twice : i32
  } -> tensor<5xi32>
  return %z : tensor<5xi32>
}
func.func @in_sum(%x: tensor<3x5xi32>) -> tensor<3xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xi32>) outs(%z : tensor<3xi32>) {
  ^bb0(%a: i32, %sum: i32):
    %fine = arith.cmpi sge, %a, %zero : i32
    cf.assert %fine, "negative term"
    %s = arith.addi %a, %sum : i32
    linalg.yield %s : i32
  } -> tensor<3xi32>
  return %r : tensor<3xi32>
}
func.func @in_branch(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %plain = arith.cmpf oeq, %a, %one : f32
    %y = scf.if %plain -> f32 {
      scf.yield %a : f32
    } else {
      %fine = arith.cmpf oge, %a, %zero : f32
      cf.assert %fine, "negative root"
      %s = math.sqrt %a : f32
      scf.yield %s : f32
    }
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @generated(%n: index) -> tensor<?xindex> {
  %most = arith.constant 8 : index
  %r = tensor.generate %n {
  ^bb0(%i: index):
    %fine = arith.cmpi ult, %i, %most : index
    cf.assert %fine, "too many"
    tensor.yield %i : index
  } : tensor<?xindex>
  return %r : tensor<?xindex>
}
func.func @on_the_host(%n: index) -> index {
  %zero = arith.constant 0 : index
  %fine = arith.cmpi ne, %n, %zero : index
  cf.assert %fine, "zero"
  return %n : index
}
func.func @unused(%x: tensor<4xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%a: i32, %out: i32):
    %fine = arith.cmpi sge, %a, %zero : i32
    cf.assert %fine, "negative"
    linalg.yield %a : i32
  } -> tensor<4xi32>
  return %x : tensor<4xi32>
}
// What kernels for GPUs treat in other ways: vectors, rows in registers, products with tiles that inputs do not fill.
func.func @in_vectors(%x: tensor<5000xf32>) -> tensor<5000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5000xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<5000xf32>) outs(%e : tensor<5000xf32>) {
  ^bb0(%a: f32, %out: f32):
    %fine = arith.cmpf oge, %a, %zero : f32
    cf.assert %fine, "negative element"
    %s = math.sqrt %a : f32
    linalg.yield %s : f32
  } -> tensor<5000xf32>
  return %r : tensor<5000xf32>
}
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @in_rows(%x: tensor<7x300xf32>) -> tensor<7x300xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %sums = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<7x300xf32>) outs(%z : tensor<7xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %fine = arith.cmpf oge, %a, %zero : f32
    cf.assert %fine, "negative weight"
    %s = arith.addf %a, %sum : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  %e2 = tensor.empty() : tensor<7x300xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %sums : tensor<7x300xf32>, tensor<7xf32>) outs(%e2 : tensor<7x300xf32>) {
  ^bb0(%a: f32, %sum: f32, %out: f32):
    %share = arith.divf %a, %sum : f32
    linalg.yield %share : f32
  } -> tensor<7x300xf32>
  return %r : tensor<7x300xf32>
}
func.func @in_product(%x: tensor<37x19xf32>, %y: tensor<19x41xf32>) -> tensor<37x41xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x41xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<37x41xf32>) -> tensor<37x41xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<37x19xf32>, tensor<19x41xf32>) outs(%z : tensor<37x41xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %fine = arith.cmpf une, %a, %zero : f32
    cf.assert %fine, "no factor"
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %sum : f32
    linalg.yield %s : f32
  } -> tensor<37x41xf32>
  return %r : tensor<37x41xf32>
}
func.func @after_product(%x: tensor<37x16xf16>, %y: tensor<16x40xf16>) -> tensor<37x40xf32> {
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 50.0 : f32
  %e = tensor.empty() : tensor<37x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<37x40xf32>) -> tensor<37x40xf32>
  %p = linalg.matmul ins(%x, %y : tensor<37x16xf16>, tensor<16x40xf16>) outs(%z : tensor<37x40xf32>) -> tensor<37x40xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<37x40xf32>) outs(%e : tensor<37x40xf32>) {
  ^bb0(%a: f32, %out: f32):
    %fine = arith.cmpf ole, %a, %most : f32
    cf.assert %fine, "large product"
    linalg.yield %a : f32
  } -> tensor<37x40xf32>
  return %r : tensor<37x40xf32>
}
