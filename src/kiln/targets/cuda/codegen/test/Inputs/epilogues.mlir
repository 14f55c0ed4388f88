// Products by wgmma and what follows them, of different kinds.
func.func @bias_relu(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %bias: tensor<512xf16>) -> tensor<512x512xf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %eo = tensor.empty() : tensor<512x512xf16>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%f : tensor<512x512xf32>) {
  ^bb0(%p: f16, %q: f16, %r: f32):
    %x = arith.extf %p : f16 to f32
    %y = arith.extf %q : f16 to f32
    %s = arith.mulf %x, %y : f32
    %u = arith.addf %r, %s : f32
    linalg.yield %u : f32
  } -> tensor<512x512xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%o, %bias : tensor<512x512xf32>, tensor<512xf16>) outs(%eo : tensor<512x512xf16>) {
  ^bb0(%v: f32, %c: f16, %w: f16):
    %t = arith.truncf %v : f32 to f16
    %s1 = arith.addf %t, %c : f16
    %z1 = arith.constant 0.0 : f16
    %h = arith.maximumf %s1, %z1 : f16
    linalg.yield %h : f16
  } -> tensor<512x512xf16>
  return %g : tensor<512x512xf16>
}

func.func @gelu(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %bias: tensor<512xf16>) -> tensor<512x512xf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %eo = tensor.empty() : tensor<512x512xf16>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%f : tensor<512x512xf32>) {
  ^bb0(%p: f16, %q: f16, %r: f32):
    %x = arith.extf %p : f16 to f32
    %y = arith.extf %q : f16 to f32
    %s = arith.mulf %x, %y : f32
    %u = arith.addf %r, %s : f32
    linalg.yield %u : f32
  } -> tensor<512x512xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%o, %bias : tensor<512x512xf32>, tensor<512xf16>) outs(%eo : tensor<512x512xf16>) {
  ^bb0(%v: f32, %c: f16, %w: f16):
    %t = arith.truncf %v : f32 to f16
    %wide = arith.extf %t : f16 to f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %c3 = arith.constant 0.044715 : f32
    %c1 = arith.constant 0.7978845608 : f32
    %x2 = arith.mulf %wide, %wide : f32
    %x3 = arith.mulf %x2, %wide : f32
    %x4 = arith.mulf %x3, %c3 : f32
    %x5 = arith.addf %wide, %x4 : f32
    %x6 = arith.mulf %x5, %c1 : f32
    %th = math.tanh %x6 : f32
    %th1 = arith.addf %th, %one : f32
    %x7 = arith.mulf %wide, %half : f32
    %x8 = arith.mulf %x7, %th1 : f32
    %h = arith.truncf %x8 : f32 to f16
    linalg.yield %h : f16
  } -> tensor<512x512xf16>
  return %g : tensor<512x512xf16>
}

func.func @silu(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %bias: tensor<512xbf16>) -> tensor<512x512xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %eo = tensor.empty() : tensor<512x512xbf16>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xf32>) {
  ^bb0(%p: bf16, %q: bf16, %r: f32):
    %x = arith.extf %p : bf16 to f32
    %y = arith.extf %q : bf16 to f32
    %s = arith.mulf %x, %y : f32
    %u = arith.addf %r, %s : f32
    linalg.yield %u : f32
  } -> tensor<512x512xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%o, %bias : tensor<512x512xf32>, tensor<512xbf16>) outs(%eo : tensor<512x512xbf16>) {
  ^bb0(%v: f32, %c: bf16, %w: bf16):
    %t = arith.truncf %v : f32 to bf16
    %n = arith.negf %t : bf16
    %ex = math.exp %n : bf16
    %o1 = arith.constant 1.0 : bf16
    %d = arith.addf %ex, %o1 : bf16
    %h = arith.divf %t, %d : bf16
    linalg.yield %h : bf16
  } -> tensor<512x512xbf16>
  return %g : tensor<512x512xbf16>
}

func.func @scaled_exp(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %bias: tensor<512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %eo = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%f : tensor<512x512xf32>) {
  ^bb0(%p: f16, %q: f16, %r: f32):
    %x = arith.extf %p : f16 to f32
    %y = arith.extf %q : f16 to f32
    %s = arith.mulf %x, %y : f32
    %u = arith.addf %r, %s : f32
    linalg.yield %u : f32
  } -> tensor<512x512xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%o, %bias : tensor<512x512xf32>, tensor<512xf32>) outs(%eo : tensor<512x512xf32>) {
  ^bb0(%v: f32, %c: f32, %w: f32):
    %x1 = math.exp %v : f32
    %h = arith.mulf %x1, %c : f32
    linalg.yield %h : f32
  } -> tensor<512x512xf32>
  return %g : tensor<512x512xf32>
}

func.func @quantized(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %bias: tensor<512xf32>) -> tensor<512x512xi8> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<512x512xi32>
  %eo = tensor.empty() : tensor<512x512xi8>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<512x512xi32>) -> tensor<512x512xi32>
  %o = linalg.generic {indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(n,k)>, affine_map<(m,n,k)->(m,n)>], iterator_types = ["parallel","parallel","reduction"]} ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%f : tensor<512x512xi32>) {
  ^bb0(%p: i8, %q: i8, %r: i32):
    %x = arith.extsi %p : i8 to i32
    %y = arith.extsi %q : i8 to i32
    %s = arith.muli %x, %y : i32
    %u = arith.addi %r, %s : i32
    linalg.yield %u : i32
  } -> tensor<512x512xi32>
  %g = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%o, %bias : tensor<512x512xi32>, tensor<512xf32>) outs(%eo : tensor<512x512xi8>) {
  ^bb0(%v: i32, %c: f32, %w: i8):
    %fl = arith.sitofp %v : i32 to f32
    %k1 = arith.mulf %fl, %c : f32
    %rn = math.roundeven %k1 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %m1 = arith.maximumf %rn, %lo : f32
    %m2 = arith.minimumf %m1, %hi : f32
    %h = arith.fptosi %m2 : f32 to i8
    linalg.yield %h : i8
  } -> tensor<512x512xi8>
  return %g : tensor<512x512xi8>
}
