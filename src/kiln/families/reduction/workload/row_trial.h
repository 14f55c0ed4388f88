// For tests: a problem on rows with its memory.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H

#include "kiln/families/reduction/workload/reduction_family.h"
#include "kiln/families/reduction/workload/row_inputs.h"
#include "kiln/measure/problem_trial.h"

namespace kiln::families {

class RowTrial : public measure::ProblemTrial {
public:
  explicit RowTrial(const std::string &name, size_t pass = 0, uint64_t seed = 5) : RowTrial(parsed(name), pass, seed) {}

  const RowSpec &spec() const { return rowSpec; }
  std::vector<double> row(uint64_t row) const {
    RowPlace place = placeOfRow(rowSpec, row);
    std::vector<double> numbers;
    for (uint64_t c = 0; c < rowSpec.columns; ++c)
      numbers.push_back(input(0, place.start + c * place.step));
    return numbers;
  }

private:
  RowTrial(const RowSpec &spec, size_t pass, uint64_t seed)
      : measure::ProblemTrial(std::make_shared<RowProblem>(spec), pass, seed), rowSpec(spec) {}
  static RowSpec parsed(const std::string &name) {
    return *RowSpec::parse(name.starts_with("softmax") ? "softmax" : "reduction", name);
  }

  RowSpec rowSpec;
};

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H
