// Constants whose elements stand at the end of the file, of each width; what comes after one is where it should be.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=all --expected_output="5xi1=1 0 1 0 1" --expected_output="3xi8=1 2 -1" \
// RUN:   --expected_output="2xf16=1 -2" --expected_output="2xindex=7 8" --expected_output="2xf32=1 2" --expected_output=0xf32
// RUN: kiln-run-module --module=%t.vmfb --function=chosen --input="5xf32=1 2 3 4 5" --input="5xf32=-1 -2 -3 -4 -5" \
// RUN:   --expected_output="5xf32=1 -2 3 -4 5"
// A program that is past the input phase says it when the module is written.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --compile-to=vm %s | sed 's/floats: "0x040000000000803F/floats: "0x04000000/' > %t.vm.mlir
// RUN: not kiln-compile --iree-hal-target-backends=llvm-cpu --compile-from=vm %t.vm.mlir -o %t.vmfb 2>&1 | FileCheck %s
// CHECK: error: a constant cannot be used: its resource 'floats' has 4 bytes; 2 elements of f32 take 8, 4 each

func.func @all() -> (tensor<5xi1>, tensor<3xi8>, tensor<2xf16>, tensor<2xindex>, tensor<2xf32>, tensor<0xf32>) {
  %0 = arith.constant dense_resource<flags> : tensor<5xi1>
  %1 = arith.constant dense_resource<bytes> : tensor<3xi8>
  %2 = arith.constant dense_resource<halves> : tensor<2xf16>
  %3 = arith.constant dense_resource<indices> : tensor<2xindex>
  %4 = arith.constant dense_resource<floats> : tensor<2xf32>
  %5 = arith.constant dense_resource<none> : tensor<0xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<5xi1>, tensor<3xi8>, tensor<2xf16>, tensor<2xindex>, tensor<2xf32>, tensor<0xf32>
}
func.func @chosen(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  %which = arith.constant dense_resource<flags> : tensor<5xi1>
  %r = arith.select %which, %a, %b : tensor<5xi1>, tensor<5xf32>
  return %r : tensor<5xf32>
}

{-#
  dialect_resources: {
    builtin: {
      flags: "0x040000000100010001",
      bytes: "0x040000000102FF",
      halves: "0x04000000003C00C0",
      indices: "0x0400000007000000000000000800000000000000",
      floats: "0x040000000000803F00000040"
    }
  }
#-}
