// Products of all types and layouts by libraries whose matrices are column-major, on a simulated GPU, against the exact
// checks of the lab.
#include "kiln/measure/providers/cublas/cublas_provider.h"
#include "kiln/measure/providers/serve.h"
#include "kiln/measure/providers/testing/fake_cublas.h"
#include "kiln/measure/providers/testing/gpu_provider_test.h"

namespace kiln::measure {
namespace {

using verify::Verdict;

using CublasTest = testing::GpuProviderTest;

constexpr const char *kTypes[][2] = {{"f16", "f16"},  {"f16", "f32"}, {"bf16", "bf16"},
                                     {"bf16", "f32"}, {"f32", "f32"}, {"i8", "i32"}};

TEST_F(CublasTest, AllTypesAndLayoutsAreRight) {
  for (auto [operands, result] : kTypes)
    for (char lhs : {'t', 'n'})
      for (char rhs : {'t', 'n'})
        for (std::string shape : {"matmul_17x9x21", "batch_matmul_3x5x8x7"})
          for (bool lt : {false, true}) {
            std::string name = fmt::format("{}_{}{}_{}{}_{}t", shape, operands, lhs, operands, rhs, result);
            load(name, lt ? createCublasLtProvider(testing::fakeCublasLt, false)
                          : createCublasProvider(testing::fakeCublas, false));
            ASSERT_TRUE(loaded.ok()) << loaded.message();
            Verdict found = verdict();
            EXPECT_TRUE(found.ok()) << name << (lt ? " by cuBLASLt: " : ": ") << found.explanation;
          }
}

TEST_F(CublasTest, OfProposalsTheFastestIsTaken) {
  load("matmul_17x9x21_f16t_f16t_f16t", createCublasLtProvider(testing::fakeCublasLt, false));
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  ASSERT_TRUE(provider->call(1).ok());
  EXPECT_EQ(testing::lastAlgorithm(), testing::kGoodAlgorithm);
}

TEST_F(CublasTest, EpiloguesAreThoseOfTheProblem) {
  for (const char *name : {"matmul_bias_17x9x21_f16t_f16n_f16t", "matmul_bias_relu_17x9x21_f32n_f32t_f32t"}) {
    load(name, createCublasLtProvider(testing::fakeCublasLt, false));
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    Verdict found = verdict();
    EXPECT_TRUE(found.ok()) << name << ": " << found.explanation;
    load(name, createCublasProvider(testing::fakeCublas, false));
    EXPECT_EQ(loaded.code(), StatusCode::Unimplemented) << "cuBLAS has no epilogue";
  }
  load("matmul_bias_gelu_17x9x21_f16t_f16t_f16t", createCublasLtProvider(testing::fakeCublasLt, false));
  EXPECT_EQ(loaded.code(), StatusCode::Unimplemented) << loaded.message();
}

// f32 is f32 unless tf32 was asked for, and then the checks tell it, unless tf32 is what the problem promises.
TEST_F(CublasTest, Tf32IsNotF32) {
  for (const char *name : {"matmul_17x9x21_f32t_f32n_f32t", "matmul_bias_relu_17x9x21_f32n_f32t_f32t"}) {
    load(name, createCublasLtProvider(testing::fakeCublasLt, true), /*inTF32=*/true);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    Verdict right = verdict();
    EXPECT_TRUE(right.ok()) << right.explanation;
    EXPECT_NE(right.method.find("; products in tf32"), std::string::npos) << right.method;
  }
  load("matmul_17x9x21_f32t_f32t_f32t", createCublasProvider(testing::fakeCublas, true));
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_EQ(verdict().cause, verify::Cause::NarrowedInputs);
  load("matmul_17x9x21_f16t_f16t_f16t", createCublasProvider(testing::fakeCublas, true));
  EXPECT_EQ(loaded.code(), StatusCode::Unimplemented);
}

// Products that lose the end of the sum, of the rows, or of the columns, of a matrix of the library.
enum class Lie { None, Sum, Rows, Columns };
Lie lie = Lie::None;
CublasLibrary right;

int cut(int extent, Lie which) {
  return lie == which ? extent - 1 : extent;
}

int lyingGemm(CublasHandle handle, int transposeA, int transposeB, int m, int n, int k, const void *alpha,
              const void *a, int typeA, int strideA, const void *b, int typeB, int strideB, const void *beta, void *c,
              int typeC, int strideC, int computeType, int algorithm) {
  return right.cublasGemmEx(handle, transposeA, transposeB, cut(m, Lie::Columns), cut(n, Lie::Rows), cut(k, Lie::Sum),
                            alpha, a, typeA, strideA, b, typeB, strideB, beta, c, typeC, strideC, computeType,
                            algorithm);
}

Result<CublasLibrary> lyingCublas(const hal::CudaLibrary &cuda) {
  KILN_ASSIGN_OR_RETURN(right, testing::fakeCublas(cuda));
  CublasLibrary library = right;
  library.cublasGemmEx = lyingGemm;
  return library;
}

// A worker's conversation, whose device makes inputs and checks results as the lab would.
class DeviceVerificationTest : public CublasTest {
protected:
  Answer ask(const Request &request) {
    Result<Answer> answer = parseAnswer(conversation->answer(encodeRequest(request)));
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    return answer.ok() ? *answer : Answer();
  }

  void begin(
      const std::string &name, bool inTF32 = false,
      Conversation::MakeProvider make = [] { return createCublasLtProvider(testing::fakeCublasLt, false); }) {
    Result<std::unique_ptr<Problem>> parsed = families.parse(name);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    problem = inTF32 ? (*parsed)->inTF32() : *std::move(parsed);
    problem->promiseSumsOfTensorCores(); // as the lab does for GPUs
    inputs.emplace(*SharedTensors::create("in", problem->inputs(), 2, SharedTensors::Pages::Reserved));
    outputs.emplace(*SharedTensors::create("out", problem->outputs(), 2, SharedTensors::Pages::OnDemand));
    conversation.emplace("cublas", std::move(make));
    conversation->setFamilies(families);
    EXPECT_TRUE(ask(HelloRequest{kProtocolVersion, 1, "cuda-sim"}).checksOnDevice);
    request = {0, problemText(*problem), "", "", 2, inputs->describe(), outputs->describe()};
    Answer loaded = ask(request);
    ASSERT_TRUE(loaded.ok) << loaded.error;
  }

  // Whether the outputs are right, by the device, and by the host of what is fetched from there and of its own inputs.
  // The two must agree.
  bool isRight(size_t pass) {
    Answer answer = ask(VerifyRequest{0, uint32_t(pass), kSeed, 5});
    EXPECT_TRUE(answer.verdict) << answer.error;
    if (!answer.verdict)
      return false;
    EXPECT_TRUE(problem->fillInputs(pass, kSeed, inputs->set(0)).ok());
    EXPECT_TRUE(ask(FetchRequest{0, {0, 1}}).ok);
    Verdict onHost = problem->check(pass, kSeed, std::as_const(*inputs).view(0), std::as_const(*outputs).view(0));
    const bool right = answer.verdict->wrongRows == 0;
    EXPECT_EQ(right, onHost.ok()) << problem->name() << ": " << onHost.explanation;
    return right;
  }

  static constexpr uint64_t kSeed = 3;
  std::optional<Conversation> conversation;
  LoadRequest request;
};

TEST_F(DeviceVerificationTest, AllTypesLayoutsAndEpiloguesAreRight) {
  std::vector<std::string> names = {
      "batch_matmul_3x5x8x7_f16t_f16n_f16t",       "matmul_bias_17x9x21_f16t_f16n_f16t",
      "matmul_bias_relu_17x9x21_f32n_f32t_f32t",   "matmul_bias_relu_17x9x21_f16t_f16n_f16t",
      "matmul_bias_relu_17x9x2_bf16t_bf16t_bf16t", "matmul_splitk_serial_2_8x9x22_f32t_f32t_f32t_partf32"};
  for (auto [operands, result] : kTypes)
    for (char layout : {'t', 'n'})
      names.push_back(fmt::format("matmul_17x9x21_{0}{1}_{0}{1}_{2}t", operands, layout, result));
  for (const std::string &name : names) {
    begin(name);
    const std::vector<std::string> passes = problem->passes();
    for (size_t pass = 0; pass < passes.size(); ++pass) {
      EXPECT_TRUE(isRight(pass)) << name << " " << passes[pass];
    }
  }
}

TEST_F(DeviceVerificationTest, LiesAreFound) {
  for (const char *name :
       {"matmul_17x9x21_f16t_f16n_f16t", "matmul_17x9x21_f32n_f32t_f32t", "matmul_17x9x21_i8t_i8t_i32t"}) {
    begin(name, false, [] { return createCublasProvider(lyingCublas, false); });
    for (Lie each : {Lie::None, Lie::Sum, Lie::Rows, Lie::Columns})
      for (size_t pass = 0; pass < problem->passes().size(); ++pass) {
        lie = each;
        const bool right = isRight(pass);
        // A few elements of a long sum are all that the others have.
        if (const std::string what = problem->passes()[pass]; what == "sums" || what == "real" || each != Lie::Sum) {
          EXPECT_EQ(right, each == Lie::None) << name << " " << int(each) << " " << what;
        }
      }
    lie = Lie::None;
  }
  // tf32 is wrong where f32 is promised, and right where it is.
  auto narrow = [] { return createCublasProvider(testing::fakeCublas, true); };
  begin("matmul_17x9x21_f32t_f32t_f32t", false, narrow);
  EXPECT_FALSE(isRight(1));
  begin("matmul_17x9x21_f32t_f32t_f32t", true, narrow);
  EXPECT_TRUE(isRight(1));
}

// Sums of tensor cores are as right for the device as for the host. In results of f16 their rounding hides it.
TEST_F(DeviceVerificationTest, SumsOfTensorCoresAreRight) {
  testing::cutsSums = true;
  for (const char *name : {"matmul_9x17x1275_f16t_f16n_f32t", "matmul_9x17x1275_bf16t_bf16t_bf16t"}) {
    begin(name, false, [] { return createCublasProvider(testing::fakeCublas, false); });
    const std::vector<std::string> passes = problem->passes();
    const auto real = size_t(std::ranges::find(passes, "real") - passes.begin());
    ASSERT_LT(real, passes.size());
    EXPECT_TRUE(isRight(real)) << name;
  }
  testing::cutsSums = false;
}

// Planted where there is nothing, asked for what there is not, and of a problem that its name does not tell.
TEST_F(DeviceVerificationTest, WhatCannotBeCheckedIsSaid) {
  begin("matmul_17x9x21_f16t_f16n_f16t");
  Answer answer = ask(VerifyRequest{0, 0, kSeed, 17 * 9});
  EXPECT_FALSE(answer.ok || answer.unsupported);
  EXPECT_NE(answer.error.find("element 153 of 153"), std::string::npos) << answer.error;
  EXPECT_FALSE(ask(VerifyRequest{0, 9, kSeed, 0}).ok);
  EXPECT_TRUE(ask(UnloadRequest{0}).ok);
  request.problem.name = "matmul_17x9x22_f16t_f16n_f16t";
  EXPECT_TRUE(ask(request).ok);
  EXPECT_TRUE(ask(VerifyRequest{0, 0, kSeed, 0}).unsupported);
  EXPECT_TRUE(ask(UnloadRequest{0}).ok);
  request.problem.name = "corpus_abs_f32";
  EXPECT_TRUE(ask(request).ok);
  EXPECT_TRUE(ask(VerifyRequest{0, 0, kSeed, 0}).unsupported);
}

TEST_F(CublasTest, WhatALibraryHasNotIsSaid) {
  for (const char *name : {"matmul_17x9x21_i8t_i8t_i8t", "softmax_16x64_f32"}) {
    if (!families.parse(name).ok())
      continue;
    load(name, createCublasProvider(testing::fakeCublas, false));
    EXPECT_EQ(loaded.code(), StatusCode::Unimplemented) << name << ": " << loaded.message();
  }
  std::unique_ptr<Provider> onCpu = createCublasProvider(testing::fakeCublas, false);
  EXPECT_EQ(onCpu->start(1).code(), StatusCode::Unimplemented);
}

} // namespace
} // namespace kiln::measure
