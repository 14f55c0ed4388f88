module attributes {transform.with_named_sequence} {
  transform.named_sequence @configure(%op: !transform.any_op {transform.readonly}, %config: !transform.any_param {transform.readonly}) {
    transform.annotate %op "kiln.configuration" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
  transform.named_sequence @rows_of_64(%op: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %op ["linalg.abs", "linalg.generic"] : !transform.any_op
    %operand = transform.get_operand %op[0] : (!transform.any_op) -> !transform.any_value
    transform.kiln.match.cast_compatible_type %operand = tensor<?x64xf32> : !transform.any_value
    %config = transform.param.constant "tile_config_1x128_0x1_vector" -> !transform.any_param
    transform.yield %op, %config : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @__kernel_config(%variant: !transform.any_op {transform.consumed}) {
    transform.foreach_match in %variant @rows_of_64 -> @configure : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @wrong(%variant: !transform.any_op {transform.consumed}) {
    %ops = transform.structured.match ops{["linalg.abs", "linalg.generic"]} in %variant : (!transform.any_op) -> !transform.any_op
    %config = transform.param.constant "tile_config_everything" -> !transform.any_param
    transform.annotate %ops "kiln.configuration" = %config : !transform.any_op, !transform.any_param
    transform.yield
  }
}
