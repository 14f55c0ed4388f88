// The UNet's last convolution, as the preprocessing pipeline has left it with its channels last, becomes a product of its windows.
module attributes {transform.with_named_sequence} {
  util.func private @conv_as_product(%image: tensor<2x130x130x16xf16>, %filter: tensor<3x3x16x4xf16>,
                                     %start: tensor<2x128x128x4xf16>) -> tensor<2x128x128x4xf16> {
    %empty = tensor.empty() : tensor<2x128x128x3x3x16xf16>
    %windows = linalg.generic {
        indexing_maps = [affine_map<(n, h, w, y, x, c) -> (n, h + y, w + x, c)>, affine_map<(n, h, w, y, x, c) -> (n, h, w, y, x, c)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%image : tensor<2x130x130x16xf16>) outs(%empty : tensor<2x128x128x3x3x16xf16>) {
    ^bb0(%pixel: f16, %unused: f16):
      linalg.yield %pixel : f16
    } -> tensor<2x128x128x3x3x16xf16>
    %lhs = tensor.collapse_shape %windows [[0, 1, 2], [3, 4, 5]] : tensor<2x128x128x3x3x16xf16> into tensor<32768x144xf16>
    %rhs = tensor.collapse_shape %filter [[0, 1, 2], [3]] : tensor<3x3x16x4xf16> into tensor<144x4xf16>
    %init = tensor.collapse_shape %start [[0, 1, 2], [3]] : tensor<2x128x128x4xf16> into tensor<32768x4xf16>
    %product = linalg.matmul ins(%lhs, %rhs : tensor<32768x144xf16>, tensor<144x4xf16>) outs(%init : tensor<32768x4xf16>) -> tensor<32768x4xf16>
    %result = tensor.expand_shape %product [[0, 1, 2], [3]] output_shape [2, 128, 128, 4] : tensor<32768x4xf16> into tensor<2x128x128x4xf16>
    util.return %result : tensor<2x128x128x4xf16>
  }

  transform.named_sequence @match_conv(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
    ^bb0(%image: tensor<2x130x130x16xf16>, %filter: tensor<3x3x16x4xf16>, %start: tensor<2x128x128x4xf16>):
      %conv = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<2x130x130x16xf16>, tensor<3x3x16x4xf16>)
        outs(%start : tensor<2x128x128x4xf16>) -> tensor<2x128x128x4xf16>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }

  transform.named_sequence @cast_and_call_dag(%ins: !transform.any_value {transform.readonly}, %outs: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %outs : (!transform.any_value) -> !transform.any_op
    %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %func = transform.util.import_symbol @conv_as_product into %module if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %func(%ins) -> %outs after %root {
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
    transform.yield
  }
}
