// Each phase rejects what belongs to an earlier one.
// RUN: kiln-compile %s --compile-from=input --compile-to=abi | FileCheck %s --check-prefix=OK
// RUN: not kiln-compile %s --compile-from=abi --compile-to=flow 2>&1 | FileCheck %s --check-prefix=FLOW
// RUN: not kiln-compile %s --compile-from=flow --compile-to=stream 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: not kiln-compile %s --compile-from=stream --compile-to=executable-sources 2>&1 | FileCheck %s --check-prefix=SOURCES
// RUN: not kiln-compile %s --compile-from=executable-targets --compile-to=hal 2>&1 | FileCheck %s --check-prefix=HAL
// RUN: not kiln-compile %s --compile-from=hal --compile-to=vm 2>&1 | FileCheck %s --check-prefix=VM

// At its end all of the program is verified, executables too.
// RUN: echo 'flow.executable private @e { builtin.module { func.func @f(%%x: i32) -> i64 { return %%x : i32 } } }' > %t.mlir
// RUN: not kiln-opt %t.mlir --mlir-very-unsafe-disable-verifier-on-parsing --verify-each=false --kiln-stream-transformation-pipeline 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: error: type of return operand 0 ('i32') doesn't match function result type ('i64')

// OK: util.func @main
// FLOW: error: 'func.func' must be gone after the phase 'abi'
// STREAM: error: 'func.func' must be gone after the phase 'flow'
// SOURCES: error: 'func.func' must be gone after the phase 'stream'
// HAL: error: 'func.func' must be gone after the phase 'executable-targets'
// VM: error: 'func.func' must be gone after the phase 'hal'
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
