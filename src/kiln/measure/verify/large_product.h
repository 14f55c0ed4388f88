// What verifying a large product costs, for the test and the benchmark that hold it against a bar.
#ifndef KILN_MEASURE_VERIFY_LARGE_PRODUCT_H
#define KILN_MEASURE_VERIFY_LARGE_PRODUCT_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/real.h"

namespace kiln::measure::verify {

// Seconds by the clock, and of all processors together.
struct Spent {
  double wall = 0, cpu = 0;
};

// One run of `work`, the best of `runs`: what else the machine does only adds to it.
inline Spent bestOf(int runs, const std::function<void()> &work) {
  Spent best;
  for (int run = 0; run < runs; ++run) {
    auto start = std::chrono::steady_clock::now();
    std::clock_t cpuStart = std::clock();
    work();
    double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double cpu = double(std::clock() - cpuStart) / CLOCKS_PER_SEC;
    best.wall = run == 0 ? wall : std::min(best.wall, wall);
    best.cpu = run == 0 ? cpu : std::min(best.cpu, cpu);
  }
  return best;
}

struct LargeProduct {
  Contraction contraction;
  std::vector<uint8_t> lhs, rhs, out;

  explicit LargeProduct(int64_t n)
      : contraction(Contraction::dense(1, n, n, n, ElementType::F32, ElementType::F32, ElementType::F32)),
        lhs(n * n * 4), rhs(n * n * 4), out(n * n * 4) {}

  // One operand of a wide pass has a few +-1 in each line, so that the product is computed in no time.
  void compute(Pass pass) {
    int64_t n = contraction.n;
    bool selectsRows = pass == Pass::WideRhs; // of rhs; otherwise columns of lhs
    auto a = numbers(lhs), b = numbers(rhs), c = numbers(out);
    std::ranges::fill(c, 0.0F);
    auto add = [&](int64_t i, int64_t j, int64_t p) { c[i * n + j] += a[i * n + p] * b[p * n + j]; };
    std::vector<std::pair<int64_t, int64_t>> chosen; // a row of lhs, or a column of rhs, with a position that is not 0
    for (int64_t x = 0; x < n; ++x)
      for (int64_t y = 0; y < n; ++y)
        if ((selectsRows ? a : b)[x * n + y] != 0)
          chosen.emplace_back(selectsRows ? x : y, selectsRows ? y : x);
    if (selectsRows) {
      for (auto [i, p] : chosen)
        for (int64_t j = 0; j < n; ++j)
          add(i, j, p);
    } else {
      for (int64_t i = 0; i < n; ++i)
        for (auto [j, p] : chosen)
          add(i, j, p);
    }
  }

private:
  static std::span<float> numbers(std::vector<uint8_t> &bytes) {
    return {reinterpret_cast<float *>(bytes.data()), bytes.size() / sizeof(float)};
  }
};

// Seconds of a whole verdict: all passes, with inputs, prefilled outputs and checks; not the candidate's own runs.
struct VerdictCost {
  Spent inputs, prefill, check;
  std::string error; // empty where every pass found the product right

  Spent total() const { return {inputs.wall + prefill.wall + check.wall, inputs.cpu + prefill.cpu + check.cpu}; }
};

// Of an n x n x n product in f32 that is right, on two threads. Each part is the best of `runs`.
inline VerdictCost costOfVerdict(int64_t n, int runs) {
  LargeProduct product(n);
  const Contraction &c = product.contraction;
  VerdictCost cost;
  auto add = [&](Spent &part, const std::function<void()> &work) {
    Spent spent = bestOf(runs, work);
    part.wall += spent.wall;
    part.cpu += spent.cpu;
  };
  auto fill = [&](Pass pass) {
    if (Status status = fillInputs(c, pass, 1, product.lhs, product.rhs); !status.ok())
      cost.error = status.message();
  };
  for (Pass pass : passesOf(c)) {
    add(cost.inputs, [&] { fill(pass); });
    add(cost.prefill, [&] { prefillOutput(c.result, pass, product.out); });
    // Computing the product of the pass `sums` would take long. Its check is of numbers of another pass: it does the
    // same with any.
    Pass numbers = pass == Pass::Sums ? Pass::WideLhs : pass;
    if (numbers != pass)
      fill(numbers);
    product.compute(numbers);
    add(cost.check, [&] {
      Verdict verdict = verdictOf(checkContraction(c, pass, 1, product.lhs, product.rhs, product.out));
      if (!verdict.ok())
        cost.error = verdict.explanation;
    });
  }
  // Any output takes as long to check, and computing the product would take long.
  add(cost.inputs, [&] {
    if (Status status = fillReal(c, 1, product.lhs, product.rhs); !status.ok())
      cost.error = status.message();
  });
  add(cost.prefill, [&] { prefillOutput(c.result, Pass::WideRhs, product.out); });
  std::ranges::fill(product.out, uint8_t(0));
  add(cost.check, [&] {
    checkReal(c, 1, TensorOperand(c.lhs, c.lhsLayout, product.lhs), TensorOperand(c.rhs, c.rhsLayout, product.rhs),
              product.out);
  });
  return cost;
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_LARGE_PRODUCT_H
