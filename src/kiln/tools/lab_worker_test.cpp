// kiln-lab-worker as the lab runs it: whole groups, with the providers that need no compiler.
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/measure/workers/group.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "kiln/measure/workers/worker_process.h"
#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

using io::ElementType;
using testing::FixedRounds;
using testing::TinyMatmul;

std::vector<std::string> workerCommand(std::string_view provider) {
  return {KILN_LAB_WORKER, fmt::format("--provider={}", provider)};
}

constexpr std::string_view kProviders[] = {"reference", "openblas", "mkl", "onednn", "onednn:preferred"};
const std::span<const std::string_view> kAll = kProviders;
constexpr std::string_view kLibraries[] = {"onednn", "onednn:preferred", "openblas", "mkl"};

bool available(std::string_view provider) {
  WorkerOptions options;
  options.command = workerCommand(provider);
  Result<std::unique_ptr<WorkerProcess>> worker = WorkerProcess::start(options);
  return worker.ok() && (*worker)->ask(HelloRequest(), Deadline::after(30'000'000'000)).ok();
}

Result<GroupResult> runProviders(const Problem &problem, uint32_t threads, bool cold) {
  std::vector<Candidate> candidates;
  for (std::string_view provider : kProviders)
    candidates.push_back({workerCommand(provider), "", ""});
  GroupSettings settings;
  settings.cold = cold;
  settings.threads = threads;
  settings.warmUpNanoseconds = 1'000'000;
  settings.lastLevelCacheBytes = 1 << 20;
  FixedRounds scheduler(uint32_t(candidates.size()), 1);
  GroupObserver observer;
  return runGroup(problem, candidates, settings, scheduler, observer);
}

// Each provider is right, or says that it does not do this. What depends on the processor may do either.
void expectRight(const TinyMatmul &problem, std::span<const std::string_view> supporting, bool cold = false,
                 std::span<const std::string_view> depending = {}) {
  static std::map<std::string_view, bool> present;
  for (std::string_view provider : kProviders)
    if (!present.contains(provider))
      present[provider] = available(provider);
  Result<GroupResult> result = runProviders(problem, 2, cold);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (size_t i = 0; i < std::size(kProviders); ++i) {
    const CandidateResult &row = result->candidates[i];
    ASSERT_TRUE(row.outcome);
    auto isAmong = [&](std::span<const std::string_view> names) {
      return std::ranges::find(names, kProviders[i]) != names.end();
    };
    bool supports =
        present[kProviders[i]] && (isAmong(supporting) || (isAmong(depending) && row.outcome != Outcome::Unsupported));
    EXPECT_STREQ(outcomeName(*row.outcome), supports ? "ok" : "unsupported")
        << problem.name() << " by " << kProviders[i] << ": " << row.message;
    if (supports) {
      EXPECT_EQ(row.provider.name, kProviders[i].substr(0, kProviders[i].find(':')));
      EXPECT_FALSE(row.provider.version.empty());
      EXPECT_EQ(row.rounds, 1U);
    }
  }
}

TEST(LabWorker, AllLayouts) {
  TinyMatmul problem;
  for (char lhs : {'t', 'n'})
    for (char rhs : {'t', 'n'}) {
      problem.lhs = lhs;
      problem.rhs = rhs;
      expectRight(problem, kAll);
    }
  // No name says so, and the reference goes by names.
  problem.result = 'n';
  expectRight(problem, kLibraries);
}

TEST(LabWorker, OtherTypes) {
  TinyMatmul problem;
  problem.in = problem.out = ElementType::F64;
  expectRight(problem, std::vector<std::string_view>{"openblas", "mkl"});
  const std::vector<std::string_view> oneDnn = {"onednn", "onednn:preferred"};
  problem.in = problem.out = ElementType::BF16;
  expectRight(problem, std::vector<std::string_view>{"reference"}, /*cold=*/false, oneDnn);
  problem.out = ElementType::F32;
  expectRight(problem, std::vector<std::string_view>{"reference", "mkl"}, /*cold=*/false, oneDnn);
  problem.in = ElementType::I8;
  problem.out = ElementType::I32;
  problem.rhs = 'n';
  expectRight(problem, std::vector<std::string_view>{"reference", "onednn", "onednn:preferred"});
  problem.in = problem.out = ElementType::F16;
  expectRight(problem, std::vector<std::string_view>{"reference"}, /*cold=*/false, oneDnn);
}

TEST(LabWorker, BatchesAndColdData) {
  TinyMatmul problem;
  problem.batch = 3;
  problem.lhs = 'n';
  problem.m = 33;
  problem.n = 20;
  problem.k = 17;
  expectRight(problem, kAll, /*cold=*/true);
}

TEST(LabWorker, SplitKIsTheSameProduct) {
  TinyMatmul problem;
  problem.splitK = true;
  problem.rhs = 'n';
  Result<GroupResult> result = runProviders(problem, 2, /*cold=*/false);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (size_t i = 0; i < std::size(kProviders); ++i)
    // What the reference does depends on the families that it knows.
    if (kProviders[i] != "reference" && available(kProviders[i])) {
      const CandidateResult &row = result->candidates[i];
      ASSERT_TRUE(row.outcome);
      EXPECT_STREQ(outcomeName(*row.outcome), "ok") << kProviders[i] << ": " << row.message;
      EXPECT_NE(row.provider.note.find("split-k"), std::string::npos) << row.provider.note;
    }
}

// A batch of one is not the same as none: shapes have a dimension more.
TEST(LabWorker, BatchOfOne) {
  TinyMatmul problem;
  problem.batch = 1;
  expectRight(problem, kAll);
}

class LabWorkerTalk : public ::testing::Test {
protected:
  void SetUp() override {
    WorkerOptions options;
    options.command = workerCommand("reference");
    Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
    ASSERT_TRUE(started.ok()) << started.status().message();
    worker = *std::move(started);
    Result<SharedTensors> in = SharedTensors::create("in", problem.inputs(), 2, SharedTensors::Pages::Reserved);
    Result<SharedTensors> out = SharedTensors::create("out", problem.outputs(), 2, SharedTensors::Pages::OnDemand);
    ASSERT_TRUE(in.ok() && out.ok());
    inputs = std::make_unique<SharedTensors>(*std::move(in));
    outputs = std::make_unique<SharedTensors>(*std::move(out));
    load = {0, problemText(problem), "", "", 2, inputs->describe(), outputs->describe()};
  }
  void expectError(const Request &request, std::string_view part) {
    Result<Answer> answer = worker->ask(request, Deadline::after(10'000'000'000));
    ASSERT_FALSE(answer.ok()) << requestName(request);
    EXPECT_NE(answer.status().message().find(part), std::string_view::npos) << answer.status().message();
    EXPECT_TRUE(worker->alive());
  }
  void expectOk(const Request &request) {
    Result<Answer> answer = worker->ask(request, Deadline::after(10'000'000'000));
    EXPECT_TRUE(answer.ok()) << requestName(request) << ": " << answer.status().message();
  }

  TinyMatmul problem;
  std::unique_ptr<WorkerProcess> worker;
  std::unique_ptr<SharedTensors> inputs, outputs;
  LoadRequest load;
};

TEST_F(LabWorkerTalk, OrderMatters) {
  expectError(RunRequest{}, "'run' came before 'hello'");
  expectError(HelloRequest{99, 1}, "speaks protocol 2, not 99");
  expectOk(HelloRequest());
  expectError(HelloRequest(), "twice");
  expectError(TimeRequest{}, "slot 0 holds no problem; 'load' comes first");
  expectOk(load);
  expectError(load, "holds a problem already");
  expectError(RunRequest{0, 2}, "no set 2; 2 were loaded");
  expectError(TimeRequest{.start = 7}, "no set 7");
  expectOk(RunRequest{0, 1});
  expectOk(TimeRequest{.calls = 6, .batch = 3, .start = 1});
  EXPECT_TRUE(worker->quit(Deadline::after(10'000'000'000)).ok());
}

TEST_F(LabWorkerTalk, CallsAreCounted) {
  expectOk(HelloRequest());
  expectOk(load);
  Result<Answer> answer =
      worker->ask(TimeRequest{.calls = 700, .batch = 100, .start = 1}, Deadline::after(10'000'000'000));
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->batch, 100U);
  EXPECT_EQ(answer->host.size(), 7U);
}

TEST_F(LabWorkerTalk, TensorsAreChecked) {
  expectOk(HelloRequest());
  load.inputs[0].path = "/nowhere/tensor";
  expectError(load, "cannot map '/nowhere/tensor'");
}

TEST_F(LabWorkerTalk, TensorsBeyondTheirFile) {
  expectOk(HelloRequest());
  load.sets = 1000;
  expectError(load, "1000 sets of a tensor");
}

TEST_F(LabWorkerTalk, TensorsThatOverlap) {
  expectOk(HelloRequest());
  load.outputs[0].stride = 64;
  expectError(load, "stride 64");
}

TEST_F(LabWorkerTalk, TensorsThatAreNotAligned) {
  expectOk(HelloRequest());
  load.inputs[1].offset = 4;
  expectError(load, "must be multiples of 64");
}

TEST_F(LabWorkerTalk, InputsThatMayNotBeWrittenAreNoOutputs) {
  ASSERT_TRUE(inputs->forbidWriting().ok());
  expectOk(HelloRequest());
  load.outputs[0].path = load.inputs[0].path;
  expectError(load, "for writing");
}

TEST_F(LabWorkerTalk, AShapeThatIsNotTheProblems) {
  expectOk(HelloRequest());
  std::swap(load.inputs[0], load.inputs[1]);
  expectError(load, "input 0 of matmul_5x7x6_f32t_f32t_f32t is 5x6xf32; the request has 6x7xf32");
}

TEST_F(LabWorkerTalk, FieldsThatAreNotKnownAreNotGuessed) {
  expectOk(HelloRequest());
  load.problem.fields.emplace_back("epilogue", "relu");
  expectError(load, "field 'epilogue'");
  EXPECT_EQ(worker->outcome(), Outcome::Unsupported);
}

TEST_F(LabWorkerTalk, FamiliesThatAreNotKnown) {
  expectOk(HelloRequest());
  load.problem.family = "conv_2d";
  expectError(load, "not conv_2d");
  EXPECT_EQ(worker->outcome(), Outcome::Unsupported);
}

TEST_F(LabWorkerTalk, FieldsThatMakeNoSense) {
  expectOk(HelloRequest());
  load.problem.fields[1].second = "many";
  expectError(load, "field 'm'");
}

// A problem that only its name and its fields tell of: what the reference makes of it, it has from the family.
class LabWorkerReference : public ::testing::Test {
protected:
  void SetUp() override {
    WorkerOptions options;
    options.command = workerCommand("reference");
    Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
    ASSERT_TRUE(started.ok()) << started.status().message();
    worker = *std::move(started);
    std::vector<TensorType> types = {{ElementType::F32, {3, 5}}, {ElementType::F32, {3, 5}}};
    Result<SharedTensors> in = SharedTensors::create("in", types, 2, SharedTensors::Pages::Reserved);
    types.resize(1);
    Result<SharedTensors> out = SharedTensors::create("out", types, 2, SharedTensors::Pages::OnDemand);
    ASSERT_TRUE(in.ok() && out.ok());
    inputs = std::make_unique<SharedTensors>(*std::move(in));
    outputs = std::make_unique<SharedTensors>(*std::move(out));
    load.problem = {"elementwise", "elementwise_add_3x5_f32", {{"op", "add"}, {"shape", "3x5"}, {"type", "f32"}}};
    load.sets = 2;
    load.inputs = inputs->describe();
    load.outputs = outputs->describe();
    ASSERT_TRUE(ask(HelloRequest()).ok());
  }
  Status ask(const Request &request) { return worker->ask(request, Deadline::after(10'000'000'000)).status(); }
  void expectUnsupported(std::string_view part) {
    Status status = ask(load);
    EXPECT_NE(status.message().find(part), std::string_view::npos) << status.message();
    EXPECT_EQ(worker->outcome(), Outcome::Unsupported);
  }

  std::unique_ptr<WorkerProcess> worker;
  std::unique_ptr<SharedTensors> inputs, outputs;
  LoadRequest load;
};

TEST_F(LabWorkerReference, ComputesWhatAFamilyDefines) {
  for (size_t i = 0; i < 15; ++i) {
    testing::writeElement(ElementType::F32, inputs->set(1)[0].bytes.data() + 4 * i, double(i));
    testing::writeElement(ElementType::F32, inputs->set(1)[1].bytes.data() + 4 * i, 100);
  }
  ASSERT_TRUE(ask(load).ok());
  ASSERT_TRUE(ask(RunRequest{0, 1}).ok());
  for (size_t i = 0; i < 15; ++i)
    EXPECT_EQ(testing::readElement(ElementType::F32, outputs->set(1)[0].bytes.data() + 4 * i), 100 + double(i));
  EXPECT_TRUE(ask(TimeRequest{.calls = 6, .batch = 3, .start = 1}).ok());
}

TEST_F(LabWorkerReference, NamesOfNoFamily) {
  load.problem.name = "sort_3x5_f32";
  expectUnsupported("no operation family of this build takes the name 'sort_3x5_f32'");
}

TEST_F(LabWorkerReference, FieldsThatTheNameDoesNotSay) {
  load.problem.fields[0].second = "sub";
  expectUnsupported("field 'op' of elementwise_add_3x5_f32 is 'sub', which its name does not say");
}

TEST_F(LabWorkerReference, TensorsThatAreNotTheProblems) {
  load.inputs.pop_back();
  Status status = ask(load);
  EXPECT_NE(status.message().find("has 2 inputs; the request has 1"), std::string_view::npos) << status.message();
  EXPECT_EQ(worker->outcome(), Outcome::Failed);
}

TEST_F(LabWorkerReference, ShapesThatAreNotTheProblems) {
  load.problem.name = "elementwise_add_5x3_f32";
  load.problem.fields[1].second = "5x3";
  Status status = ask(load);
  EXPECT_NE(status.message().find("input 0 of elementwise_add_5x3_f32 is 5x3xf32; the request has 3x5xf32"),
            std::string_view::npos)
      << status.message();
}

TEST(LabWorkerKiln, NeedsAModuleThatIsOne) {
  for (const char *module : {"", "/nowhere/x.vmfb", "/proc/self/exe"}) {
    WorkerOptions options;
    options.command = workerCommand("kiln");
    Result<std::unique_ptr<WorkerProcess>> worker = WorkerProcess::start(options);
    ASSERT_TRUE(worker.ok());
    Deadline deadline = Deadline::after(30'000'000'000);
    ASSERT_TRUE((*worker)->ask(HelloRequest(), deadline).ok());
    LoadRequest load;
    load.problem = problemText(TinyMatmul());
    load.module = module;
    Result<Answer> answer = (*worker)->ask(load, deadline);
    ASSERT_FALSE(answer.ok());
    EXPECT_TRUE((*worker)->alive()) << answer.status().message();
    EXPECT_EQ((*worker)->outcome(), Outcome::Failed);
  }
}

} // namespace
} // namespace kiln::measure
