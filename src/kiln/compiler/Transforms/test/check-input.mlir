// RUN: kiln-opt %s --split-input-file --verify-diagnostics --kiln-check-input

// What is supported gives no diagnostic.
func.func @supported(%a: tensor<?x4xbf16>, %n: index) -> tensor<?x4xbf16> {
  %0 = arith.addf %a, %a : tensor<?x4xbf16>
  return %0 : tensor<?x4xbf16>
}

// -----

func.func @memory(%a: tensor<4xf32>,
                  // expected-error @+1 {{argument 1 of 'memory' has the type 'memref<4xf32>', which Kiln does not compile: programs are written on tensors; Kiln decides about memory}}
                  %b: memref<4xf32>) {
  return
}

// -----

// expected-error @+1 {{argument 1 of 'short_vector' has the type 'vector<4xf32>', which Kiln does not compile: values are ranked tensors and scalars, of i1,}}
func.func @short_vector(%a: tensor<4xf32>, %b: vector<4xf32>) {
  return
}

// -----

// expected-error @+1 {{result 1 of 'wide' has the type 'i128', which Kiln does not compile: element types are i1,}}
func.func @wide(%a: i64) -> (i64, i128) {
  %0 = arith.extsi %a : i64 to i128
  return %a, %0 : i64, i128
}

// -----

// expected-error @+1 {{argument 0 of 'huge' has the type 'tensor<4611686018427387904xf32>', whose size in bytes is no 64-bit number}}
func.func @huge(%a: tensor<4611686018427387904xf32>) {
  return
}

// -----

// expected-error @+1 {{element types are i1, i2, i4, i8, i16, i32, i64, index, f4E2M1FN, f8E4M3FN and other floats of 8 bits, f16, bf16, f32 and f64}}
func.func @odd_type(%a: tensor<4xi7>) {
  return
}

// -----

func.func @vectors(%a: f32) -> f32 {
  // expected-error @+1 {{'vector.broadcast' is not an op that Kiln compiles}}
  %0 = vector.broadcast %a : f32 to vector<4xf32>
  %1 = vector.extract %0[0] : f32 from vector<4xf32>
  return %1 : f32
}

// -----

// expected-error @+1 {{has control flow between blocks, which Kiln does not compile; write it with scf}}
func.func @blocks() {
  cf.br ^bb1
^bb1:
  return
}

// -----

// expected-error @+1 {{'imported' has no body}}
func.func private @imported(tensor<4xf32>)

// -----

func.func @parallel(%a: tensor<4xf32>, %n: index, %s: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.parallel' is not an op that Kiln compiles; programs consist of func, arith, math, tensor, linalg, and scf.for, scf.while, scf.if and, on tensors, scf.forall on the host}}
  %0 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%s) -> f32 {
    %e = tensor.extract %a[%i] : tensor<4xf32>
    scf.reduce(%e : f32) {
    ^bb0(%x: f32, %y: f32):
      %t = arith.addf %x, %y : f32
      scf.reduce.return %t : f32
    }
  }
  return %0 : f32
}

// -----

func.func @reduction_of_output(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{'linalg.generic' has an output whose place depends on loop 1, which is a reduction; make the loop parallel}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %1 = arith.addf %x, %y : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @negative_padding(%a: tensor<4xf32>, %v: f32) -> tensor<4xf32> {
  // expected-error @+1 {{'tensor.pad' has a negative amount of padding; cut with tensor.extract_slice}}
  %0 = tensor.pad %a low[1] high[-1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @smallest_padding(%a: tensor<4xf32>, %v: f32) -> tensor<4xf32> {
  // expected-error @+1 {{'tensor.pad' has a negative amount of padding; cut with tensor.extract_slice}}
  %0 = tensor.pad %a low[-9223372036854775808] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @bytes_missing() -> tensor<4xf32> {
  // expected-error @+1 {{'arith.constant' cannot be used: the file does not hold the bytes of its resource 'nothing'}}
  %0 = arith.constant dense_resource<nothing> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @bytes_of_another_size() -> tensor<4xf32> {
  // expected-error @+1 {{'arith.constant' cannot be used: its resource 'five' has 5 bytes; 4 elements of f32 take 16, 4 each}}
  %0 = arith.constant dense_resource<five> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

{-# dialect_resources: { builtin: { five: "0x040000000102030405" } } #-}

// -----

// A truth value takes a byte; packed ones are not what this form holds.
func.func @packed_bits() -> tensor<8xi1> {
  // expected-error @+1 {{its resource 'bits' has 1 bytes; 8 elements of i1 take 8, 1 each}}
  %0 = arith.constant dense_resource<bits> : tensor<8xi1>
  return %0 : tensor<8xi1>
}

{-# dialect_resources: { builtin: { bits: "0x04000000FF" } } #-}

// -----

// expected-error @+1 {{'func.func' has a tensor of rank 33 at the program's boundary, where at most 32 dimensions are possible; pass fewer, and use tensor.expand_shape inside}}
func.func @rank_of_an_argument(%arg: tensor<?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?x?xf32>) {
  return
}

// -----

// expected-error @+1 {{'func.func' has a tensor of rank 33}}
func.func @rank_of_a_result() -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32> {
  %0 = arith.constant dense<0.0> : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>
  return %0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>
}

// -----

func.func @rank_of_what_is_checked() {
  %0 = arith.constant dense<0.0> : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>
  // expected-error @+1 {{'check.expect_eq' has a tensor of rank 33}}
  check.expect_eq(%0, %0) : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>
  return
}

// -----

func.func @rank_inside(%arg: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>) -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32> {
  %0 = call @inner() : () -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>
  return %arg : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>
}
func.func private @inner() -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32> {
  %0 = arith.constant dense<0.0> : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>
  return %0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x4xf32>
}

// -----

// A program that starts behind this phase has no memory of its own, either.
flow.executable private @identity {
  builtin.module {
    func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
      func.return %x : tensor<4xf32>
    }
  }
}
// expected-error @+1 {{'util.func' has the type 'memref<4xf32>', which Kiln does not compile: programs are written on tensors; Kiln decides about memory}}
util.func public @memory(%x: memref<4xf32>) -> memref<4xf32> {
  util.return %x : memref<4xf32>
}

// -----

// expected-error @+1 {{holds no module with a function of one block that it could run}}
flow.executable private @nothing {
}

// -----

// expected-error @+1 {{holds no module with a function of one block that it could run}}
stream.executable private @declared {
  builtin.module {
    func.func private @declared()
  }
}
