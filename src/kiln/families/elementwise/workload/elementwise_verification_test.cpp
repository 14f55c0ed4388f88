// Right results pass, and each mistake is rejected under its name.
#include "kiln/families/elementwise/workload/elementwise_verification.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>

#include "kiln/families/elementwise/workload/elementwise_family.h"
#include "kiln/measure/problem_trial.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {
namespace {

using measure::MutableTensor;
using measure::verify::Cause;
using measure::verify::Verdict;

// A problem with its memory.
class Trial {
public:
  explicit Trial(const std::string &name, size_t pass = 0) : problem(*ElementwiseSpec::parse(name)), pass(pass) {
    shape = problem.spec().shape;
    uint64_t bytes = problem.spec().elements() * hal::elementTypeByteSize(problem.spec().type);
    inputs.assign(problem.spec().op->inputs, std::vector<uint8_t>(bytes));
    output.resize(bytes);
    std::vector<MutableTensor> in;
    for (std::vector<uint8_t> &input : inputs)
      in.push_back({problem.spec().type, shape, input});
    EXPECT_TRUE(problem.fillInputs(pass, 3, in).ok());
    problem.prefillOutputs(pass, std::vector<MutableTensor>{out()});
  }
  MutableTensor out() { return {problem.spec().type, shape, output}; }
  std::vector<io::TensorSpan> in() const {
    std::vector<io::TensorSpan> spans;
    for (const std::vector<uint8_t> &input : inputs)
      spans.push_back({problem.spec().type, shape, input});
    return spans;
  }
  void compute() { ASSERT_TRUE(problem.reference(in(), std::vector<MutableTensor>{out()}).ok()); }
  Verdict check() {
    return measure::checkProblem(problem, pass, 3, in(),
                                 std::vector<io::TensorSpan>{{problem.spec().type, shape, output}});
  }
  uint64_t count() const { return problem.spec().elements(); }
  double get(uint64_t element) const { return read(output, element); }
  double input(size_t i, uint64_t element) const { return read(inputs[i], element); }
  void set(uint64_t element, double value) {
    measure::verify::writeElement(problem.spec().type, value, output.data() + element * size());
  }

private:
  uint64_t size() const { return hal::elementTypeByteSize(problem.spec().type); }
  double read(const std::vector<uint8_t> &bytes, uint64_t element) const {
    double number;
    measure::verify::readElements(problem.spec().type, bytes, element, {&number, 1});
    return number;
  }

  ElementwiseProblem problem;
  size_t pass;
  std::vector<uint64_t> shape;
  std::vector<std::vector<uint8_t>> inputs;
  std::vector<uint8_t> output;
};

TEST(ElementwiseVerification, TheReferencePasses) {
  for (const ElementwiseOp &op : elementwiseOps())
    for (const char *type : {"f32", "f16", "bf16", "i32"}) {
      std::string name = fmt::format("elementwise_{}_37x113_{}", op.name, type);
      if (!ElementwiseSpec::parse(name).ok())
        continue;
      for (size_t pass = 0; pass < kElementwisePasses; ++pass) {
        Trial run(name, pass);
        run.compute();
        Verdict verdict = run.check();
        EXPECT_TRUE(verdict.ok()) << name << ", pass " << pass << ": " << verdict.explanation;
        EXPECT_EQ(verdict.total, 37U * 113);
        EXPECT_EQ(verdict.escapeProbability, 0);
      }
    }
}

// Arithmetic in f32, as a program does it, is within the bounds.
TEST(ElementwiseVerification, SinglePrecisionPasses) {
  const std::pair<const char *, std::function<float(float)>> functions[] = {
      {"exp", [](float x) { return std::exp(x); }},
      {"tanh", [](float x) { return std::tanh(x); }},
      {"sigmoid", [](float x) { return 1.0f / (1.0f + std::exp(-x)); }},
      {"gelu", [](float x) { return 0.5f * x * (1.0f + std::erf(x * 0.70710678f)); }},
      {"gelu_tanh", [](float x) { return 0.5f * x * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x))); }},
      {"relu", [](float x) { return x > 0 ? x : 0; }},
      {"sqrt", [](float x) { return std::sqrt(x); }}};
  for (const auto &[op, function] : functions)
    for (const char *type : {"f32", "f16", "bf16"})
      for (size_t pass = 0; pass < kElementwisePasses; ++pass) {
        Trial run(fmt::format("elementwise_{}_97x101_{}", op, type), pass);
        for (uint64_t i = 0; i < run.count(); ++i)
          run.set(i, function(static_cast<float>(run.input(0, i))));
        Verdict verdict = run.check();
        EXPECT_TRUE(verdict.ok()) << op << " " << type << ", pass " << pass << ": " << verdict.explanation;
      }
}

// Integers wrap around, as the program's do.
TEST(ElementwiseVerification, IntegersWrapAround) {
  Trial run("elementwise_mul_1001_i32", 1);
  bool wrapped = false;
  for (uint64_t i = 0; i < run.count(); ++i) {
    auto x = static_cast<uint32_t>(static_cast<int32_t>(run.input(0, i)));
    auto y = static_cast<uint32_t>(static_cast<int32_t>(run.input(1, i)));
    run.set(i, static_cast<int32_t>(x * y));
    wrapped |= run.input(0, i) * run.input(1, i) > 4e9;
  }
  EXPECT_TRUE(wrapped);
  EXPECT_TRUE(run.check().ok());
}

void expectCause(Trial &run, Cause cause, const std::string &part = "") {
  Verdict verdict = run.check();
  EXPECT_STREQ(measure::verify::causeName(verdict.cause), measure::verify::causeName(cause)) << verdict.explanation;
  EXPECT_NE(verdict.explanation.find(part), std::string::npos) << verdict.explanation;
  EXPECT_GT(verdict.wrong, 0U);
}

constexpr const char *kNames[] = {"elementwise_add_37x113_f32",       "elementwise_gelu_37x113_f16",
                                  "elementwise_gelu_tanh_37x113_f32", "elementwise_exp_37x113_f32",
                                  "elementwise_mul_37x113_i32",       "elementwise_sqrt_37x113_bf16"};

TEST(ElementwiseVerification, OneUnitInOneElementIsFound) {
  for (const char *name : {"elementwise_add_37x113_f32", "elementwise_mul_37x113_bf16", "elementwise_sqrt_4181_f32"}) {
    Trial run(name);
    run.compute();
    double right = run.get(4180);
    run.set(4180, right + 2 * measure::verify::halfSpacing(ElementwiseSpec::parse(name)->type, right));
    expectCause(run, Cause::WrongElements, "1 of 4181 elements are wrong");
  }
}

TEST(ElementwiseVerification, NothingWritten) {
  for (const char *name : kNames) {
    Trial run(name);
    expectCause(run, Cause::NothingWritten, "the output is as it was before the run");
  }
}

TEST(ElementwiseVerification, DroppedTail) {
  for (const char *name : kNames) {
    Trial flat(name), columns(name);
    flat.compute();
    columns.compute();
    Trial before(name);
    for (uint64_t i = 4176; i < flat.count(); ++i)
      flat.set(i, before.get(i));
    for (uint64_t row = 0; row < 37; ++row)
      columns.set(row * 113 + 112, before.get(row * 113 + 112));
    expectCause(flat, Cause::DroppedTail, "the last 5 elements");
    expectCause(columns, Cause::DroppedTail, "the last 1 of 113 columns");
  }
}

TEST(ElementwiseVerification, OutputsThatAreAddedTo) {
  for (const char *name : kNames) {
    Trial run(name), before(name);
    run.compute();
    for (uint64_t i = 0; i < run.count(); ++i)
      run.set(i, run.get(i) + before.get(i));
    expectCause(run, Cause::NotZeroed);
  }
}

TEST(ElementwiseVerification, NotANumber) {
  Trial run("elementwise_tanh_37x113_f32");
  run.compute();
  for (uint64_t i = 0; i < run.count(); i += 3)
    run.set(i, NAN);
  expectCause(run, Cause::NotANumber);
}

TEST(ElementwiseVerification, NarrowedInputs) {
  for (const char *op : {"add", "mul", "exp", "sqrt", "relu"})
    for (const measure::verify::FloatFormat &format :
         {measure::verify::kFormatTF32, measure::verify::kFormatBF16, measure::verify::kFormatF16}) {
      std::string name = fmt::format("elementwise_{}_37x113_f32", op);
      Trial run(name);
      ElementwiseSpec spec = *ElementwiseSpec::parse(name);
      for (uint64_t i = 0; i < run.count(); ++i) {
        double y = spec.op->inputs > 1 ? run.input(1, i) : 0;
        run.set(i, expectedElement(spec, measure::verify::roundTo(format, run.input(0, i)),
                                   measure::verify::roundTo(format, y))
                       .value);
      }
      expectCause(run, Cause::NarrowedInputs);
    }
}

// Special values that one branch gets wrong.
TEST(ElementwiseVerification, SpecialValues) {
  struct Case {
    const char *name;
    std::function<bool(double)> where;
    double wrong;
  };
  const Case cases[] = {
      {"elementwise_exp_37x113_f32", [](double x) { return x == -INFINITY; }, NAN},
      {"elementwise_tanh_37x113_f32", [](double x) { return x == INFINITY; }, NAN},
      {"elementwise_sqrt_37x113_f32", [](double x) { return x == 0x1p-149; }, 0},
      {"elementwise_relu_37x113_bf16", [](double x) { return x == INFINITY; }, 0},
      {"elementwise_sigmoid_37x113_f16", [](double x) { return x == -INFINITY; }, 1},
  };
  for (const Case &test : cases) {
    Trial run(test.name, 1);
    run.compute();
    EXPECT_TRUE(run.check().ok());
    bool planted = false;
    for (uint64_t i = 0; i < run.count(); ++i)
      if (test.where(run.input(0, i))) {
        run.set(i, test.wrong);
        planted = true;
      }
    EXPECT_TRUE(planted) << test.name;
    EXPECT_FALSE(run.check().ok()) << test.name;
  }
}

} // namespace
} // namespace kiln::families
