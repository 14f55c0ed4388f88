module @parameters {
  util.global private @weight = #flow.parameter.named<"model"::"weight"> : tensor<4x8xf32>
  util.global private @bias = #stream.parameter.named<"model"::"bias"> : tensor<8xf32>
  util.global private @scale = #flow.parameter.named<"model"::"scale", {ignored = 1}> : tensor<8xf32>
  util.global private @packed = #flow.parameter.named<"model"::"packed"> : tensor<8xi4>
  util.global private @flags = #flow.parameter.named<"model"::"flags"> : tensor<4xi1>
  util.global private @half = #flow.parameter.named<"model"::"half"> : tensor<4xf16>
  util.global private mutable @state = #flow.parameter.named<"model"::"bias"> : tensor<8xf32>

  func.func @layer(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
    %w = util.global.load @weight : tensor<4x8xf32>
    %b = util.global.load @bias : tensor<8xf32>
    %s = util.global.load @scale : tensor<8xf32>
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<2x8xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x8xf32>) -> tensor<2x8xf32>
    %m = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x8xf32>) outs(%zeros : tensor<2x8xf32>) -> tensor<2x8xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%m, %b, %s : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<2x8xf32>) {
    ^bb0(%product: f32, %bias: f32, %scale: f32, %unused: f32):
      %sum = arith.addf %product, %bias : f32
      %scaled = arith.mulf %sum, %scale : f32
      linalg.yield %scaled : f32
    } -> tensor<2x8xf32>
    return %r : tensor<2x8xf32>
  }

  // As they are.
  func.func @kinds() -> (tensor<8xi32>, tensor<4xi32>, tensor<4xf16>, tensor<8xf32>, f32) {
    %packed = util.global.load @packed : tensor<8xi4>
    %flags = util.global.load @flags : tensor<4xi1>
    %half = util.global.load @half : tensor<4xf16>
    %b = util.global.load @bias : tensor<8xf32>
    %wide = arith.extsi %packed : tensor<8xi4> to tensor<8xi32>
    %ones = arith.extui %flags : tensor<4xi1> to tensor<4xi32>
    %three = arith.constant 3 : index
    %one = tensor.extract %b[%three] : tensor<8xf32>
    return %wide, %ones, %half, %b, %one : tensor<8xi32>, tensor<4xi32>, tensor<4xf16>, tensor<8xf32>, f32
  }

  // A state that starts as a parameter, which stays what it was.
  func.func @count() -> (tensor<8xf32>, tensor<8xf32>) {
    %old = util.global.load @state : tensor<8xf32>
    %b = util.global.load @bias : tensor<8xf32>
    %new = arith.addf %old, %b : tensor<8xf32>
    util.global.store %new, @state : tensor<8xf32>
    return %new, %b : tensor<8xf32>, tensor<8xf32>
  }

  // What comes around a loop is a copy.
  func.func @loop(%n: index) -> tensor<8xf32> {
    %b = util.global.load @bias : tensor<8xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %b) -> tensor<8xf32> {
      %y = arith.addf %x, %x : tensor<8xf32>
      scf.yield %y : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}
