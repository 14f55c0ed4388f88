// A loop on the host, without any work for a device: how many steps n takes to 1, halved where even, else 3 n + 1.
module @host_loop {
  func.func @steps(%n: i64) -> i64 {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c3 = arith.constant 3 : i64
    %result:2 = scf.while (%x = %n, %steps = %c0) : (i64, i64) -> (i64, i64) {
      %more = arith.cmpi ne, %x, %c1 : i64
      scf.condition(%more) %x, %steps : i64, i64
    } do {
    ^bb0(%x: i64, %steps: i64):
      %bit = arith.andi %x, %c1 : i64
      %odd = arith.cmpi eq, %bit, %c1 : i64
      %half = arith.shrui %x, %c1 : i64
      %triple = arith.muli %x, %c3 : i64
      %up = arith.addi %triple, %c1 : i64
      %next = arith.select %odd, %up, %half : i64
      %counted = arith.addi %steps, %c1 : i64
      scf.yield %next, %counted : i64, i64
    }
    return %result#1 : i64
  }
}
