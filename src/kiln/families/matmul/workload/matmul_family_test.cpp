#include "kiln/families/matmul/workload/matmul_family.h"

#include <cstring>
#include <gtest/gtest.h>

#include "kiln/base/narrow_float.h"
#include "kiln/families/families.h"

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
    return problem.check(pass, seed, spans, outputs);
  }

  // Straight from the definition, in double, which is exact for the inputs of verification.
  void compute() {
    const MatmulSpec &spec = dynamic_cast<const MatmulProblem &>(problem).spec();
    for (uint64_t b = 0; b < spec.batch; ++b)
      for (uint64_t m = 0; m < spec.m; ++m)
        for (uint64_t n = 0; n < spec.n; ++n) {
          double sum = 0;
          for (uint64_t k = 0; k < spec.k; ++k)
            sum +=
                load(inputs[0], spec.lhs.columnMajor ? (b * spec.k + k) * spec.m + m : (b * spec.m + m) * spec.k + k) *
                load(inputs[1], spec.rhs.columnMajor ? (b * spec.n + n) * spec.k + k : (b * spec.k + k) * spec.n + n);
          store(*output, (b * spec.m + m) * spec.n + n, sum);
        }
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

TEST(MatmulFamily, BothAreRegistered) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  EXPECT_TRUE(registry.find("matmul").ok());
  EXPECT_TRUE(registry.find("batch_matmul").ok());
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

TEST(MatmulFamily, DefaultsAreTheDocumentsShapes) {
  MatmulFamily matmul(false), batched(true);
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
  MatmulFamily matmul(false), batched(true);
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
  MatmulFamily matmul(false);
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
  MatmulFamily matmul(false);
  std::unique_ptr<Problem> problem = parse("matmul_256x512x128_f32t_f32t_f32t");
  EXPECT_GE(matmul.configurations(*problem, "llvm-cpu").size(), 24U);
  EXPECT_GE(matmul.configurationSpace(*problem, "llvm-cpu").size(), 500U);
  EXPECT_TRUE(matmul.configurationSpace(*problem, "tpu").empty());
  EXPECT_TRUE(matmul.configurations(*problem, "tpu").empty());
}

class Verification : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(MatmulFamily, Verification,
                         testing::Values("matmul_17x33x65_f32t_f32t_f32t", "matmul_17x33x65_f32n_f32n_f32t",
                                         "matmul_16x16x16_f16t_f16n_f16t", "matmul_9x8x300_f16n_f16t_f32t",
                                         "matmul_9x8x3000_f16t_f16t_f16t_accf16", "matmul_9x8x70_bf16t_bf16n_bf16t",
                                         "matmul_9x8x70_bf16t_bf16t_f32t", "matmul_9x8x70_i8n_i8n_i32t",
                                         "batch_matmul_3x7x8x9_f32n_f32t_f32t", "matmul_1x1x1_f32t_f32t_f32t",
                                         "batch_matmul_2x5x6x7_i8t_i8n_i32t"));

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
    for (size_t i = 0; i < 2; ++i)
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
}

} // namespace
} // namespace kiln::families
