// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x4xf16=[1000 -1000 1000 -1000][0 0 0 0]' --input='4xf16=1 2 3 -4' \
// RUN:   --expected_output='2x4xf16=[1 -2 3 4][0 0 0 0]'
func.func @rms_norm_2x4_f16(%in: tensor<2x4xf16>, %gamma: tensor<4xf16>) -> tensor<2x4xf16> {
  %zero = arith.constant 0.0 : f32
  %columns = arith.constant 4.0 : f32
  %epsilon = arith.constant 9.999999747e-06 : f32
  %one = arith.constant 1.0 : f32
  %squares_start_empty = tensor.empty() : tensor<2xf32>
  %squares_start = linalg.fill ins(%zero : f32) outs(%squares_start_empty : tensor<2xf32>) -> tensor<2xf32>
  %squares = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]
  } ins(%in : tensor<2x4xf16>) outs(%squares_start : tensor<2xf32>) {
  ^bb0(%a: f16, %s: f32):
    %x = arith.extf %a : f16 to f32
    %q = arith.mulf %x, %x : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %scale_empty = tensor.empty() : tensor<2xf32>
  %scale = linalg.generic {
    indexing_maps = [affine_map<(r) -> (r)>,
                     affine_map<(r) -> (r)>],
    iterator_types = ["parallel"]
  } ins(%squares : tensor<2xf32>) outs(%scale_empty : tensor<2xf32>) {
  ^bb0(%s: f32, %out: f32):
    %variance = arith.divf %s, %columns : f32
    %above = arith.addf %variance, %epsilon : f32
    %root = math.sqrt %above : f32
    %t = arith.divf %one, %root : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %empty = tensor.empty() : tensor<2x4xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>,
                     affine_map<(r, c) -> (c)>,
                     affine_map<(r, c) -> (r, c)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%in, %scale, %gamma : tensor<2x4xf16>, tensor<2xf32>, tensor<4xf16>) outs(%empty : tensor<2x4xf16>) {
  ^bb0(%a: f16, %scale_of: f32, %g: f16, %out: f16):
    %x = arith.extf %a : f16 to f32
    %wide_g = arith.extf %g : f16 to f32
    %n = arith.mulf %x, %scale_of : f32
    %p = arith.mulf %n, %wide_g : f32
    %narrow = arith.truncf %p : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2x4xf16>
  return %result : tensor<2x4xf16>
}
