#include "kiln/measure/corpus/corpus_problem.h"

#include <cmath>
#include <cstring>

#include "gtest/gtest.h"

namespace kiln::measure::corpus {
namespace {

using io::ElementType;
using verify::Cause;
using verify::Verdict;

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

Status computeNegative(std::span<const io::TensorSpan> inputs, std::span<const MutableTensor> outputs) {
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
