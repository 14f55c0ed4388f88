// RUN: kiln-opt %s --kiln-replace-subgraphs --iree-preprocessing-transform-spec-filename=%S/Inputs/subgraph_spec.mlir -canonicalize | FileCheck %s
// RUN: sed 's/private @mine(%x: tensor<4xf32>,/private @mine(%x: tensor<4xf32>, %w: tensor<4xf32>,/' %S/Inputs/subgraph_spec.mlir > %t.count.mlir
// RUN: not kiln-opt %s --kiln-replace-subgraphs --iree-preprocessing-transform-spec-filename=%t.count.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: sed 's/mine(%x: tensor<4xf32>,/mine(%x: tensor<?xf32>,/; s/%r = func.call @sum(%x, %z).*/%r = tensor.cast %x : tensor<?xf32> to tensor<4xf32>/' %S/Inputs/subgraph_spec.mlir > %t.cast.mlir
// RUN: not kiln-opt %s --kiln-replace-subgraphs --iree-preprocessing-transform-spec-filename=%t.cast.mlir 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: sed 's/import_symbol @mine/import_symbol @other/' %S/Inputs/subgraph_spec.mlir > %t.other.mlir
// RUN: not kiln-opt %s --kiln-replace-subgraphs --iree-preprocessing-transform-spec-filename=%t.other.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/@sum(%y,/@mine(%y,/' %S/Inputs/subgraph_spec.mlir > %t.recursion.mlir
// RUN: not kiln-opt %s --kiln-replace-subgraphs --iree-preprocessing-transform-spec-filename=%t.recursion.mlir 2>&1 | FileCheck %s --check-prefix=RECURSION
// RUN: sed 's/__transform_main/nothing/' %S/Inputs/subgraph_spec.mlir > %t.entry.mlir
// RUN: not kiln-opt %s --kiln-replace-subgraphs --iree-preprocessing-transform-spec-filename=%t.entry.mlir 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: sed 's/@extents/@sum/' %s > %t.clash.mlir
// RUN: not kiln-opt %t.clash.mlir --kiln-replace-subgraphs --iree-preprocessing-transform-spec-filename=%S/Inputs/subgraph_spec.mlir 2>&1 | FileCheck %s --check-prefix=CLASH
// RUN: sed 's/@scale = dense<3.0> : tensor<4xf32>/@scale : tensor<4xf32>/; s/^module.*/&\n  util.initializer {\n    %c = arith.constant dense<5.0> : tensor<4xf32>\n    util.global.store %c, @scale : tensor<4xf32>\n    util.return\n  }/' %S/Inputs/subgraph_spec.mlir > %t.initializer.mlir
// RUN: kiln-opt %s --kiln-replace-subgraphs --iree-preprocessing-transform-spec-filename=%t.initializer.mlir | FileCheck %s --check-prefix=INITIALIZER
// RUN: kiln-opt %s --kiln-replace-subgraphs | FileCheck %s --check-prefix=NONE

// COUNT: '@mine' takes 3 values and gives 1, and is given 2 for 1
// CAST: cannot make a 'tensor<?xf32>', which '@mine' takes, of a 'tensor<4xf32>'
// OTHER: cannot import '@other': '@other' is referred to, and not in the spec
// CLASH: cannot import '@mine': '@sum' is something of the program's; give the spec's another name
// RECURSION: recursion not allowed
// ENTRY: holds no transform to start with; write one transform.sequence, or a transform.named_sequence @__transform_main
// A global's first value comes along, once.
// INITIALIZER: util.global.load {{.*}}@scale
// INITIALIZER: util.global private {{.*}}@scale
// INITIALIZER: util.initializer
// INITIALIZER: dense<5.000000e+00>
// INITIALIZER: util.global.store %{{.+}}, @scale
// INITIALIZER-NOT: util.initializer
// NONE-COUNT-5: linalg.exp

// The function is in the place of both operations, with what it refers to: the global is a constant by then.
// CHECK-LABEL: util.func public @replaced
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4xf32>)
// CHECK-NOT: linalg.exp
// CHECK: %[[SCALE:.+]] = arith.constant dense<3.000000e+00> : tensor<4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[Y]], %[[SCALE]] :
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.+}} :
// CHECK-NOT: linalg.generic
util.func public @replaced(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %exp = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.mul ins(%exp, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  util.return %r : tensor<4xf32>
}

// CHECK-LABEL: util.func public @again
// CHECK: arith.constant dense<3.000000e+00>
// CHECK-NOT: linalg.exp
util.func public @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %exp = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.mul ins(%exp, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  util.return %r : tensor<4xf32>
}

// Other extents, the operands the other way around, and another operation stay as they are.
// CHECK-LABEL: util.func public @extents
// CHECK: linalg.exp
util.func public @extents(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %exp = linalg.exp ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %r = linalg.mul ins(%exp, %y : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  util.return %r : tensor<5xf32>
}
// CHECK-LABEL: util.func public @order
// CHECK: linalg.exp
util.func public @order(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %exp = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.mul ins(%y, %exp : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  util.return %r : tensor<4xf32>
}
// CHECK-LABEL: util.func public @operation
// CHECK: linalg.exp
util.func public @operation(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %exp = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.add ins(%exp, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  util.return %r : tensor<4xf32>
}
// CHECK-NOT: func.func
// CHECK-NOT: util.func private
