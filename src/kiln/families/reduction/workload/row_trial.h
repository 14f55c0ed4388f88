// For tests: a problem with its memory.
#ifndef KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H
#define KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H

#include <gtest/gtest.h>

#include "kiln/families/reduction/workload/reduction_family.h"
#include "kiln/measure/verify/elements.h"

namespace kiln::families {

class RowTrial {
public:
  explicit RowTrial(const std::string &name, size_t pass = 0)
      : problem(*RowSpec::parse(name.starts_with("softmax") ? "softmax" : "reduction", name)), pass(pass) {
    inputType = spec().input();
    outputType = spec().output();
    input.resize(spec().rows * spec().columns * hal::elementTypeByteSize(spec().type));
    output.resize(count() * hal::elementTypeByteSize(spec().result));
    EXPECT_TRUE(
        problem.fillInputs(pass, 5, std::vector<measure::MutableTensor>{{inputType.type, inputType.shape, input}})
            .ok());
    problem.prefillOutputs(pass, std::vector<measure::MutableTensor>{out()});
  }

  const RowSpec &spec() const { return problem.spec(); }
  uint64_t count() const { return spec().isSoftmax() ? spec().rows * spec().columns : spec().rows; }
  std::vector<double> row(uint64_t row) const {
    std::vector<double> numbers(spec().columns);
    measure::verify::readElements(spec().type, input, row * spec().columns, numbers);
    return numbers;
  }
  double get(uint64_t element) const {
    double number;
    measure::verify::readElements(spec().result, output, element, {&number, 1});
    return number;
  }
  void set(uint64_t element, double value) {
    measure::verify::writeElement(spec().result, value,
                                  output.data() + element * hal::elementTypeByteSize(spec().result));
  }
  void compute() {
    Status status = problem.reference(std::vector<io::TensorSpan>{{inputType.type, inputType.shape, input}},
                                      std::vector<measure::MutableTensor>{out()});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  measure::verify::Verdict check() const {
    return problem.check(pass, 5, std::vector<io::TensorSpan>{{inputType.type, inputType.shape, input}},
                         std::vector<io::TensorSpan>{{outputType.type, outputType.shape, output}});
  }
  void expectCause(measure::verify::Cause cause, const std::string &part = "") const {
    measure::verify::Verdict verdict = check();
    EXPECT_STREQ(measure::verify::causeName(verdict.cause), measure::verify::causeName(cause))
        << problem.name() << ": " << verdict.explanation;
    EXPECT_NE(verdict.explanation.find(part), std::string::npos) << verdict.explanation;
  }

private:
  measure::MutableTensor out() { return {outputType.type, outputType.shape, output}; }

  RowProblem problem;
  size_t pass;
  measure::TensorType inputType, outputType;
  std::vector<uint8_t> input, output;
};

} // namespace kiln::families

#endif // KILN_FAMILIES_REDUCTION_WORKLOAD_ROW_TRIAL_H
