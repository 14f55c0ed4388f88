// Extents that are known when the program is compiled, and some that are not.
func.func @product(%a: tensor<?x33xf32>, %b: tensor<33x50xf32>) -> tensor<?x50xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x33xf32>
  %empty = tensor.empty(%rows) : tensor<?x50xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x50xf32>) -> tensor<?x50xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x33xf32>, tensor<33x50xf32>) outs(%filled : tensor<?x50xf32>) -> tensor<?x50xf32>
  return %0 : tensor<?x50xf32>
}

func.func @chain(%a: tensor<100xf32>) -> (tensor<100xf32>, tensor<f32>) {
  %four = arith.constant dense<4.0> : tensor<100xf32>
  %zero = arith.constant 0.0 : f32
  %0 = arith.addf %a, %four : tensor<100xf32>
  %empty = tensor.empty() : tensor<f32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%0 : tensor<100xf32>) outs(%filled : tensor<f32>) dimensions = [0]
    (%in: f32, %out: f32) {
      %next = arith.addf %in, %out : f32
      linalg.yield %next : f32
    }
  return %0, %sum : tensor<100xf32>, tensor<f32>
}
