// Padding in several workgroups: tiles that are padding alone, on either side, tiles that hold a bit of the tensor, an
// empty tensor, and extents, padding and value that only the call knows. The tiles are small, so that there are many.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb --function=row --input="3xf32=1 2 3" \
// RUN:   --expected_output="10xf32=9 9 9 9 9 1 2 3 9 9"
// RUN: kiln-run-module --module=%t.vmfb --function=matrix --input="2x3xi8=1 2 3 4 5 6" \
// RUN:   --expected_output="4x8xi8=7 7 7 7 7 7 7 7 7 7 7 7 1 2 3 7 7 7 7 7 4 5 6 7 7 7 7 7 7 7 7 7"
// RUN: kiln-run-module --module=%t.vmfb --function=dynamic --device=local-task --input="2x2xf16=1 2 3 4" --input=5 \
// RUN:   --input=f16=-1 --expected_output="3x7xf16=-1 -1 -1 -1 -1 1 2 -1 -1 -1 -1 -1 3 4 -1 -1 -1 -1 -1 -1 -1"
// RUN: kiln-run-module --module=%t.vmfb --function=dynamic --input="0x2xf16" --input=1 --input=f16=4 \
// RUN:   --expected_output="1x3xf16=4 4 4"
// RUN: kiln-run-module --module=%t.vmfb --function=nothing --input=0x33x16xi32 --input=1 --input=0 --expected_output=2x35xi32=119
// RUN: not kiln-run-module --module=%t.vmfb --function=row --input="3xf32=1 2 3" \
// RUN:   --expected_output="10xf32=9 9 9 9 9 1 2 3 9 8"

func.func @row(%a: tensor<3xf32>) -> tensor<10xf32> {
  %v = arith.constant 9.0 : f32
  %p = tensor.pad %a low[5] high[2] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } {kiln.configuration = "tile_config_1x2_0x1_vector"} : tensor<3xf32> to tensor<10xf32>
  return %p : tensor<10xf32>
}
// A tile that is padding alone, of a tensor that is.
func.func @nothing(%a: tensor<0x33x16xi32>, %low: index, %high: index) -> tensor<?x35xi32> {
  %v = arith.constant 7 : i32
  %p = tensor.pad %a low[2, 2, %low] high[%high, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %v : i32
  } : tensor<0x33x16xi32> to tensor<?x35x?xi32>
  %zero = arith.constant 0 : i32
  %c2 = arith.constant 2 : index
  %e = tensor.empty(%c2) : tensor<?x35xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<?x35xi32>) -> tensor<?x35xi32>
  %r = linalg.reduce { arith.addi } ins(%p : tensor<?x35x?xi32>) outs(%z : tensor<?x35xi32>) dimensions = [2]
  return %r : tensor<?x35xi32>
}
func.func @matrix(%a: tensor<2x3xi8>) -> tensor<4x8xi8> {
  %v = arith.constant 7 : i8
  %p = tensor.pad %a low[1, 4] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : i8
  } {kiln.configuration = "tile_config_2x3_0x1_vector"} : tensor<2x3xi8> to tensor<4x8xi8>
  return %p : tensor<4x8xi8>
}
func.func @dynamic(%a: tensor<?x2xf16>, %low: index, %v: f16) -> tensor<?x?xf16> {
  %p = tensor.pad %a low[0, %low] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f16
  } {kiln.configuration = "tile_config_1x4_0x1_vector"} : tensor<?x2xf16> to tensor<?x?xf16>
  return %p : tensor<?x?xf16>
}
