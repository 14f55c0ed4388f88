#include "kiln/families/matmul/workload/matmul_family.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#include "kiln/base/narrow_float.h"
#include "kiln/families/families.h"
#include "kiln/measure/problem_trial.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {
namespace {

using measure::Problem;
using measure::verify::Verdict;

std::unique_ptr<Problem> parse(std::string_view name) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  Result<std::unique_ptr<Problem>> problem = registry.parse(name);
  EXPECT_TRUE(problem.ok()) << problem.status().toString();
  return *std::move(problem);
}

double tanhGelu(double x) {
  return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}

// A problem's tensors, and what the definition makes of them.
class Data {
public:
  explicit Data(const Problem &problem) : problem(problem) {
    for (const measure::TensorType &type : problem.inputs())
      inputs.push_back(zeros(type));
    output = zeros(problem.outputs()[0]);
  }

  Status fill(size_t pass, uint64_t seed) {
    std::vector<measure::MutableTensor> tensors;
    for (io::HostTensor &input : inputs)
      tensors.push_back({input.type(), input.shape(), input.bytes()});
    return problem.fillInputs(pass, seed, tensors);
  }

  Verdict check(size_t pass, uint64_t seed) {
    std::vector<io::TensorSpan> spans;
    for (io::HostTensor &input : inputs)
      spans.push_back(input.span());
    io::TensorSpan outputs[] = {output->span()};
    return measure::checkProblem(problem, pass, seed, spans, outputs);
  }

  // Straight from the definition, in double, which is exact for the sums of verification; rounded once.
  void compute() {
    compute([&](double sum, double bias) {
      switch (spec().epilogue) {
      case Epilogue::None: return sum;
      case Epilogue::Bias: return sum + bias;
      case Epilogue::BiasRelu: return std::max(sum + bias, 0.0);
      case Epilogue::BiasGelu: return 0.5 * (sum + bias) * std::erfc(-(sum + bias) * std::sqrt(0.5));
      case Epilogue::BiasGeluTanh: return tanhGelu(sum + bias);
      }
      return sum;
    });
  }
  // As something else finishes the sums. `mistake` may change an element's sum.
  void compute(const std::function<double(double sum, double bias)> &finish,
               const std::function<double(uint64_t m, uint64_t n, double sum)> &mistake = {}) {
    const MatmulSpec &s = spec();
    for (uint64_t b = 0; b < s.batch; ++b)
      for (uint64_t m = 0; m < s.m; ++m)
        for (uint64_t n = 0; n < s.n; ++n) {
          double sum = 0;
          for (uint64_t k = 0; k < s.k; ++k)
            sum += left(b, m, k) * right(b, k, n);
          if (mistake)
            sum = mistake(m, n, sum);
          store(*output, (b * s.m + m) * s.n + n, finish(sum, inputs.size() > 2 ? load(inputs[2], n) : 0));
        }
  }
  double left(uint64_t b, uint64_t m, uint64_t k) const {
    const MatmulSpec &s = spec();
    return load(inputs[0], s.lhs.columnMajor ? (b * s.k + k) * s.m + m : (b * s.m + m) * s.k + k);
  }
  double right(uint64_t b, uint64_t k, uint64_t n) const {
    const MatmulSpec &s = spec();
    return load(inputs[1], s.rhs.columnMajor ? (b * s.n + n) * s.k + k : (b * s.k + k) * s.n + n);
  }
  const MatmulSpec &spec() const { return dynamic_cast<const MatmulProblem &>(problem).spec(); }

  Status reference() {
    std::vector<io::TensorSpan> spans;
    for (io::HostTensor &input : inputs)
      spans.push_back(input.span());
    measure::MutableTensor outputs[] = {{output->type(), output->shape(), output->bytes()}};
    return problem.reference(spans, outputs);
  }

  static double load(const io::HostTensor &tensor, uint64_t index) {
    auto as = [&]<typename T>(T value) {
      std::memcpy(&value, tensor.bytes().data() + index * sizeof(T), sizeof(T));
      return value;
    };
    switch (tensor.type()) {
    case ElementType::F32: return as(0.0F);
    case ElementType::F16: return kF16.decode(as(uint16_t(0)));
    case ElementType::BF16: return kBF16.decode(as(uint16_t(0)));
    case ElementType::I8: return as(int8_t(0));
    default: return as(int32_t(0));
    }
  }
  static void store(io::HostTensor &tensor, uint64_t index, double value) {
    auto as = [&](auto element) {
      std::memcpy(tensor.bytes().data() + index * sizeof(element), &element, sizeof(element));
    };
    switch (tensor.type()) {
    case ElementType::F32: return as(static_cast<float>(value));
    case ElementType::F16: return as(kF16.encode(value));
    case ElementType::BF16: return as(kBF16.encode(value));
    default: return as(static_cast<int32_t>(value));
    }
  }

  std::vector<io::HostTensor> inputs;
  std::optional<io::HostTensor> output;

private:
  static io::HostTensor zeros(const measure::TensorType &type) {
    Result<io::HostTensor> tensor = io::HostTensor::zeros(type.type, type.shape);
    EXPECT_TRUE(tensor.ok());
    return *std::move(tensor);
  }
  const Problem &problem;
};

TEST(MatmulFamily, ConvolutionsAreOthers) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  const measure::Family *matmul = *registry.find("matmul");
  auto problems = matmul->problems({{{"n", {2}}, {"h", {8}}, {"w", {8}}, {"c", {3}}, {"f", {4}}}, {"f32"}, {}});
  ASSERT_TRUE(problems.ok()) << problems.status().toString();
  EXPECT_TRUE(problems->empty());
  EXPECT_FALSE(matmul->problems({{{"n", {2}}}, {"f32"}, {}}).ok());
}

TEST(MatmulFamily, AllAreRegistered) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  for (const char *name : {"matmul", "batch_matmul", "matmul_bias", "matmul_bias_relu", "matmul_bias_gelu",
                           "matmul_bias_gelu_tanh", "matmul_splitk"}) {
    Result<const measure::Family *> family = registry.find(name);
    ASSERT_TRUE(family.ok()) << name;
    EXPECT_EQ((*family)->name(), name);
  }
  EXPECT_EQ(parse("matmul_bias_relu_2x3x4_f32t_f32t_f32t")->family(), "matmul_bias_relu");
  EXPECT_EQ(parse("matmul_splitk_serial_2_2x3x4_f32t_f32t_f32t_partf32")->family(), "matmul_splitk");
  EXPECT_NE(registry.find("matmol").status().message().find("did you mean 'matmul'"), std::string_view::npos);
  EXPECT_EQ(parse("matmul_2x3x4_f32t_f32t_f32t")->family(), "matmul");
  EXPECT_EQ(parse("batch_matmul_2x2x3x4_f32t_f32t_f32t")->family(), "batch_matmul");
}

TEST(MatmulFamily, FieldsFlopsAndBytes) {
  std::unique_ptr<Problem> problem = parse("batch_matmul_16x512x64x512_f16t_f16n_f16t");
  EXPECT_EQ(problem->fields(), (std::vector<std::pair<std::string, std::string>>{{"batch_count", "16"},
                                                                                 {"m", "512"},
                                                                                 {"n", "64"},
                                                                                 {"k", "512"},
                                                                                 {"lhs", "f16t"},
                                                                                 {"rhs", "f16n"},
                                                                                 {"result", "f16t"},
                                                                                 {"accumulator", "f32"}}));
  EXPECT_EQ(problem->flops(), 2.0 * 16 * 512 * 64 * 512);
  EXPECT_EQ(problem->bytes(), 2.0 * 16 * (512 * 512 + 512 * 64 + 512 * 64));
  EXPECT_EQ(parse("matmul_4x5x6_i8t_i8t_i32t")->bytes(), 4 * 6 + 6 * 5 + 4 * 4 * 5);
  EXPECT_EQ(parse("matmul_4x5x6_f16t_f16t_f16t_accf16")->fields().back().second, "f16");
}

TEST(MatmulFamily, FieldsOfEpiloguesAndSplits) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  std::unique_ptr<Problem> fused = parse("matmul_bias_relu_4x5x6_f16t_f16n_f16t");
  EXPECT_EQ(fused->fields(), (Fields{{"batch_count", "1"},
                                     {"m", "4"},
                                     {"n", "5"},
                                     {"k", "6"},
                                     {"lhs", "f16t"},
                                     {"rhs", "f16n"},
                                     {"result", "f16t"},
                                     {"accumulator", "f32"},
                                     {"epilogue", "bias_relu"}}));
  EXPECT_EQ(fused->bytes(), 2 * (4 * 6 + 6 * 5 + 4 * 5 + 5));
  ASSERT_EQ(fused->inputs().size(), 3U);
  EXPECT_EQ(fused->inputs()[2], (measure::TensorType{ElementType::F16, {5}}));
  std::unique_ptr<Problem> split = parse("matmul_splitk_parallel_3_4x5x16_f16t_f16n_f16t_partf16");
  Fields fields = split->fields();
  ASSERT_EQ(fields.size(), 11U);
  EXPECT_EQ(fields[7], (Fields::value_type{"accumulator", "f32"}));
  EXPECT_EQ(fields[8], (Fields::value_type{"split_k_mode", "parallel"}));
  EXPECT_EQ(fields[9], (Fields::value_type{"split_k_slices", "3"}));
  EXPECT_EQ(fields[10], (Fields::value_type{"partials", "f16"}));
  EXPECT_EQ(split->flops(), 2.0 * 4 * 5 * 16);
}

TEST(MatmulFamily, SplitsAreSelected) {
  MatmulFamily split("matmul_splitk"), matmul("matmul"), bias("matmul_bias");
  auto names = [](const auto &problems) {
    std::vector<std::string> list;
    for (const auto &problem : *problems)
      list.push_back(problem->name());
    return list;
  };
  auto defaults = names(split.problems({{}, {"f32"}}));
  ASSERT_EQ(defaults.size(), 8U);
  EXPECT_EQ(defaults.front(), "matmul_splitk_serial_2_128x128x12288_f32t_f32t_f32t_partf32");
  EXPECT_EQ(defaults.back(), "matmul_splitk_parallel_18_128x128x12288_f32t_f32t_f32t_partf32");
  measure::ProblemSelection small{{{"m", {2}}, {"n", {3}}, {"k", {4}}}, {"f32"}};
  EXPECT_EQ(split.problems(small)->size(), 4U); // 16 and 18 slices of 4 are left out
  small.dimensions["slices"] = {3};
  EXPECT_EQ(names(split.problems(small)),
            (std::vector<std::string>{"matmul_splitk_serial_3_2x3x4_f32t_f32t_f32t_partf32",
                                      "matmul_splitk_parallel_3_2x3x4_f32t_f32t_f32t_partf32"}));
  small.dimensions["slices"] = {5};
  EXPECT_EQ(split.problems(small).status().code(), StatusCode::InvalidArgument);
  // What is said to all families is taken by those that it is meant for.
  EXPECT_EQ(split.problems({{{"slices", {2}}}, {"f16t_f16t_f16t_partf16"}})->size(), 2U);
  EXPECT_TRUE(matmul.problems({{{"slices", {2}}}, {"f16t_f16t_f16t_partf16"}})->empty());
  EXPECT_TRUE(split.problems({{}, {"f16t_f16t_f16t_accf16"}})->empty());
  EXPECT_TRUE(bias.problems({{}, {"i8"}})->empty());
  EXPECT_EQ(bias.problems({})->size(), 3U);
}

TEST(MatmulFamily, DefaultsAreTheDocumentsShapes) {
  MatmulFamily matmul("matmul"), batched("batch_matmul");
  auto problems = matmul.problems({});
  ASSERT_TRUE(problems.ok());
  ASSERT_EQ(problems->size(), 12U);
  EXPECT_EQ(problems->front()->name(), "matmul_256x512x128_f32t_f32t_f32t");
  EXPECT_EQ(problems->back()->name(), "matmul_3456x1024x2048_i8t_i8t_i32t");
  auto batches = batched.problems({});
  ASSERT_TRUE(batches.ok());
  ASSERT_EQ(batches->size(), 4U);
  EXPECT_EQ(batches->front()->name(), "batch_matmul_16x512x64x512_f32t_f32t_f32t");
}

TEST(MatmulFamily, SelectionsAreCombined) {
  MatmulFamily matmul("matmul"), batched("batch_matmul");
  measure::ProblemSelection selection{{{"m", {1, 2}}, {"n", {3}}, {"k", {4, 5}}, {"b", {7, 8}}},
                                      {"f32", "f16t_f16n_f32t"}};
  auto problems = matmul.problems(selection);
  ASSERT_TRUE(problems.ok()) << problems.status().toString();
  ASSERT_EQ(problems->size(), 8U);
  EXPECT_EQ((*problems)[1]->name(), "matmul_1x3x4_f16t_f16n_f32t");
  EXPECT_EQ(batched.problems(selection)->size(), 16U);
  EXPECT_EQ(batched.problems(selection)->front()->name(), "batch_matmul_7x1x3x4_f32t_f32t_f32t");
  // b alone is a batch of the default shape; of dimensions of other families nothing is taken.
  EXPECT_EQ(batched.problems({{{"b", {3}}}, {"f32"}})->front()->name(), "batch_matmul_3x512x64x512_f32t_f32t_f32t");
  EXPECT_EQ(matmul.problems({{{"h", {3}}}, {"f32"}})->size(), 3U);
  // f64 is for other families.
  EXPECT_EQ(matmul.problems({{}, {"f64", "f32"}})->size(), 3U);
}

TEST(MatmulFamily, WrongSelectionsAreErrors) {
  MatmulFamily matmul("matmul");
  auto message = [&](const measure::ProblemSelection &selection) {
    auto problems = matmul.problems(selection);
    return problems.ok() ? std::string("ok") : std::string(problems.status().message());
  };
  EXPECT_NE(message({{{"m", {5}}}, {}}).find("--problem-m, --problem-n and --problem-k together"), std::string::npos);
  EXPECT_NE(message({{{"m", {0}}, {"n", {1}}, {"k", {1}}}, {}}).find("must be positive"), std::string::npos);
  EXPECT_NE(message({{{"m", {1ULL << 30}}, {"n", {1ULL << 20}}, {"k", {1}}}, {}}).find("2^40 bytes"),
            std::string::npos);
  EXPECT_NE(message({{}, {"f33"}}).find("'f33' names no types"), std::string::npos);
}

TEST(MatmulFamily, ConfigurationsAreOfKnownTargets) {
  MatmulFamily matmul("matmul");
  std::unique_ptr<Problem> problem = parse("matmul_256x512x128_f32t_f32t_f32t");
  EXPECT_GE(matmul.configurations(*problem, "llvm-cpu").size(), 24U);
  EXPECT_GE(matmul.configurationSpace(*problem, "llvm-cpu").size(), 500U);
  EXPECT_TRUE(matmul.configurationSpace(*problem, "tpu").empty());
  EXPECT_TRUE(matmul.configurations(*problem, "tpu").empty());
}

class Verification : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(
    MatmulFamily, Verification,
    testing::Values(
        "matmul_17x33x65_f32t_f32t_f32t", "matmul_17x33x65_f32n_f32n_f32t", "matmul_16x16x16_f16t_f16n_f16t",
        "matmul_9x8x300_f16n_f16t_f32t", "matmul_9x8x3000_f16t_f16t_f16t_accf16", "matmul_9x8x70_bf16t_bf16n_bf16t",
        "matmul_9x8x70_bf16t_bf16t_f32t", "matmul_9x8x70_i8n_i8n_i32t", "batch_matmul_3x7x8x9_f32n_f32t_f32t",
        "matmul_1x1x1_f32t_f32t_f32t", "batch_matmul_2x5x6x7_i8t_i8n_i32t", "matmul_bias_17x33x65_f32t_f32n_f32t",
        "matmul_bias_relu_17x33x65_f16n_f16t_f16t", "matmul_bias_relu_9x8x300_f16t_f16t_f16t_accf16",
        "matmul_bias_gelu_17x33x65_f32t_f32t_f32t", "matmul_bias_gelu_9x8x70_bf16t_bf16n_bf16t",
        "matmul_bias_gelu_17x19x70_f16t_f16n_f16t", "matmul_bias_gelu_9x8x70_f16t_f16t_f32t",
        "matmul_bias_gelu_1x1x1_f32t_f32t_f32t", "matmul_bias_gelu_tanh_17x33x65_f32t_f32n_f32t",
        "matmul_bias_gelu_tanh_9x8x2_bf16t_bf16n_bf16t", "matmul_bias_gelu_tanh_17x19x70_f16n_f16t_f16t_accf16",
        "matmul_splitk_serial_4_9x8x70_f32t_f32n_f32t_partf32",
        "matmul_splitk_parallel_4_9x8x70_f16t_f16t_f16t_partf16",
        "matmul_splitk_parallel_7_9x8x70_f16n_f16t_f32t_partf16",
        "matmul_splitk_serial_3_9x8x70_bf16t_bf16t_bf16t_partf32",
        "matmul_splitk_parallel_5_9x8x7_i8t_i8t_i32t_parti32"));

TEST_P(Verification, InputsDependOnPassAndSeedAlone) {
  std::unique_ptr<Problem> problem = parse(GetParam());
  std::vector<std::string> passes = problem->passes();
  ASSERT_FALSE(passes.empty());
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    Data a(*problem), b(*problem), other(*problem);
    std::ranges::fill(b.inputs[0].bytes(), 0xA5);
    ASSERT_TRUE(a.fill(pass, 5).ok());
    ASSERT_TRUE(b.fill(pass, 5).ok());
    ASSERT_TRUE(other.fill(pass, 6).ok());
    for (size_t i = 0; i < a.inputs.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(a.inputs[i].bytes(), b.inputs[i].bytes()));
    if (a.inputs[0].elementCount() > 16) {
      EXPECT_FALSE(std::ranges::equal(a.inputs[0].bytes(), other.inputs[0].bytes()));
    }
  }
  Data data(*problem);
  EXPECT_FALSE(data.fill(passes.size(), 5).ok());
}

TEST_P(Verification, TheProductIsRight) {
  std::unique_ptr<Problem> problem = parse(GetParam());
  for (size_t pass = 0; pass < problem->passes().size(); ++pass) {
    Data data(*problem);
    ASSERT_TRUE(data.fill(pass, 5).ok());
    data.compute();
    Verdict verdict = data.check(pass, 5);
    EXPECT_TRUE(verdict.ok()) << problem->passes()[pass] << ": " << verdict.explanation;
    EXPECT_FALSE(verdict.method.empty());
  }
}

TEST_P(Verification, TheReferenceIsRight) {
  std::unique_ptr<Problem> problem = parse(GetParam());
  for (size_t pass = 0; pass < problem->passes().size(); ++pass) {
    Data data(*problem);
    ASSERT_TRUE(data.fill(pass, 6).ok());
    ASSERT_TRUE(data.reference().ok());
    Verdict verdict = data.check(pass, 6);
    EXPECT_TRUE(verdict.ok()) << problem->passes()[pass] << ": " << verdict.explanation;
  }
}

TEST_P(Verification, AWrongElementIsFound) {
  std::unique_ptr<Problem> problem = parse(GetParam());
  Data data(*problem);
  ASSERT_TRUE(data.fill(0, 5).ok());
  data.compute();
  uint64_t last = data.output->elementCount() - 1;
  double right = Data::load(*data.output, last);
  Data::store(*data.output, last, right == 0 ? 1 : -right);
  Verdict verdict = data.check(0, 5);
  ASSERT_FALSE(verdict.ok());
  EXPECT_FALSE(verdict.explanation.empty());
  ASSERT_FALSE(verdict.examples.empty());
  EXPECT_EQ(verdict.examples[0].expected, right);
  EXPECT_EQ(verdict.examples[0].index.back(), problem->outputs()[0].shape.back() - 1);
}

TEST(MatmulVerification, ZerosSwapsAndNansAreWrong) {
  std::unique_ptr<Problem> problem = parse("matmul_16x16x16_f32t_f32t_f32t");
  std::unique_ptr<Problem> swapped = parse("matmul_16x16x16_f32t_f32n_f32t");
  Data data(*problem), lie(*swapped);
  ASSERT_TRUE(data.fill(0, 9).ok());
  EXPECT_FALSE(data.check(0, 9).ok()); // nothing was written
  lie.inputs = std::move(data.inputs);
  lie.compute();
  data.inputs = std::move(lie.inputs);
  std::memcpy(data.output->bytes().data(), lie.output->bytes().data(), lie.output->bytes().size());
  EXPECT_FALSE(data.check(0, 9).ok());
  data.compute();
  EXPECT_TRUE(data.check(0, 9).ok());
  Data::store(*data.output, 3, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(data.check(0, 9).cause, measure::verify::Cause::NotANumber);
}

// What other epilogues would give is rejected in some pass, and named.
TEST(MatmulVerification, WrongEpiloguesAreNamed) {
  struct Lie {
    const char *name;
    std::function<double(double, double)> finish;
    const char *what;
  };
  auto relu = [](double x) { return std::max(x, 0.0); };
  // In f32, where far negative arguments give zero.
  auto gelu = [](double x) { return double(0.5F * float(x) * (1 + std::erf(float(x) * 0.70710678F))); };
  for (const char *types : {"f32t_f32t_f32t", "f16t_f16n_f16t", "bf16t_bf16t_bf16t"})
    for (const Lie &lie : {
             Lie{"matmul_bias", [](double sum, double) { return sum; }, "the bias was not added"},
             Lie{"matmul_bias_relu", [&](double sum, double) { return relu(sum); }, "the bias was not added"},
             Lie{"matmul_bias_relu", [](double sum, double bias) { return sum + bias; },
                 "the activation was not applied"},
             Lie{"matmul_bias_relu", [](double sum, double) { return sum; }, "neither bias nor activation"},
             Lie{"matmul_bias_relu", [&](double sum, double bias) { return gelu(sum + bias); },
                 "it is the exact gelu, not relu"},
             Lie{"matmul_bias_gelu", [&](double sum, double bias) { return relu(sum + bias); },
                 "it is relu, not the exact gelu"},
             Lie{"matmul_bias_gelu", [&](double sum, double bias) { return tanhGelu(sum + bias); },
                 "it is the form of gelu with tanh, not the exact gelu"},
             Lie{"matmul_bias_gelu_tanh", [&](double sum, double bias) { return gelu(sum + bias); },
                 "it is the exact gelu, not the form of gelu with tanh"},
             Lie{"matmul_bias_gelu_tanh", [](double sum, double bias) { return sum + bias; },
                 "the activation was not applied"},
             Lie{"matmul_bias_gelu", [](double sum, double bias) { return sum + bias; },
                 "the activation was not applied"},
         }) {
      std::unique_ptr<Problem> problem = parse(fmt::format("{}_33x47x65_{}", lie.name, types));
      bool rejected = false;
      for (size_t pass = 0; pass < problem->passes().size() && !rejected; ++pass) {
        Data data(*problem);
        ASSERT_TRUE(data.fill(pass, 3).ok());
        data.compute(lie.finish);
        Verdict verdict = data.check(pass, 3);
        if (verdict.ok())
          continue;
        rejected = true;
        EXPECT_EQ(verdict.cause, measure::verify::Cause::WrongEpilogue)
            << problem->name() << ", " << lie.what << ": " << verdict.explanation;
        EXPECT_NE(verdict.explanation.find(lie.what), std::string::npos)
            << problem->name() << ", " << lie.what << ": " << verdict.explanation;
      }
      EXPECT_TRUE(rejected) << problem->name() << ": " << lie.what;
    }
}

// An activation is checked on every element: one that is off by little, wherever it is, is found.
TEST(MatmulVerification, OneWrongActivationIsFound) {
  for (const char *name : {"matmul_bias_relu_150x170x33_f32t_f32t_f32t", "matmul_bias_gelu_150x170x33_f16t_f16n_f16t",
                           "matmul_bias_gelu_tanh_150x170x33_f32n_f32t_f32t"}) {
    std::unique_ptr<Problem> problem = parse(name);
    Data data(*problem);
    size_t pass = problem->passes().size() - 1;
    while (problem->passes()[pass] != "activation")
      --pass;
    ASSERT_TRUE(data.fill(pass, 5).ok());
    data.compute();
    Verdict right = data.check(pass, 5);
    EXPECT_TRUE(right.ok()) << name << ": " << right.explanation;
    EXPECT_EQ(right.escapeProbability, 0) << name;
    for (uint64_t element = 0; element < data.output->elementCount(); element += 997) {
      double before = Data::load(*data.output, element);
      Data::store(*data.output, element, before + 0.01);
      Verdict verdict = data.check(pass, 5);
      EXPECT_EQ(verdict.wrong, 1U) << name << ", element " << element;
      Data::store(*data.output, element, before);
    }
  }
}

// What is wrong with the product keeps its name behind an epilogue, and in slices.
TEST(MatmulVerification, WrongSumsAreNamed) {
  using measure::verify::Cause;
  for (const char *name :
       {"matmul_bias_33x48x65_f32t_f32t_f32t", "matmul_bias_relu_33x48x65_f32t_f32t_f32t",
        "matmul_bias_gelu_33x48x65_f32t_f32t_f32t", "matmul_splitk_parallel_4_33x48x65_f32t_f32t_f32t_partf32"}) {
    std::unique_ptr<Problem> problem = parse(name);
    Data data(*problem);
    ASSERT_TRUE(data.fill(0, 4).ok());
    const MatmulSpec &spec = data.spec();
    auto finish = [&](double sum, double bias) {
      double x = sum + bias;
      bool activates = spec.epilogue == Epilogue::BiasRelu || spec.epilogue == Epilogue::BiasGelu;
      return activates ? std::max(x, 0.0) : x;
    };
    // The last slice, or the last part of the reduction, is left out.
    data.compute(finish, [&](uint64_t m, uint64_t n, double) {
      double sum = 0;
      for (uint64_t k = 0; k < 51; ++k)
        sum += data.left(0, m, k) * data.right(0, k, n);
      return sum;
    });
    EXPECT_EQ(data.check(0, 4).cause, Cause::DroppedTail) << name << ": " << data.check(0, 4).explanation;
    // Each step of the sum is rounded to f16.
    data.compute(finish, [&](uint64_t m, uint64_t n, double) {
      double sum = 0;
      for (uint64_t k = 0; k < spec.k; ++k)
        sum = kF16.decode(kF16.encode(sum + data.left(0, m, k) * data.right(0, k, n)));
      return sum;
    });
    EXPECT_EQ(data.check(0, 4).cause, Cause::NarrowAccumulator) << name << ": " << data.check(0, 4).explanation;
    for (uint64_t columns : {1, 40}) {
      data.compute(finish, [&](uint64_t m, uint64_t n, double sum) { return m == 5 && n < columns ? sum - 1e8 : sum; });
      if (spec.epilogue == Epilogue::None || columns > 1) {
        EXPECT_FALSE(data.check(0, 4).ok()) << name;
      }
      EXPECT_NE(data.check(0, 4).cause, Cause::WrongEpilogue) << name << ": " << data.check(0, 4).explanation;
    }
  }
}

// Sums in f16 are right where they are promised, and nowhere else.
TEST(MatmulVerification, SumsInF16AreRightWherePromised) {
  for (auto [name, right] :
       {std::pair("matmul_9x8x3000_f16t_f16t_f16t_accf16", true), std::pair("matmul_9x8x3000_f16t_f16t_f16t", false),
        std::pair("matmul_splitk_serial_7_9x8x3000_f16t_f16t_f16t_partf16", true),
        std::pair("matmul_splitk_serial_7_9x8x3000_f16t_f16t_f16t_partf32", false)}) {
    std::unique_ptr<Problem> problem = parse(name);
    Data data(*problem);
    ASSERT_TRUE(data.fill(0, 4).ok());
    data.compute([](double sum, double) { return sum; },
                 [&](uint64_t m, uint64_t n, double) {
                   double sum = 0;
                   for (uint64_t k = 0; k < 3000; ++k)
                     sum = kF16.decode(kF16.encode(sum + data.left(0, m, k) * data.right(0, k, n)));
                   return sum;
                 });
    EXPECT_EQ(data.check(0, 4).ok(), right) << name << ": " << data.check(0, 4).explanation;
  }
}

TEST(MatmulVerification, TensorsOfOtherShapesAreErrors) {
  std::unique_ptr<Problem> small = parse("matmul_4x4x4_f32t_f32t_f32t"), large = parse("matmul_4x4x5_f32t_f32t_f32t");
  Data data(*small);
  std::vector<measure::MutableTensor> tensors;
  for (io::HostTensor &input : data.inputs)
    tensors.push_back({input.type(), input.shape(), input.bytes()});
  EXPECT_EQ(large->fillInputs(0, 1, tensors).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(large->fillInputs(0, 1, {}).code(), StatusCode::InvalidArgument);
  std::unique_ptr<Problem> other = parse("matmul_4x5x4_f32t_f32t_f32t");
  io::TensorSpan outputs[] = {data.output->span()}, inputs[] = {data.inputs[0].span(), data.inputs[1].span()};
  EXPECT_FALSE(other->check(0, 1, inputs, outputs).ok());
  measure::MutableTensor results[] = {{data.output->type(), data.output->shape(), data.output->bytes()}};
  EXPECT_TRUE(small->reference(inputs, results).ok());
  EXPECT_EQ(other->reference(inputs, results).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(parse("matmul_bias_4x4x4_f32t_f32t_f32t")->reference(inputs, results).code(), StatusCode::InvalidArgument);
}

//===--- In tf32 -------------------------------------------------------------------------------------------------===//

// What a program that narrows its inputs computes, with sums that are exact, or cut off as tensor cores do it: four
// products at a time.
void computeNarrow(Data &data, const measure::verify::FloatFormat &format, bool cuts) {
  using measure::verify::Rounding, measure::verify::roundTo;
  const MatmulSpec &s = data.spec();
  uint64_t element = 0;
  for (uint64_t m = 0; m < s.m; ++m)
    for (uint64_t n = 0; n < s.n; ++n, ++element) {
      double sum = 0;
      for (uint64_t k = 0; k < s.k; ++k) {
        sum += roundTo(format, data.left(0, m, k), Rounding::TowardZero) *
               roundTo(format, data.right(0, k, n), Rounding::TowardZero);
        if (cuts && k % 4 == 3)
          sum = roundTo(measure::verify::kFormatF32, sum, Rounding::TowardZero);
      }
      Data::store(*data.output, element, sum);
    }
}

// The causes of all passes.
std::vector<measure::verify::Cause> causesOf(const Problem &problem, const std::function<void(Data &)> &compute) {
  std::vector<measure::verify::Cause> causes;
  for (size_t pass = 0; pass < problem.passes().size(); ++pass) {
    Data data(problem);
    EXPECT_TRUE(data.fill(pass, 7).ok());
    compute(data);
    causes.push_back(data.check(pass, 7).cause);
  }
  return causes;
}

TEST(MatmulFamily, InTF32WhatTF32GivesIsRight) {
  using measure::verify::Cause;
  std::unique_ptr<Problem> exact = parse("matmul_33x40x256_f32t_f32n_f32t"), narrow = exact->inTF32();
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->name(), exact->name());
  EXPECT_EQ(narrow->passes(), exact->passes());
  EXPECT_EQ(narrow->fields().back(), (std::pair<std::string, std::string>("arithmetic", "tf32")));
  const std::vector<Cause> right(4, Cause::None);
  for (bool cuts : {false, true}) {
    auto compute = [&](Data &data) { computeNarrow(data, measure::verify::kFormatTF32, cuts); };
    EXPECT_EQ(causesOf(*narrow, compute), right) << cuts;
    EXPECT_EQ(causesOf(*exact, compute)[1], Cause::NarrowedInputs) << "f32 promises more";
  }
  EXPECT_EQ(causesOf(*narrow, [](Data &data) { EXPECT_TRUE(data.reference().ok()); }), right) << "f32 is better";
  // But no less than tf32.
  std::vector<Cause> bf16 =
      causesOf(*narrow, [](Data &data) { computeNarrow(data, measure::verify::kFormatBF16, false); });
  EXPECT_EQ(bf16[1], Cause::NarrowedInputs);
  for (size_t pass = 1; pass < 4; ++pass)
    EXPECT_NE(bf16[pass], Cause::None) << pass;
  for (const char *name : {"matmul_33x40x256_f16t_f16t_f32t", "matmul_33x40x256_i8t_i8t_i32t"})
    EXPECT_FALSE(parse(name)->inTF32()) << name;
}

TEST(MatmulFamily, InTF32TimedCallsMayBeOffByIt) {
  std::unique_ptr<Problem> exact = parse("matmul_65x64x512_f32t_f32t_f32t"), narrow = exact->inTF32();
  Data data(*narrow);
  for (size_t i = 0; i < 2; ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (uint64_t at = 0; at < data.inputs[i].bytes().size() / 4; ++at)
      Data::store(data.inputs[i], at, uniform(random));
  }
  std::vector<io::TensorSpan> inputs = {data.inputs[0].span(), data.inputs[1].span()};
  const io::TensorSpan output[] = {data.output->span()};
  auto verdictOf = [&](const Problem &problem) { return problem.timedCheck(inputs, 3)->check(output).ok(); };
  computeNarrow(data, measure::verify::kFormatTF32, true);
  EXPECT_TRUE(verdictOf(*narrow));
  EXPECT_FALSE(verdictOf(*exact));
  Data::store(*data.output, 11, 10 + Data::load(*data.output, 11)); // more than the root mean square of all
  EXPECT_FALSE(verdictOf(*narrow));
}

} // namespace
} // namespace kiln::families
