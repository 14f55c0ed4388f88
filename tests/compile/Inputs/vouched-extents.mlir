util.func public @bytes(%a: tensor<?xi32>, %n: index) -> tensor<?xi16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xi32>
  %0 = flow.tensor.bitcast %a : tensor<?xi32>{%d} -> tensor<?xi16>{%n}
  util.return %0 : tensor<?xi16>
}

util.func public @tie(%a: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %0 = flow.tensor.tie_shape %a : tensor<?xi32>{%n}
  %1 = arith.addi %0, %0 : tensor<?xi32>
  util.return %1 : tensor<?xi32>
}
