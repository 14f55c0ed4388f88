// With --iree-llvmcpu-reassociate-fp-reductions=false floats are summed one after the other: a one that is added to a number
// whose neighbours are 8 away is lost. In parts, which are vectors or other workers' work, ones meet each other first.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-reassociate-fp-reductions=false %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=row --expected_output=f32=0
// RUN: kiln-run-module --module=%t.vmfb --function=many --expected_output=f32=16777216 --equality_mode=exact
// RUN: kiln-run-module --module=%t.vmfb --function=rows --expected_output="2xf32=0 8" --equality_mode=exact
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.parts.vmfb
// RUN: not kiln-run-module --module=%t.parts.vmfb --function=row --expected_output=f32=0
// RUN: not kiln-run-module --module=%t.parts.vmfb --function=many --expected_output=f32=16777216 --equality_mode=exact

func.func private @terms(%n: index, %first: f32, %last: f32) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.subi %n, %one : index
  %ones = arith.constant 1.0 : f32
  %x = tensor.generate %n {
  ^bb0(%i: index):
    %is_first = arith.cmpi eq, %i, %zero : index
    %is_last = arith.cmpi eq, %i, %end : index
    %0 = arith.select %is_first, %first, %ones : f32
    %1 = arith.select %is_last, %last, %0 : f32
    tensor.yield %1 : f32
  } : tensor<?xf32>
  return %x : tensor<?xf32>
}

func.func @row() -> tensor<f32> {
  %n = arith.constant 64 : index
  %first = arith.constant 1.0e+08 : f32
  %last = arith.constant -1.0e+08 : f32
  %0 = call @terms(%n, %first, %last) : (index, f32, f32) -> tensor<?xf32>
  %1 = util.optimization_barrier %0 : tensor<?xf32>
  %x = tensor.cast %1 : tensor<?xf32> to tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %2 = linalg.reduce { arith.addf } ins(%x : tensor<64xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %2 : tensor<f32>
}

func.func @many() -> tensor<f32> {
  %n = arith.constant 1048576 : index
  %first = arith.constant 16777216.0 : f32
  %last = arith.constant 1.0 : f32
  %0 = call @terms(%n, %first, %last) : (index, f32, f32) -> tensor<?xf32>
  %1 = util.optimization_barrier %0 : tensor<?xf32>
  %x = tensor.cast %1 : tensor<?xf32> to tensor<1048576xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %2 = linalg.reduce { arith.addf } ins(%x : tensor<1048576xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %2 : tensor<f32>
}

// The second row has its large numbers beside each other at the end.
func.func @rows() -> tensor<2xf32> {
  %x = util.unfoldable_constant dense<[[1.0e+08, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0e+08],
                                       [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0e+08, -1.0e+08]]> : tensor<2x10xf32>
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<2x10xf32>) outs(%zero : tensor<2xf32>) dimensions = [1]
  return %0 : tensor<2xf32>
}
