// The document compiles a file of this path that it does not show, and calls its @main, which takes no inputs.
func.func @main() -> tensor<4xi32> {
  %a = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = arith.constant dense<10> : tensor<4xi32>
  %0 = arith.muli %a, %b : tensor<4xi32>
  return %0 : tensor<4xi32>
}
