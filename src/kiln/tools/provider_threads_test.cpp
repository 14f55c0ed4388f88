// How many threads of a worker compute, and where each may run: looked up in /proc when calls were timed.
#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sched.h>
#include <set>
#include <thread>
#include <utility>

#include "kiln/base/clock.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "kiln/measure/workers/worker_process.h"
#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

using testing::TinyMatmul;

struct Team {
  const char *name;
  std::vector<std::string> command;
};
void PrintTo(const Team &team, std::ostream *out) {
  *out << team.name;
}

Team onnxRuntime() {
  return {"onnxruntime", {KILN_PEERS "/bin/python3", KILN_ADAPTERS "/kiln_worker_onnxruntime.py"}};
}

Team library(const char *name) {
  return {name, {KILN_LAB_WORKER, fmt::format("--provider={}", name)}};
}

class ProviderThreads : public ::testing::TestWithParam<Team> {
protected:
  // Nanoseconds that each thread of the worker has run.
  std::map<pid_t, uint64_t> runTimes() const {
    std::map<pid_t, uint64_t> times;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", worker->pid()), error)) {
      uint64_t nanoseconds = 0;
      std::ifstream(entry.path() / "schedstat") >> nanoseconds;
      times[std::stoi(entry.path().filename())] = nanoseconds;
    }
    return times;
  }

  // Those threads that have done a fair share of the work since then.
  std::vector<pid_t> computingSince(std::map<pid_t, uint64_t> before) const {
    std::map<pid_t, uint64_t> after = runTimes();
    uint64_t most = 0;
    for (auto &[thread, time] : after)
      most = std::max(most, time -= before[thread]);
    std::vector<pid_t> threads;
    for (auto [thread, time] : after)
      if (time > most / 4)
        threads.push_back(thread);
    return threads;
  }

  Result<Answer> ask(const Request &request) { return worker->ask(request, Deadline::after(60'000'000'000)); }

  // Of a worker with so many threads, while it computes.
  void expectThreads(uint32_t threads, std::vector<uint32_t> cpus) {
    WorkerOptions options;
    options.command = GetParam().command;
    options.threads = threads;
    options.cpus = std::move(cpus);
    if (!std::filesystem::exists(options.command.front()))
      GTEST_SKIP() << "`make peers` installs " << options.command.front();
    Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
    ASSERT_TRUE(started.ok()) << started.status().message();
    worker = *std::move(started);
    HelloRequest hello;
    hello.threads = threads;
    Result<Answer> answer = ask(hello);
    if (!answer.ok())
      GTEST_SKIP() << answer.status().message();
    TinyMatmul problem;
    problem.m = problem.n = problem.k = 768;
    SharedTensors inputs = *SharedTensors::create("in", problem.inputs(), 2, SharedTensors::Pages::Reserved);
    SharedTensors outputs = *SharedTensors::create("out", problem.outputs(), 2, SharedTensors::Pages::OnDemand);
    Result<Answer> loaded = ask(LoadRequest{0, problemText(problem), "", "", 2, inputs.describe(), outputs.describe()});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    uint64_t begin = monotonicNanoseconds();
    ASSERT_TRUE(ask(TimeRequest{.calls = 4, .start = 1}).ok());
    uint64_t call = (monotonicNanoseconds() - begin) / 4 + 1;
    std::map<pid_t, uint64_t> before = runTimes();
    ASSERT_TRUE(ask(TimeRequest{.calls = 400'000'000 / call + 1, .start = 1}).ok());
    std::vector<pid_t> busy = computingSince(std::move(before));
    EXPECT_EQ(busy.size(), threads);
    std::set<int> places;
    for (pid_t thread : busy) {
      cpu_set_t allowed;
      ASSERT_EQ(::sched_getaffinity(thread, sizeof(allowed), &allowed), 0);
      int first = 0;
      while (first < CPU_SETSIZE && !CPU_ISSET(first, &allowed))
        ++first;
      EXPECT_TRUE(places.insert(first).second) << "two threads on CPU " << first;
      EXPECT_LT(CPU_COUNT(&allowed), std::max(2, int(std::thread::hardware_concurrency()))) << "thread " << thread;
    }
  }

  std::unique_ptr<WorkerProcess> worker;
};

INSTANTIATE_TEST_SUITE_P(, ProviderThreads,
                         ::testing::Values(library("openblas"), library("mkl"), library("onednn"), onnxRuntime()),
                         [](const auto &info) { return std::string(info.param.name); });

// As the lab binds it.
TEST_P(ProviderThreads, OneOnOneProcessor) {
  expectThreads(1, {0});
}

// On a machine with more processors, these are not all of them.
TEST_P(ProviderThreads, TwoOnACoreEach) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  if (CPU_COUNT(&allowed) < 2)
    GTEST_SKIP() << "there is one processor";
  expectThreads(2, {});
}

} // namespace
} // namespace kiln::measure
