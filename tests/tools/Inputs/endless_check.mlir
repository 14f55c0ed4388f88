func.func @before() {
  %true = util.unfoldable_constant true
  check.expect_true(%true) : i1
  return
}

func.func @endless() {
  %true = util.unfoldable_constant true
  %end = scf.while (%now = %true) : (i1) -> i1 {
    scf.condition(%now) %now : i1
  } do {
  ^bb0(%now: i1):
    %next = util.optimization_barrier %now : i1
    scf.yield %next : i1
  }
  check.expect_false(%end) : i1
  return
}

func.func @after() {
  %true = util.unfoldable_constant true
  check.expect_true(%true) : i1
  return
}
