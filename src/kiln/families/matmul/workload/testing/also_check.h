// For tests: another look at what the tests of matrix products check.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_TESTING_ALSO_CHECK_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_TESTING_ALSO_CHECK_H

#include <functional>

#include "kiln/measure/workload.h"

namespace kiln::families {

// Looks at everything that is checked, and at what was found; empty but where a test's program fills it in.
using AlsoCheckProblem =
    std::function<void(const measure::Problem &problem, size_t pass, uint64_t seed, measure::Tensors inputs,
                       measure::Tensors outputs, const measure::verify::Verdict &verdict)>;
inline AlsoCheckProblem &alsoCheckProblem() {
  static AlsoCheckProblem function;
  return function;
}

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_TESTING_ALSO_CHECK_H
