// A sum of -0.0 that starts with -0.0 is -0.0, along vectors, between them and in products.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic %s -o %t.generic.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=rows --input=2x100xf32=-0.0 | FileCheck %s --check-prefix=ROWS
// RUN: kiln-run-module --module=%t.generic.vmfb --function=rows --input=2x100xf32=-0.0 | FileCheck %s --check-prefix=ROWS
// RUN: kiln-run-module --module=%t.vmfb --function=columns --input=100x2xf32=-0.0 | FileCheck %s --check-prefix=ROWS
// RUN: kiln-run-module --module=%t.vmfb --function=long --input=1000000xf32=-0.0 | FileCheck %s --check-prefix=LONG
// RUN: kiln-run-module --module=%t.vmfb --function=matvec --input=2x100xf32=-0.0 --input=100xf32=1 | FileCheck %s --check-prefix=ROWS
// RUN: kiln-run-module --module=%t.generic.vmfb --function=matvec --input=2x100xf32=-0.0 --input=100xf32=1 | FileCheck %s --check-prefix=ROWS
// ROWS: 2xf32=-0 -0
// LONG: f32=-0
func.func @rows(%x: tensor<2x100xf32>) -> tensor<2xf32> {
  %zero = arith.constant -0.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.reduce ins(%x : tensor<2x100xf32>) outs(%start : tensor<2xf32>) dimensions = [1]
    (%in: f32, %now: f32) {
      %next = arith.addf %in, %now : f32
      linalg.yield %next : f32
    }
  return %sum : tensor<2xf32>
}
func.func @columns(%x: tensor<100x2xf32>) -> tensor<2xf32> {
  %zero = arith.constant -0.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.reduce ins(%x : tensor<100x2xf32>) outs(%start : tensor<2xf32>) dimensions = [0]
    (%in: f32, %now: f32) {
      %next = arith.addf %in, %now : f32
      linalg.yield %next : f32
    }
  return %sum : tensor<2xf32>
}
func.func @long(%x: tensor<1000000xf32>) -> tensor<f32> {
  %zero = arith.constant -0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%x : tensor<1000000xf32>) outs(%start : tensor<f32>) dimensions = [0]
    (%in: f32, %now: f32) {
      %next = arith.addf %in, %now : f32
      linalg.yield %next : f32
    }
  return %sum : tensor<f32>
}
func.func @matvec(%x: tensor<2x100xf32>, %y: tensor<100xf32>) -> tensor<2xf32> {
  %zero = arith.constant -0.0 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %p = linalg.matvec ins(%x, %y : tensor<2x100xf32>, tensor<100xf32>) outs(%start : tensor<2xf32>) -> tensor<2xf32>
  return %p : tensor<2xf32>
}
