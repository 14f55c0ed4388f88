// verdict_cost [N [RUNS]]: the seconds that verifying an NxNxN product in f32 (4096) takes on two threads: all passes,
// each part the best of RUNS (3). Prints what inputs, prefilled outputs and checks take, their sum, and the processors'
// time of all that. The product itself is not part of it.
#include <cstdio>
#include <cstdlib>

#include "kiln/measure/verify/large_product.h"

int main(int argc, char **argv) {
  long n = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 4096, runs = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 3;
  if (n < 1 || n > 16384 || runs < 1 || runs > 1000) {
    std::fprintf(stderr, "verdict_cost: N is 1 to 16384, and RUNS 1 to 1000\n");
    return 1;
  }
  kiln::measure::verify::VerdictCost cost = kiln::measure::verify::costOfVerdict(n, static_cast<int>(runs));
  if (!cost.error.empty()) {
    std::fprintf(stderr, "verdict_cost: a right product was rejected: %s\n", cost.error.c_str());
    return 1;
  }
  std::printf("%.6f %.6f %.6f %.6f %.6f\n", cost.inputs.wall, cost.prefill.wall, cost.check.wall, cost.total().wall,
              cost.total().cpu);
  return 0;
}
