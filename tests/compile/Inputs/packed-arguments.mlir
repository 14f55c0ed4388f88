// CHECK-LABEL: odd
// CHECK: 5xi4=2 -4 6 -2 0
// CHECK-LABEL: bytes
// CHECK: c2 e6 00
// CHECK-LABEL: dynamic
// CHECK: 3x3xi4=[2 4 6][-8 -6 -4][-2 0 0]
// CHECK: 3x0xi4=[][][]
// CHECK-LABEL: values
// CHECK: 3xf4E2M1FN=0.5 -6 1.5
// CHECK-LABEL: range
// CHECK: 8 is out of the range of i4
// CHECK: 7 is out of the range of f4E2M1FN
// CHECK-LABEL: scalars
// CHECK: i4=-6
// CHECK: f8E4M3FN=3
// CHECK-LABEL: type
// CHECK: input0
func.func @twice(%a: tensor<5xi4>) -> tensor<5xi4> {
  %0 = arith.addi %a, %a : tensor<5xi4>
  return %0 : tensor<5xi4>
}
func.func @dynamic(%a: tensor<3x?xi4>) -> tensor<3x?xi4> {
  %0 = arith.addi %a, %a : tensor<3x?xi4>
  return %0 : tensor<3x?xi4>
}
func.func @floats(%a: tensor<3xf4E2M1FN>) -> tensor<3xf4E2M1FN> {
  return %a : tensor<3xf4E2M1FN>
}
func.func @scalars(%a: i4, %b: f8E4M3FN) -> (i4, f8E4M3FN) {
  %0 = arith.addi %a, %a : i4
  %1 = arith.addf %b, %b : f8E4M3FN
  return %0, %1 : i4, f8E4M3FN
}
