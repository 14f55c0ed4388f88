// Gives products of some shapes a configuration; all others have Kiln's own.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @apply_op_config(%op: !transform.any_op {transform.readonly}, %config: !transform.any_param {transform.readonly}) {
    transform.annotate %op "kiln.configuration" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @match_matmul_512x32(%matmul: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %matmul ["linalg.matmul"] : !transform.any_op
    %lhs = transform.get_operand %matmul[0] : (!transform.any_op) -> !transform.any_value
    %rhs = transform.get_operand %matmul[1] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %lhs = tensor<512x32xf16> : !transform.any_value
    transform.iree.match.cast_compatible_type %rhs = tensor<32x?xf16> : !transform.any_value
    %config = transform.param.constant "tile_config_64x16_32x1_fma" -> !transform.any_param
    transform.yield %matmul, %config : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @__kernel_config(%variant_op: !transform.any_op {transform.consumed}) {
    transform.foreach_match in %variant_op @match_matmul_512x32 -> @apply_op_config : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
