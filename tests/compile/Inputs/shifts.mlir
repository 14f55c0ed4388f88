// Shifts by amounts that a call gives, and questions that become comparisons, of tensors of any length.
func.func @scalars(%a: i32, %n: i32) -> (i32, i32, i32, i64) {
  %0 = arith.shli %a, %n : i32
  %1 = arith.shrui %a, %n : i32
  %2 = arith.shrsi %a, %n : i32
  %c2 = arith.constant 2 : i32
  %double = arith.muli %n, %c2 : i32
  %m = arith.extui %double : i32 to i64
  %one = arith.constant 1 : i64
  %3 = arith.shli %one, %m : i64
  return %0, %1, %2, %3 : i32, i32, i32, i64
}

func.func @dynamic(%a: tensor<?xi32>, %n: tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) {
  %0 = arith.shli %a, %n : tensor<?xi32>
  %1 = arith.shrui %a, %n : tensor<?xi32>
  %2 = arith.shrsi %a, %n : tensor<?xi32>
  return %0, %1, %2 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>
}

func.func @questions(%a: tensor<?xf32>) -> (tensor<?xi1>, tensor<?xi1>) {
  %0 = math.isinf %a : tensor<?xf32>
  %1 = math.isnormal %a : tensor<?xf32>
  return %0, %1 : tensor<?xi1>, tensor<?xi1>
}
