// RUN: kiln-opt --kiln-flow-hoist-constants %s | FileCheck %s
// RUN: kiln-opt --kiln-flow-hoist-constants --kiln-opt-const-eval=false %s | FileCheck %s --check-prefix=OFF
// OFF-NOT: util.initializer

flow.executable private @double {
  builtin.module {
    func.func @double(%x: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
      return %x : tensor<1024x512xf32>
    }
  }
}
flow.executable private @grow {
  builtin.module {
    func.func @grow(%x: tensor<1024xf32>) -> tensor<1024x512xf32> {
      %empty = tensor.empty() : tensor<1024x512xf32>
      return %empty : tensor<1024x512xf32>
    }
  }
}
flow.executable private @fail {
  builtin.module {
    func.func @fail(%x: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
      %flag = arith.constant false
      cf.assert %flag, "no"
      return %x : tensor<1024x512xf32>
    }
  }
}
flow.executable private @use {
  builtin.module {
    func.func @use(%x: tensor<1024x512xf32>, %y: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
      return %x : tensor<1024x512xf32>
    }
  }
}

flow.executable private @add {
  builtin.module {
    func.func @add(%x: tensor<512x1024xf32>, %y: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
      return %x : tensor<512x1024xf32>
    }
  }
}

// CHECK-LABEL: util.func public @f
util.func public @f(%x: tensor<1024x512xf32>) -> (tensor<1024x512xf32>, tensor<1024x512xf32>, tensor<1024x512xf32>, tensor<1024x512xf32>) {
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<1024x512xf32>
  // CHECK: %[[W:.*]] = util.global.load @[[A:.*]] : tensor<1024x512xf32>
  %0 = flow.dispatch @double::@double(%w) tied [-1] : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
  // CHECK: flow.dispatch @use::@use(%{{.*}}, %[[W]])
  %1 = flow.dispatch @use::@use(%x, %0) tied [-1] : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  // What would take much more memory than what it is made of stays.
  %v = flow.tensor.parameter #flow.parameter.named<"v"> : tensor<1024xf32>
  // CHECK: flow.dispatch @grow::@grow
  %2 = flow.dispatch @grow::@grow(%v) tied [-1] : (tensor<1024xf32>) -> tensor<1024x512xf32>
  %3 = flow.dispatch @use::@use(%x, %2) tied [-1] : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  // What may fail does so when it is come to.
  // CHECK: flow.dispatch @fail::@fail
  %4 = flow.dispatch @fail::@fail(%w) tied [-1] : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %5 = flow.dispatch @use::@use(%x, %4) tied [-1] : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  // What only leaves the program is memory of its own in each call.
  // CHECK: flow.dispatch @double::@double
  %u = flow.tensor.parameter #flow.parameter.named<"u"> : tensor<1024x512xf32>
  %6 = flow.dispatch @double::@double(%u) tied [-1] : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
  util.return %1, %3, %5, %6 : tensor<1024x512xf32>, tensor<1024x512xf32>, tensor<1024x512xf32>, tensor<1024x512xf32>
}

// The same once more, in a loop.
// CHECK-LABEL: util.func public @g
util.func public @g(%x: tensor<1024x512xf32>, %n: index) -> tensor<1024x512xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<1024x512xf32> {
    %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<1024x512xf32>
    // CHECK: scf.for
    // CHECK-NEXT: util.global.load @[[A]] : tensor<1024x512xf32>
    %0 = flow.dispatch @double::@double(%w) tied [-1] : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
    %1 = flow.dispatch @use::@use(%a, %0) tied [-1] : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
    scf.yield %1 : tensor<1024x512xf32>
  }
  util.return %r : tensor<1024x512xf32>
}

// Also where it is seen under another shape.
// CHECK-LABEL: util.func public @h
util.func public @h(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %w = flow.tensor.parameter #flow.parameter.named<"w"> : tensor<1024x512xf32>
  // CHECK: %[[W:.*]] = util.global.load @[[A]] : tensor<1024x512xf32>
  // CHECK-NEXT: %[[R:.*]] = flow.tensor.reshape %[[W]]
  // CHECK-NEXT: flow.dispatch @add::@add(%{{.*}}, %[[R]])
  %0 = flow.dispatch @double::@double(%w) tied [-1] : (tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %1 = flow.tensor.reshape %0 : tensor<1024x512xf32> -> tensor<512x1024xf32>
  %2 = flow.dispatch @add::@add(%x, %1) tied [-1] : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  util.return %2 : tensor<512x1024xf32>
}

// CHECK: util.global private @[[A]] {kiln.computed_once} : tensor<1024x512xf32>
// CHECK-NOT: util.global private
// CHECK: util.initializer {
// CHECK-NEXT: %[[P:.*]] = flow.tensor.parameter #flow.parameter.named<"w">
// CHECK-NEXT: %[[D:.*]] = flow.dispatch @double::@double(%[[P]])
// CHECK-NEXT: util.global.store %[[D]], @[[A]]
// CHECK-NEXT: util.return
