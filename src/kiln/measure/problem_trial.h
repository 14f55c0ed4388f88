// For tests of families: a problem with its memory, as it is verified.
#ifndef KILN_MEASURE_PROBLEM_TRIAL_H
#define KILN_MEASURE_PROBLEM_TRIAL_H

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "kiln/measure/verify/elements.h"
#include "kiln/measure/workload.h"

namespace kiln::measure {

// Looks at everything that tests of families check, and at what was found; empty but where a test's program fills it
// in.
using AlsoCheckProblem = std::function<void(const Problem &problem, size_t pass, uint64_t seed, Tensors inputs,
                                            Tensors outputs, const verify::Verdict &verdict)>;
inline AlsoCheckProblem &alsoCheckProblem() {
  static AlsoCheckProblem function;
  return function;
}

inline verify::Verdict checkProblem(const Problem &problem, size_t pass, uint64_t seed, Tensors inputs,
                                    Tensors outputs) {
  verify::Verdict verdict = problem.check(pass, seed, inputs, outputs);
  if (alsoCheckProblem())
    alsoCheckProblem()(problem, pass, seed, inputs, outputs, verdict);
  return verdict;
}

// The inputs of a pass, and one output as it is before the run. Copies share the problem.
class ProblemTrial {
public:
  explicit ProblemTrial(std::shared_ptr<const measure::Problem> problem, size_t pass = 0, uint64_t seed = 5)
      : problem(std::move(problem)), pass(pass), seed(seed), inputTypes(this->problem->inputs()),
        result(this->problem->outputs().front()), inputs(inputTypes.size()) {
    std::vector<measure::MutableTensor> tensors;
    for (size_t i = 0; i < inputTypes.size(); ++i) {
      inputs[i].resize(elementsOf(inputTypes[i]) * hal::elementTypeByteSize(inputTypes[i].type));
      tensors.push_back({inputTypes[i].type, inputTypes[i].shape, inputs[i]});
    }
    output.resize(count() * outputSize());
    Status status = this->problem->fillInputs(pass, seed, tensors);
    EXPECT_TRUE(status.ok()) << status.message();
    this->problem->prefillOutputs(pass, std::vector<measure::MutableTensor>{out()});
  }

  size_t passes() const { return problem->passes().size(); }
  uint64_t count() const { return elementsOf(result); }
  hal::ElementType outputType() const { return result.type; }
  uint64_t outputSize() const { return hal::elementTypeByteSize(result.type); }
  std::span<uint8_t> outputBytes() { return output; }

  double input(size_t which, uint64_t element) const { return number(inputTypes[which].type, inputs[which], element); }
  std::vector<double> inputRow(size_t which, uint64_t row) const {
    std::vector<double> numbers(inputTypes[which].shape.back());
    measure::verify::readElements(inputTypes[which].type, inputs[which], row * numbers.size(), numbers);
    return numbers;
  }
  double get(uint64_t element) const { return number(result.type, output, element); }
  void set(uint64_t element, double value) {
    measure::verify::writeElement(result.type, value, output.data() + element * outputSize());
  }
  // By the reference.
  void compute() {
    Status status = problem->reference(spans(), std::vector<measure::MutableTensor>{out()});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  measure::verify::Verdict check() const {
    return checkProblem(*problem, pass, seed, spans(),
                        std::vector<io::TensorSpan>{{result.type, result.shape, output}});
  }
  void expectCause(measure::verify::Cause cause, const std::string &part = "") const {
    measure::verify::Verdict verdict = check();
    EXPECT_STREQ(measure::verify::causeName(verdict.cause), measure::verify::causeName(cause))
        << problem->name() << ": " << verdict.explanation;
    EXPECT_NE(verdict.explanation.find(part), std::string::npos) << verdict.explanation;
  }

private:
  static uint64_t elementsOf(const measure::TensorType &tensor) {
    uint64_t count = 1;
    for (uint64_t extent : tensor.shape)
      count *= extent;
    return count;
  }
  static double number(hal::ElementType type, std::span<const uint8_t> bytes, uint64_t element) {
    double value;
    measure::verify::readElements(type, bytes, element, {&value, 1});
    return value;
  }
  std::vector<io::TensorSpan> spans() const {
    std::vector<io::TensorSpan> all;
    for (size_t i = 0; i < inputs.size(); ++i)
      all.push_back({inputTypes[i].type, inputTypes[i].shape, inputs[i]});
    return all;
  }
  measure::MutableTensor out() { return {result.type, result.shape, output}; }

  std::shared_ptr<const measure::Problem> problem;
  size_t pass;
  uint64_t seed;
  std::vector<measure::TensorType> inputTypes;
  measure::TensorType result;
  std::vector<std::vector<uint8_t>> inputs;
  std::vector<uint8_t> output;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROBLEM_TRIAL_H
