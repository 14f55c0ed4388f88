// What a conversation does beside asking its provider: counters, slots.
#include "kiln/measure/providers/serve.h"

#include <algorithm>

#include "fmt/ranges.h"
#include "kiln/measure/workers/shared_tensors.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

using testing::TinyMatmul;

// What happened, in its order.
std::vector<std::string> happened;

class SilentProvider final : public Provider {
public:
  Status start(uint32_t) override {
    happened.emplace_back("start");
    return okStatus();
  }
  std::string version() const override { return "1"; }
  Status load(const LoadRequest &, TensorMemory &) override { return okStatus(); }
  Status run(uint32_t) override {
    happened.emplace_back("run");
    return okStatus();
  }
  Status call(uint32_t) override {
    if (calls++ == failing)
      return internalError("the call failed");
    return okStatus();
  }

  Result<Ref<hal::TimedWork>> prepare(std::span<const uint32_t> sets) override;

  bool makesEmptyCalls() const override { return true; }
  Status emptyCall() override {
    happened.emplace_back("empty call");
    return okStatus();
  }

  static inline uint64_t calls = 0, failing = UINT64_MAX;
};

// Takes 100 nanoseconds for each call.
class SilentWork final : public hal::TimedWork {
public:
  explicit SilentWork(size_t calls) : calls(calls) {}
  bool isGraph() const override { return calls < 3; }
  Result<double> run() override {
    happened.emplace_back("run a batch");
    return double(calls) * 100;
  }

private:
  const size_t calls;
};

Result<Ref<hal::TimedWork>> SilentProvider::prepare(std::span<const uint32_t> sets) {
  happened.emplace_back(fmt::format("prepare {}", fmt::join(sets, " ")));
  return Ref<hal::TimedWork>(makeRef<SilentWork>(sets.size()));
}

class FakeCounters final : public CallCounters {
public:
  void start() override { happened.emplace_back("count"); }
  CallCounts stop() override {
    happened.emplace_back("stop");
    CallCounts counts;
    counts.cycles = 1000;
    counts.cacheMisses = 7;
    return counts;
  }
};

std::unique_ptr<CallCounters> openFake() {
  happened.emplace_back("open");
  return std::make_unique<FakeCounters>();
}

class ServeTest : public ::testing::Test {
protected:
  void SetUp() override {
    happened.clear();
    SilentProvider::calls = 0;
    SilentProvider::failing = UINT64_MAX;
    inputs = std::make_unique<SharedTensors>(
        *SharedTensors::create("in", problem.inputs(), 1, SharedTensors::Pages::Reserved));
    outputs = std::make_unique<SharedTensors>(
        *SharedTensors::create("out", problem.outputs(), 1, SharedTensors::Pages::OnDemand));
  }
  Answer ask(Conversation &conversation, const Request &request) {
    Result<Answer> answer = parseAnswer(conversation.answer(encodeRequest(request)));
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    return answer.ok() ? *answer : Answer();
  }
  // Up to `time`.
  Answer timeWith(Conversation::OpenCounters open) {
    Conversation conversation("silent", makeProvider, open);
    EXPECT_TRUE(ask(conversation, HelloRequest()).ok);
    EXPECT_TRUE(ask(conversation, loadRequest(0)).ok);
    EXPECT_TRUE(ask(conversation, RunRequest{}).ok);
    return ask(conversation, TimeRequest{.calls = 6, .batch = 2});
  }

  LoadRequest loadRequest(uint32_t slot) {
    return {slot, problemText(problem), "", "", 1, inputs->describe(), outputs->describe()};
  }
  static std::unique_ptr<Provider> makeProvider() { return std::make_unique<SilentProvider>(); }

  TinyMatmul problem;
  std::unique_ptr<SharedTensors> inputs, outputs;
};

// They are open before the provider starts its threads, and count timed calls alone.
TEST_F(ServeTest, CountsTimedCalls) {
  Answer answer = timeWith(openFake);
  EXPECT_TRUE(answer.ok) << answer.error;
  EXPECT_EQ(answer.counts.cycles, 1000U);
  EXPECT_EQ(answer.counts.cacheMisses, 7U);
  EXPECT_FALSE(answer.counts.instructions);
  EXPECT_EQ(happened, (std::vector<std::string>{"open", "start", "run", "count", "stop"}));
}

TEST_F(ServeTest, CountsNothingWhereThereIsNothing) {
  EXPECT_FALSE(timeWith(nullptr).counts.any());
  EXPECT_FALSE(timeWith([] { return std::unique_ptr<CallCounters>(); }).counts.any());
}

// 2^20 strides of 2^44 bytes are 0 bytes to who counts with 64 bits, and set 1 lies where nothing is mapped.
TEST_F(ServeTest, SetsBeyondWhatCanBeCountedAreRefused) {
  struct {
    uint32_t sets;
    uint64_t stride, offset;
  } cases[] = {{(1U << 20) + 1, uint64_t(1) << 44, 0},
               {(1U << 17) + 1, uint64_t(1) << 47, 64},
               {(1U << 24), uint64_t(1) << 47, uint64_t(1) << 47},
               {3, uint64_t(1) << 44, 0}};
  for (const auto &entry : cases) {
    Conversation conversation("silent", makeProvider);
    EXPECT_TRUE(ask(conversation, HelloRequest()).ok);
    LoadRequest load = loadRequest(0);
    load.sets = entry.sets;
    for (std::vector<SharedTensor> *tensors : {&load.inputs, &load.outputs})
      for (SharedTensor &tensor : *tensors) {
        tensor.stride = entry.stride;
        tensor.offset = entry.offset;
      }
    Answer answer = ask(conversation, load);
    EXPECT_FALSE(answer.ok) << entry.sets;
    EXPECT_NE(answer.error.find(fmt::format("{} sets", entry.sets)), std::string::npos) << answer.error;
    EXPECT_NE(answer.error.find(entry.sets == 3 ? "end at 3518437208" : "beyond what 64 bits can count"),
              std::string::npos)
        << answer.error;
  }
}

// Each has a provider of its own; what hello started is the first one's.
TEST_F(ServeTest, HoldsSeveralProblems) {
  Conversation conversation("silent", makeProvider);
  EXPECT_TRUE(ask(conversation, HelloRequest()).ok);
  EXPECT_TRUE(ask(conversation, loadRequest(0)).ok);
  EXPECT_TRUE(ask(conversation, loadRequest(5)).ok);
  EXPECT_NE(ask(conversation, loadRequest(5)).error.find("slot 5 holds a problem already"), std::string::npos);
  EXPECT_TRUE(ask(conversation, RunRequest{5, 0}).ok);
  EXPECT_NE(ask(conversation, RunRequest{1, 0}).error.find("slot 1 holds no problem"), std::string::npos);
  EXPECT_TRUE(ask(conversation, UnloadRequest{5}).ok);
  EXPECT_FALSE(ask(conversation, RunRequest{5, 0}).ok);
  EXPECT_TRUE(ask(conversation, RunRequest{0, 0}).ok);
  EXPECT_TRUE(ask(conversation, loadRequest(5)).ok);
  EXPECT_EQ(std::ranges::count(happened, "start"), 3);
}

TEST_F(ServeTest, EmptyCallsDoNoWork) {
  Conversation conversation("silent", makeProvider);
  ask(conversation, HelloRequest());
  ask(conversation, loadRequest(0));
  Answer answer = ask(conversation, TimeRequest{.calls = 4, .batch = 2, .empty = true});
  EXPECT_EQ(answer.host.size(), 2U);
  EXPECT_EQ(SilentProvider::calls, 0U);
  EXPECT_EQ(std::ranges::count(happened, "empty call"), 4);
  EXPECT_NE(ask(conversation, TimeRequest{.watch = true}).error.find("cannot tell"), std::string::npos);
  EXPECT_TRUE(ask(conversation, UploadRequest{0, {0, 1}}).ok);
  EXPECT_TRUE(ask(conversation, FetchRequest{0, {0, 1}}).ok);
  EXPECT_FALSE(ask(conversation, FetchRequest{0, {7, 1}}).ok);
}

// What was put together is what is timed, and nothing else.
TEST_F(ServeTest, TimesWhatWasPrepared) {
  inputs = std::make_unique<SharedTensors>(
      *SharedTensors::create("in", problem.inputs(), 4, SharedTensors::Pages::Reserved));
  outputs = std::make_unique<SharedTensors>(
      *SharedTensors::create("out", problem.outputs(), 4, SharedTensors::Pages::OnDemand));
  Conversation conversation("silent", makeProvider);
  EXPECT_TRUE(ask(conversation, HelloRequest()).ok);
  LoadRequest load = loadRequest(0);
  load.sets = 4;
  EXPECT_TRUE(ask(conversation, load).ok);
  const TimeRequest time = {.calls = 4, .batch = 2, .start = 2, .byDevice = true};
  EXPECT_NE(ask(conversation, time).error.find("were not prepared"), std::string::npos);
  happened.clear();
  Answer prepared = ask(conversation, PrepareRequest{0, 4, 2, 2});
  EXPECT_EQ(prepared.asGraph, true);
  EXPECT_EQ(happened, (std::vector<std::string>{"prepare 2 3", "prepare 1 2"}));
  happened.clear();
  Answer answer = ask(conversation, time);
  EXPECT_EQ(answer.spans, (std::vector<int64_t>{200, 200})) << answer.error;
  EXPECT_EQ(answer.host.size(), 2U);
  EXPECT_EQ(happened, (std::vector<std::string>{"run a batch", "run a batch"}));
  TimeRequest other = time;
  other.start = 1;
  EXPECT_NE(ask(conversation, other).error.find("were not prepared"), std::string::npos);
  EXPECT_EQ(ask(conversation, PrepareRequest{0, 3, 3, 1}).asGraph, false);
  EXPECT_EQ(SilentProvider::calls, 0U);
}

// Only who has a device, and knows problems by their names, checks there.
TEST_F(ServeTest, NotEveryWorkerChecksOnADevice) {
  Conversation conversation("silent", makeProvider);
  EXPECT_FALSE(ask(conversation, HelloRequest()).checksOnDevice);
  EXPECT_NE(ask(conversation, VerifyRequest{}).error.find("slot 0 holds no problem"), std::string::npos);
  EXPECT_TRUE(ask(conversation, loadRequest(0)).ok);
  Answer answer = ask(conversation, VerifyRequest{});
  EXPECT_TRUE(answer.unsupported);
  EXPECT_NE(answer.error.find("knows no families"), std::string::npos) << answer.error;
  FamilyRegistry none;
  conversation.setFamilies(none);
  answer = ask(conversation, VerifyRequest{});
  EXPECT_TRUE(answer.unsupported);
  EXPECT_NE(answer.error.find("no device that checks results"), std::string::npos) << answer.error;
  EXPECT_TRUE(std::ranges::find(happened, "run") == happened.end());
}

// What computes on the CPU alone says so.
TEST_F(ServeTest, NotEveryProviderHasADevice) {
  Conversation conversation("silent", makeProvider);
  Answer answer = ask(conversation, HelloRequest{kProtocolVersion, 1, "cuda://1"});
  EXPECT_TRUE(answer.unsupported);
  EXPECT_NE(answer.error.find("computes on the CPU, and not on cuda://1"), std::string::npos) << answer.error;
}

TEST_F(ServeTest, StopsWhenACallFails) {
  SilentProvider::failing = 5;
  Answer answer = timeWith(openFake);
  EXPECT_EQ(answer.error, "the call failed");
  EXPECT_EQ(happened.back(), "stop");
}

} // namespace
} // namespace kiln::measure
