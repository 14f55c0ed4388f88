module attributes {transform.with_named_sequence} {
  util.global private @scale = dense<3.0> : tensor<4xf32>
  // What a program may write is converted here, too: a call, TOSA, and a global of the spec's own.
  func.func private @sum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %r = tosa.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  func.func private @mine(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %s = util.global.load @scale : tensor<4xf32>
    %z = func.call @sum(%y, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %r = func.call @sum(%x, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
  // exp(x) * y, whichever x and y are, of four elements.
  transform.named_sequence @match(%root: !transform.any_op {transform.readonly}) -> (!transform.any_value, !transform.any_value) {
    %ins, %outs = transform.kiln.match.cast_compatible_dag_from_root %root {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %e = tensor.empty() : tensor<4xf32>
      %exp = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %r = linalg.mul ins(%exp, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }
  transform.named_sequence @replace(%ins: !transform.any_value {transform.readonly}, %outs: !transform.any_value {transform.readonly}) {
    %root = transform.get_defining_op %outs : (!transform.any_value) -> !transform.any_op
    %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %func = transform.util.import_symbol @mine into %module if undefined : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %func(%ins) -> %outs after %root {
    } : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %funcs = transform.structured.match ops{["util.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %funcs : !transform.any_op {
    ^bb1(%func: !transform.any_op):
      transform.foreach_match in %func @match -> @replace : (!transform.any_op) -> !transform.any_op
    }
    transform.yield
  }
}
