#include "kiln/measure/corpus/corpus_problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gtest/gtest.h"

namespace kiln::measure::corpus {
namespace {

using io::ElementType;
using verify::Cause;
using verify::Verdict;

constexpr uint64_t kMillisecond = 1'000'000;

Program program(std::vector<TensorType> inputs, std::vector<TensorType> outputs) {
  Program program;
  program.path = "dir/blocks/mlp.mlir";
  program.file = "blocks/mlp.mlir";
  program.place = "blocks/mlp";
  program.function = "main";
  program.signature = {std::move(inputs), std::move(outputs)};
  return program;
}
Program negate() {
  return program({{ElementType::F32, {4}}}, {{ElementType::F32, {4}}});
}

// Tensors of a problem, as the lab has them.
struct Memory {
  explicit Memory(const std::vector<TensorType> &types) {
    for (const TensorType &type : types) {
      Result<io::HostTensor> tensor = io::HostTensor::zeros(type.type, type.shape);
      EXPECT_TRUE(tensor.ok());
      tensors.push_back(*std::move(tensor));
    }
  }
  std::vector<MutableTensor> set() {
    std::vector<MutableTensor> spans;
    for (io::HostTensor &tensor : tensors)
      spans.push_back({tensor.type(), tensor.shape(), tensor.bytes()});
    return spans;
  }
  std::vector<io::TensorSpan> view() const {
    std::vector<io::TensorSpan> spans;
    for (const io::HostTensor &tensor : tensors)
      spans.push_back(tensor.span());
    return spans;
  }
  std::vector<io::HostTensor> tensors;
};

void floats(std::span<uint8_t> bytes, const std::vector<float> &values) {
  ASSERT_EQ(bytes.size(), values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
}

Status computeNegative(measure::Tensors inputs, measure::MutableTensors outputs) {
  for (size_t i = 0; i < outputs[0].bytes.size(); ++i)
    outputs[0].bytes[i] = inputs[0].bytes[i] ^ (i % 4 == 3 ? 0x80 : 0);
  return okStatus();
}

TEST(CorpusProblem, IsNamedByPlaceFunctionAndTypes) {
  Program one = negate();
  EXPECT_EQ(problemName(one), "corpus_blocks_mlp_4xf32_4xf32");
  one.only = false;
  one.function = "a b";
  EXPECT_EQ(problemName(one), "corpus_blocks_mlp_a_b_4xf32_4xf32");
  std::vector<TensorType> many(20, {ElementType::F32, {128, 256}});
  std::string hashed = problemName(program(many, many));
  EXPECT_EQ(hashed.size(), std::string("corpus_blocks_mlp_01234567").size()) << hashed;
  many.pop_back();
  EXPECT_NE(problemName(program(many, many)), hashed);
  Program deep = negate();
  deep.place = std::string(300, 'x');
  EXPECT_LT(problemName(deep).size(), 200u);
  Program unread;
  unread.place = "broken";
  EXPECT_EQ(problemName(unread), "corpus_broken");
}

TEST(CorpusProblem, WhatABaselineComputesIsSelfConsistent) {
  CorpusProblem problem(negate());
  problem.setBaseline(computeNegative);
  ASSERT_EQ(problem.passes().size(), 2u);
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  for (size_t pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(problem.fillInputs(pass, 3, inputs.set()).ok());
    problem.prefillOutputs(pass, outputs.set());
    EXPECT_EQ(problem.check(pass, 3, inputs.view(), outputs.view()).cause, Cause::NothingWritten);
    ASSERT_TRUE(computeNegative(inputs.view(), outputs.set()).ok());
    Verdict verdict = problem.check(pass, 3, inputs.view(), outputs.view());
    EXPECT_TRUE(verdict.ok()) << verdict.explanation;
    EXPECT_EQ(verdict.method, "self-consistent: within 0.00024 of max(|x|, rms) as an unoptimized build");
    EXPECT_EQ(verdict.escapeProbability, 1);
    outputs.tensors[0].bytes()[3] ^= 0x80;
    EXPECT_FALSE(problem.check(pass, 3, inputs.view(), outputs.view()).ok());
  }
}

TEST(CorpusProblem, ABuildInF64IsAGoldenOfItsOwnNameAndNoVerification) {
  CorpusProblem problem(negate());
  EXPECT_FALSE(problem.hasNarrowFloats());
  problem.setNarrowestFloat(ElementType::F64);
  EXPECT_FALSE(problem.hasNarrowFloats());
  problem.setNarrowestFloat(ElementType::F32);
  EXPECT_TRUE(problem.hasNarrowFloats());
  problem.setWideBaseline(computeNegative);
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  ASSERT_TRUE(problem.fillInputs(0, 3, inputs.set()).ok());
  ASSERT_TRUE(computeNegative(inputs.view(), outputs.set()).ok());
  Verdict verdict = problem.check(0, 3, inputs.view(), outputs.view());
  EXPECT_EQ(verdict.method, "f64 golden: within 0.00024 of max(|x|, rms) as an unoptimized build that computes in f64");
  EXPECT_EQ(verdict.escapeProbability, 1);
  CorpusProblem other(negate());
  other.setBaseline(computeNegative);
  other.setNoWideBaseline("it reads bits");
  EXPECT_EQ(
      other.check(0, 3, inputs.view(), outputs.view()).method,
      "self-consistent: within 0.00024 of max(|x|, rms) as an unoptimized build, and no f64 golden: it reads bits");
}

// A program whose own arithmetic loses more than the tolerance is not wrong for that.
TEST(CorpusProblem, WhereRoundingDecidesTheProgramsOwnTypesCount) {
  CorpusProblem problem(negate());
  problem.setBaseline(computeNegative);
  problem.setWideBaseline([](auto, auto outputs) {
    floats(outputs[0].bytes, {9, 9, 9, 9});
    return okStatus();
  });
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  ASSERT_TRUE(problem.fillInputs(0, 3, inputs.set()).ok());
  ASSERT_TRUE(computeNegative(inputs.view(), outputs.set()).ok());
  Verdict verdict = problem.check(0, 3, inputs.view(), outputs.view());
  EXPECT_TRUE(verdict.ok()) << verdict.explanation;
  EXPECT_TRUE(verdict.method.starts_with("self-consistent: ")) << verdict.method;
  EXPECT_NE(verdict.method.find("rounding decides"), std::string::npos) << verdict.method;
  std::unique_ptr<verify::TimedCheck> check = problem.timedCheck(inputs.view(), 1);
  ASSERT_NE(check, nullptr);
  EXPECT_TRUE(check->check(outputs.view()).ok());
}

// What is rounded to bf16 on the way is known to no more than half of its bits.
TEST(CorpusProblem, TheNarrowestFloatThatIsComputedInSetsTheTolerance) {
  CorpusProblem problem(negate());
  problem.setBaseline(computeNegative);
  problem.setNarrowestFloat(ElementType::BF16);
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  ASSERT_TRUE(problem.fillInputs(0, 3, inputs.set()).ok());
  ASSERT_TRUE(computeNegative(inputs.view(), outputs.set()).ok());
  EXPECT_EQ(problem.check(0, 3, inputs.view(), outputs.view()).method,
            "self-consistent: within 0.062 of max(|x|, rms) as an unoptimized build");
}

//===--- Known operations ----------------------------------------------------------------------------------------===//

// Of a family that knows everything: it has one pass and counts what it is asked.
class KnownProblem final : public Problem {
public:
  std::string_view family() const override { return "known"; }
  std::string name() const override { return "known_4"; }
  Fields fields() const override { return {{"n", "4"}}; }
  std::vector<TensorType> inputs() const override { return {{ElementType::F32, {4}}}; }
  std::vector<TensorType> outputs() const override { return {{ElementType::F32, {4}}}; }
  bool isWeight(size_t) const override { return true; }
  TimingNumbers timingNumbers(size_t) const override { return {0, 1}; }
  double flops() const override { return 8; }
  std::string mlir(std::string_view, std::string_view) const override { return "known"; }
  std::vector<std::string> passes() const override { return {"exact"}; }
  Status fillInputs(size_t, uint64_t, measure::MutableTensors inputs) const override {
    floats(inputs[0].bytes, {1, 2, 3, 4});
    return okStatus();
  }
  Verdict check(size_t, uint64_t, measure::Tensors, measure::Tensors) const override {
    Verdict verdict;
    verdict.method = "known";
    return verdict;
  }
  std::unique_ptr<verify::TimedCheck> timedCheck(measure::Tensors, uint64_t) const override {
    struct Check final : verify::TimedCheck {
      Verdict check(measure::Tensors) const override { return {}; }
    };
    return std::make_unique<Check>();
  }
};

TEST(CorpusProblem, AKnownOperationIsCheckedByItsFamily) {
  CorpusProblem problem(negate());
  EXPECT_TRUE(problem.needsBaseline());
  EXPECT_EQ(problem.operation().name(), problem.name());
  problem.setOperation(std::make_unique<KnownProblem>());
  EXPECT_FALSE(problem.needsBaseline());
  EXPECT_EQ(problem.operation().name(), "known_4");
  EXPECT_EQ(problem.name(), "corpus_blocks_mlp_4xf32_4xf32");
  EXPECT_EQ(problem.fields().back(), (std::pair<std::string, std::string>("operation", "known_4")));
  EXPECT_EQ(problem.passes(), std::vector<std::string>{"exact"});
  EXPECT_EQ(problem.flops(), 8);
  EXPECT_TRUE(problem.isWeight(0));
  EXPECT_EQ(problem.timingNumbers(0).low, 0);
  EXPECT_EQ(problem.mlir("", ""), "");
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  ASSERT_TRUE(problem.fillInputs(0, 1, inputs.set()).ok());
  EXPECT_EQ(problem.check(0, 1, inputs.view(), outputs.view()).method, "known");
  EXPECT_NE(problem.timedCheck(inputs.view(), 1), nullptr);
}

TEST(CorpusProblem, ExpectedResultsAreCheckedAfterThePassesOfAKnownOperation) {
  Program given = negate();
  for (std::vector<io::HostTensor> *list : {&given.goldens.inputs, &given.goldens.outputs})
    list->push_back(*io::HostTensor::zeros(ElementType::F32, std::vector<uint64_t>{4}));
  floats(given.goldens.outputs[0].bytes(), {5, 5, 5, 5});
  CorpusProblem problem(std::move(given));
  problem.setOperation(std::make_unique<KnownProblem>());
  ASSERT_EQ(problem.passes(), (std::vector<std::string>{"exact", "golden", "golden, in other memory"}));
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  ASSERT_TRUE(problem.fillInputs(1, 1, inputs.set()).ok());
  EXPECT_EQ(inputs.tensors[0].bytes()[3], 0) << "the file's";
  problem.prefillOutputs(1, outputs.set());
  EXPECT_EQ(problem.check(1, 1, inputs.view(), outputs.view()).cause, Cause::NothingWritten);
  floats(outputs.tensors[0].bytes(), {5, 5, 5, 5});
  EXPECT_EQ(problem.check(2, 1, inputs.view(), outputs.view()).method, "golden: within 0.00024 of max(|x|, rms)");
}

//===--- Timed calls ---------------------------------------------------------------------------------------------===//

TEST(CorpusProblem, TimedCallsAreComparedWithTheBaseline) {
  CorpusProblem problem(program({{ElementType::F32, {1024}}}, {{ElementType::F32, {1024}}}));
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  EXPECT_EQ(problem.timedCheck(inputs.view(), 1), nullptr) << "nothing to compare with";
  problem.setWideBaseline(computeNegative);
  ASSERT_TRUE(problem.fillInputs(0, 3, inputs.set()).ok());
  std::unique_ptr<verify::TimedCheck> check = problem.timedCheck(inputs.view(), 1);
  ASSERT_NE(check, nullptr);
  ASSERT_TRUE(computeNegative(inputs.view(), outputs.set()).ok());
  EXPECT_TRUE(check->check(outputs.view()).ok());
  std::span<uint8_t> bytes = outputs.tensors[0].bytes();
  for (size_t i = 0; i < 16; ++i)
    bytes[4 * i + 3] ^= 0x80;
  EXPECT_TRUE(check->check(outputs.view()).ok()) << "single elements may be on the other side of a decision";
  bytes[4 * 16 + 3] ^= 0x80;
  EXPECT_FALSE(check->check(outputs.view()).ok());
  ASSERT_TRUE(computeNegative(inputs.view(), outputs.set()).ok());
  std::fill_n(bytes.begin() + 40, 4, uint8_t(0xFF));
  EXPECT_FALSE(check->check(outputs.view()).ok()) << "one element was not written";
}

TEST(CorpusProblem, TimedCallsAreComparedAsOftenAsThereIsTime) {
  uint64_t now = kMillisecond;
  CorpusProblem problem(negate());
  problem.setClock([&] { return now; });
  problem.setWideBaseline([&](auto inputs, auto outputs) {
    now += 60 * kMillisecond;
    return computeNegative(inputs, outputs);
  });
  Memory inputs(problem.inputs());
  EXPECT_EQ(problem.fewestTimedChecks(), 8U);
  EXPECT_FALSE(problem.leavesOutTimedCheck(0)) << "the first is always";
  ASSERT_NE(problem.timedCheck(inputs.view(), 0), nullptr);
  auto leavesOut = [&] {
    int count = 0;
    for (uint64_t seed = 1; seed < 100; ++seed)
      count += problem.leavesOutTimedCheck(seed);
    return count;
  };
  EXPECT_EQ(leavesOut(), 99) << "so soon there is no time for another";
  now = kMillisecond + 20 * 60 * kMillisecond;
  EXPECT_EQ(leavesOut(), 99) << "a twentieth of the time is used up";
  now += kMillisecond;
  EXPECT_LT(leavesOut(), 99);
}

// The first request that is checked must not use up the time of those after it.
TEST(CorpusProblem, QuickOnesAreComparedInEachRequest) {
  uint64_t now = kMillisecond;
  CorpusProblem problem(negate());
  problem.setClock([&] { return now; });
  problem.setWideBaseline([&](auto inputs, auto outputs) {
    now += kMillisecond;
    return computeNegative(inputs, outputs);
  });
  Memory inputs(problem.inputs());
  for (uint64_t request = 0; request < 10; ++request) {
    int compared = 0;
    for (uint64_t set = 64 * request; set < 64 * (request + 1); ++set)
      compared += !problem.leavesOutTimedCheck(set) && problem.timedCheck(inputs.view(), set);
    EXPECT_EQ(compared, 1) << request;
    now += 10 * kMillisecond;
  }
}

// Programs whose inputs a user gives may have no meaning for others.
TEST(CorpusProblem, TimedCallsOfGivenInputsAreNotCompared) {
  Program given = negate();
  given.goldens.inputs.push_back(*io::HostTensor::zeros(ElementType::F32, std::vector<uint64_t>{4}));
  CorpusProblem problem(std::move(given));
  problem.setBaseline(computeNegative);
  Memory inputs(problem.inputs());
  EXPECT_EQ(problem.timedCheck(inputs.view(), 1), nullptr);
  EXPECT_EQ(problem.fewestTimedChecks(), 0U);
}

TEST(CorpusProblem, TheBaselineRunsOnceForAPass) {
  CorpusProblem problem(negate());
  int runs = 0;
  problem.setBaseline([&](auto inputs, auto outputs) {
    ++runs;
    return computeNegative(inputs, outputs);
  });
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  for (int candidate = 0; candidate < 3; ++candidate)
    (void)problem.check(0, 1, inputs.view(), outputs.view());
  EXPECT_EQ(runs, 1);
  (void)problem.check(1, 1, inputs.view(), outputs.view());
  EXPECT_EQ(runs, 2);
}

TEST(CorpusProblem, WithoutABaselineNothingPasses) {
  CorpusProblem problem(negate());
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  EXPECT_FALSE(problem.check(0, 1, inputs.view(), outputs.view()).ok());
  problem.setBaseline([](auto, auto) { return internalError("it crashed"); });
  Verdict verdict = problem.check(1, 1, inputs.view(), outputs.view());
  EXPECT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.explanation, "nothing to compare with: the unoptimized build: it crashed");
}

TEST(CorpusProblem, GoldensAreComparedWith) {
  Program given = negate();
  Memory in(given.signature.inputs), out(given.signature.outputs);
  floats(in.tensors[0].bytes(), {1, 2, 3, 4});
  floats(out.tensors[0].bytes(), {-1, -2, -3, -4});
  given.goldens = {std::move(in.tensors), std::move(out.tensors)};
  CorpusProblem problem(std::move(given));
  EXPECT_FALSE(problem.needsBaseline());
  Memory inputs(problem.inputs()), outputs(problem.outputs());
  for (size_t pass = 0; pass < problem.passes().size(); ++pass) {
    ASSERT_TRUE(problem.fillInputs(pass, 1, inputs.set()).ok());
    ASSERT_TRUE(computeNegative(inputs.view(), outputs.set()).ok());
    Verdict verdict = problem.check(pass, 1, inputs.view(), outputs.view());
    EXPECT_TRUE(verdict.ok()) << verdict.explanation;
    EXPECT_EQ(verdict.method, "golden: within 0.00024 of max(|x|, rms)");
    floats(outputs.tensors[0].bytes(), {-1, -2, -3, 4});
    verdict = problem.check(pass, 1, inputs.view(), outputs.view());
    EXPECT_EQ(verdict.wrong, 1u);
    EXPECT_TRUE(verdict.method.starts_with("golden"));
  }
}

TEST(CorpusProblem, InputsAreDeterministicAndOfTheirKind) {
  Program many = negate();
  many.signature.inputs = {{ElementType::F32, {1000}},
                           {ElementType::F16, {1000}},
                           {ElementType::I8, {1000}},
                           {ElementType::UI32, {1000}},
                           {ElementType::I1, {1000}}};
  CorpusProblem problem(std::move(many));
  Memory first(problem.inputs()), again(problem.inputs()), other(problem.inputs());
  for (size_t pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(problem.fillInputs(pass, 1, first.set()).ok());
    ASSERT_TRUE(problem.fillInputs(pass, 1, again.set()).ok());
    ASSERT_TRUE(problem.fillInputs(pass, 2, other.set()).ok());
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_TRUE(std::ranges::equal(first.tensors[i].bytes(), again.tensors[i].bytes())) << i;
      EXPECT_FALSE(std::ranges::equal(first.tensors[i].bytes(), other.tensors[i].bytes())) << i;
    }
    for (uint8_t bit : first.tensors[4].bytes())
      EXPECT_LE(bit, 1);
  }
  // The second pass: integers from -4 to 4, of types without a sign from 0 to 8.
  for (size_t i = 0; i < 1000; ++i) {
    float value;
    uint32_t natural;
    std::memcpy(&value, first.tensors[0].bytes().data() + 4 * i, 4);
    std::memcpy(&natural, first.tensors[3].bytes().data() + 4 * i, 4);
    EXPECT_EQ(value, std::round(value));
    EXPECT_LE(std::fabs(value), 4);
    EXPECT_LE(std::abs(int(int8_t(first.tensors[2].bytes()[i]))), 4);
    EXPECT_LE(natural, 8u);
  }
}

TEST(CorpusProblem, KnowsNoFlops) {
  CorpusProblem problem(negate());
  EXPECT_EQ(problem.flops(), 0);
  EXPECT_EQ(problem.bytes(), 32);
  EXPECT_EQ(problem.fields().front(), (std::pair<std::string, std::string>("file", "blocks/mlp.mlir")));
  Program edited = negate();
  edited.text += "\n// another line";
  EXPECT_EQ(problemName(edited), problemName(negate()));
  EXPECT_NE(CorpusProblem(std::move(edited)).fields(), problem.fields()) << "an edited file is another problem";
}

} // namespace
} // namespace kiln::measure::corpus
