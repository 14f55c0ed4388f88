// For tests: a problem on rows with its memory.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H

#include "kiln/families/problem_trial.h"
#include "kiln/families/reduction/workload/reduction_family.h"

namespace kiln::families {

class RowTrial : public ProblemTrial {
public:
  explicit RowTrial(const std::string &name, size_t pass = 0) : RowTrial(parsed(name), pass) {}

  const RowSpec &spec() const { return rowSpec; }
  std::vector<double> row(uint64_t row) const { return inputRow(0, row); }

private:
  RowTrial(const RowSpec &spec, size_t pass) : ProblemTrial(std::make_shared<RowProblem>(spec), pass), rowSpec(spec) {}
  static RowSpec parsed(const std::string &name) {
    return *RowSpec::parse(name.starts_with("softmax") ? "softmax" : "reduction", name);
  }

  RowSpec rowSpec;
};

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H
