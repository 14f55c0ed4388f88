// Where the program has the convolution, this function takes its place: one product of the gathered windows.
module attributes {transform.with_named_sequence} {
  util.func private @conv_as_product(%image: tensor<2x34x34x64xf16>, %filter: tensor<3x3x64x64xf16>,
                                     %start: tensor<2x32x32x64xf16>) -> tensor<2x32x32x64xf16> {
    %empty = tensor.empty() : tensor<2x32x32x3x3x64xf16>
    %windows = linalg.generic {
        indexing_maps = [affine_map<(n, h, w, y, x, c) -> (n, h + y, w + x, c)>, affine_map<(n, h, w, y, x, c) -> (n, h, w, y, x, c)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%image : tensor<2x34x34x64xf16>) outs(%empty : tensor<2x32x32x3x3x64xf16>) {
    ^bb0(%pixel: f16, %unused: f16):
      linalg.yield %pixel : f16
    } -> tensor<2x32x32x3x3x64xf16>
    %lhs = tensor.collapse_shape %windows [[0, 1, 2], [3, 4, 5]] : tensor<2x32x32x3x3x64xf16> into tensor<2048x576xf16>
    %rhs = tensor.collapse_shape %filter [[0, 1, 2], [3]] : tensor<3x3x64x64xf16> into tensor<576x64xf16>
    %init = tensor.collapse_shape %start [[0, 1, 2], [3]] : tensor<2x32x32x64xf16> into tensor<2048x64xf16>
    %product = linalg.matmul ins(%lhs, %rhs : tensor<2048x576xf16>, tensor<576x64xf16>) outs(%init : tensor<2048x64xf16>) -> tensor<2048x64xf16>
    %result = tensor.expand_shape %product [[0, 1, 2], [3]] output_shape [2, 32, 32, 64] : tensor<2048x64xf16> into tensor<2x32x32x64xf16>
    util.return %result : tensor<2x32x32x64xf16>
  }

  transform.named_sequence @match_conv(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
    ^bb0(%image: tensor<2x34x34x64xf16>, %filter: tensor<3x3x64x64xf16>, %start: tensor<2x32x32x64xf16>):
      %conv = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<2x34x34x64xf16>, tensor<3x3x64x64xf16>)
        outs(%start : tensor<2x32x32x64xf16>) -> tensor<2x32x32x64xf16>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }

  transform.named_sequence @cast_and_call_dag(%ins: !transform.any_value {transform.readonly}, %outs: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %outs : (!transform.any_value) -> !transform.any_op
    %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %func = transform.util.import_symbol @conv_as_product into %module if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %func(%ins) -> %outs after %root {
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }

  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %funcs = transform.structured.match ops{["util.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %funcs : !transform.any_op {
    ^bb1(%func: !transform.any_op):
      transform.foreach_match in %func @match_conv -> @cast_and_call_dag : (!transform.any_op) -> !transform.any_op
    }
    transform.apply_dce to %module : !transform.any_op
    transform.apply_registered_pass "inline" to %module : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
