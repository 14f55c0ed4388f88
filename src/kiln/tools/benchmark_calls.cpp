#include "kiln/tools/benchmark_calls.h"

#include <atomic>
#include <optional>
#include <thread>

#include "kiln/base/clock.h"
#include "kiln/base/exhaustion.h"
#include "kiln/tools/interrupts.h"

namespace kiln {

// Calls that take longer are asked, while they run, whether they are to end.
static constexpr uint64_t kLongCallNanoseconds = 100'000'000;

// One thread's session, and what it calls with.
struct CallBatch::Caller {
  std::unique_ptr<vm::Session> session;
  vm::Function function;
  std::vector<vm::Value> arguments; // buffer views are shared between callers: programs only read them
  std::vector<vm::Value> results;
  std::optional<bool> isLong; // nothing before the first call

  static Result<std::unique_ptr<Caller>> create(const Program &program, const std::string &function,
                                                const std::vector<vm::Value> &arguments) {
    auto caller = std::make_unique<Caller>();
    KILN_ASSIGN_OR_RETURN(caller->session, program.createSession());
    KILN_ASSIGN_OR_RETURN(caller->function, caller->session->lookup(function));
    caller->arguments = arguments;
    caller->results.resize(caller->function.resultCount());
    return caller;
  }

  Status call() {
    if (isInterrupted())
      return cancelled("interrupted");
    Status status;
    if (isLong == false) {
      status = session->call(function, arguments, results);
    } else {
      CallLimit::Scope scope(untilInterrupted());
      uint64_t began = monotonicNanoseconds();
      status = session->call(function, arguments, results);
      isLong = monotonicNanoseconds() - began > kLongCallNanoseconds;
    }
    for (vm::Value &result : results)
      result = vm::Value();
    return status;
  }
};

// The other threads. They sleep on `round` between batches; `pending` counts those that still work on one.
struct CallBatch::Team {
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<Status> statuses; // of each caller's last batch
  std::vector<std::thread> threads;
  std::atomic<uint32_t> round{0};
  std::atomic<uint32_t> pending{0};
  std::atomic<bool> stopping{false};
  std::atomic<uint64_t> left{0}; // calls of the batch that nobody has taken yet

  bool take() {
    uint64_t now = left.load(std::memory_order_relaxed);
    while (now > 0)
      if (left.compare_exchange_weak(now, now - 1, std::memory_order_relaxed))
        return true;
    return false;
  }

  Status work(Caller &caller) {
    while (take())
      if (Status status = caller.call(); !status.ok()) {
        left.store(0, std::memory_order_relaxed);
        return status;
      }
    return okStatus();
  }

  void serve(size_t index) {
    for (uint32_t seen = 0;; ++seen) {
      round.wait(seen, std::memory_order_acquire);
      if (stopping.load(std::memory_order_relaxed))
        return;
      statuses[index] = work(*callers[index]);
      if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1)
        pending.notify_one();
    }
  }

  ~Team() {
    stopping.store(true, std::memory_order_relaxed);
    round.fetch_add(1, std::memory_order_release);
    round.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }
};

CallBatch::CallBatch() = default;
CallBatch::~CallBatch() = default;

Result<std::unique_ptr<CallBatch>> CallBatch::create(const Program &program, const std::string &function,
                                                     const std::vector<vm::Value> &arguments, uint32_t concurrency) {
  std::unique_ptr<CallBatch> batch(new CallBatch());
  KILN_ASSIGN_OR_RETURN(batch->self, Caller::create(program, function, arguments));
  if (concurrency <= 1)
    return batch;
  batch->team = std::make_unique<Team>();
  Team &team = *batch->team;
  for (uint32_t i = 1; i < concurrency; ++i) {
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<Caller> caller, Caller::create(program, function, arguments));
    team.callers.push_back(std::move(caller));
  }
  team.statuses.resize(team.callers.size());
  try {
    for (size_t i = 0; i < team.callers.size(); ++i)
      team.threads.emplace_back([&team, i] { team.serve(i); });
  } catch (const std::system_error &error) {
    return noThread(fmt::format("thread {} of {} that call the function", team.threads.size() + 1, concurrency), error);
  }
  return batch;
}

Status CallBatch::run(uint64_t count) {
  if (!team) {
    for (uint64_t i = 0; i < count; ++i)
      KILN_RETURN_IF_ERROR(self->call());
    return okStatus();
  }
  team->left.store(count, std::memory_order_relaxed);
  team->pending.store(team->threads.size(), std::memory_order_relaxed);
  team->round.fetch_add(1, std::memory_order_release);
  team->round.notify_all();
  Status status = team->work(*self);
  while (uint32_t pending = team->pending.load(std::memory_order_acquire))
    team->pending.wait(pending, std::memory_order_acquire);
  for (const Status &other : team->statuses)
    if (status.ok())
      status = other;
  return status;
}

} // namespace kiln
