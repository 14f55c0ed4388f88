#include "kiln/measure/workers/group.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <time.h>

#include "kiln/base/clock.h"
#include "kiln/measure/workers/cache_size.h"
#include "kiln/measure/workers/timing_data.h"
#include "kiln/measure/workers/worker_process.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure {

namespace {

constexpr uint64_t kMinimumRound = 10'000'000;
constexpr uint64_t kSecond = 1'000'000'000;
// Where the system does not tell.
constexpr uint64_t kAssumedCache = uint64_t(64) << 20;
// Threads of whoever held the token sleep after at most 50 microseconds; see spawn.cpp.
constexpr uint64_t kSettle = 100'000;
constexpr uint32_t kMaxBatch = 1 << 20;

void pause(uint64_t nanoseconds) {
  timespec time = {0, long(nanoseconds)};
  ::nanosleep(&time, nullptr);
}

uint64_t hashOf(std::span<const io::TensorSpan> tensors) {
  uint64_t hash = 0;
  for (const io::TensorSpan &tensor : tensors)
    hash = hash * 31 +
           std::hash<std::string_view>()({reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size()});
  return hash;
}

int64_t medianOf(std::vector<int64_t> samples) {
  auto middle = samples.begin() + std::ptrdiff_t(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

// A candidate that still takes part has a worker.
struct Member {
  const Candidate *candidate = nullptr;
  std::unique_ptr<WorkerProcess> worker;
  std::unique_ptr<SharedTensors> outputs;
  uint64_t outputHash = 0; // of the last pass
};

class Group {
public:
  Group(const Problem &problem, std::span<const Candidate> candidates, const GroupSettings &settings,
        RoundScheduler &scheduler, GroupObserver &observer)
      : problem(problem), settings(settings), scheduler(scheduler), observer(observer), members(candidates.size()) {
    for (size_t i = 0; i < candidates.size(); ++i)
      members[i].candidate = &candidates[i];
    result.candidates.resize(candidates.size());
  }

  Result<GroupResult> run();

private:
  Status checkSettings() const;
  Status makeInputs();
  Status startAll();
  Status start(uint32_t index);
  Status greet(uint32_t index);
  Status load(uint32_t index);
  Status verifyAll();
  Status verifyPass(uint32_t index, size_t pass);
  Status warmUpAll();
  Status measure();
  Status measureRound(const std::vector<uint32_t> &order);
  Status takeToken(uint32_t index);
  Status verifyAllAgain();
  Status finishAll();

  Result<Answer> ask(uint32_t index, const Request &request, uint64_t timeout) {
    return members[index].worker->ask(request, Deadline::after(timeout));
  }
  Result<Answer> timeCalls(uint32_t index, uint64_t nanoseconds, uint32_t batch);
  void advanceSets(uint64_t calls);
  Status withdraw(uint32_t index, Outcome outcome, std::string message);
  Status withdrawFailed(uint32_t index, const Status &status) {
    return withdraw(index, members[index].worker->outcome(), std::string(status.message()));
  }
  bool goesOn() {
    result.interrupted = result.interrupted || !observer.shouldContinue();
    return !result.interrupted;
  }
  bool takesPart(uint32_t index) const { return members[index].worker != nullptr; }
  uint32_t count() const { return uint32_t(members.size()); }
  uint32_t threadsOf(uint32_t index) const {
    uint32_t own = members[index].candidate->threads;
    return own ? own : settings.threads;
  }

  const Problem &problem;
  const GroupSettings settings;
  RoundScheduler &scheduler;
  GroupObserver &observer;
  std::vector<Member> members;
  std::unique_ptr<SharedTensors> inputs;
  uint32_t nextSet = 1; // the timing set that the next call is to use: the one that was used longest ago
  GroupResult result;
};

Status Group::checkSettings() const {
  if (settings.roundNanoseconds < kMinimumRound)
    return invalidArgument("a round of {} ns is too short; it must take at least {} ns", settings.roundNanoseconds,
                           kMinimumRound);
  if (settings.threads == 0)
    return invalidArgument("a group needs at least one thread for each worker");
  return okStatus();
}

Status Group::makeInputs() {
  std::vector<TensorType> types = problem.inputs();
  uint64_t bytes = 0;
  for (const std::vector<TensorType> &list : {types, problem.outputs()})
    for (const TensorType &type : list) {
      KILN_ASSIGN_OR_RETURN(uint64_t length, hal::shapeByteLength(type.type, type.shape));
      bytes += length;
    }
  uint64_t cache = settings.lastLevelCacheBytes;
  if (cache == 0) {
    Result<uint64_t> found = lastLevelCacheBytes(usableCpus());
    cache = found.ok() ? *found : kAssumedCache;
  }
  result.sets = settings.cold ? planColdSets(bytes, cache, settings.dataBudget) : planWarmSets(bytes);

  Result<SharedTensors> created =
      SharedTensors::create("kiln-inputs", types, result.sets.sets(), SharedTensors::Pages::Reserved);
  if (!created.ok())
    return std::move(created).status().withContext(problem.name());
  inputs = std::make_unique<SharedTensors>(*std::move(created));
  KILN_RETURN_IF_ERROR(inputs->forbidWriting());
  for (uint32_t set = 1; set < inputs->sets(); ++set)
    for (const MutableTensor &tensor : inputs->set(set))
      fillForTiming(settings.seed * 1'000'003 + uint64_t(tensor.bytes.data() - inputs->set(0)[0].bytes.data()), tensor);
  for (size_t i = 0; i < types.size(); ++i)
    result.dataDistribution +=
        fmt::format("{}{} {}", i ? ", " : "", hal::elementTypeName(types[i].type), timingDistribution(types[i].type));
  return okStatus();
}

// Processes start beside each other; only then are they spoken to.
Status Group::startAll() {
  for (uint32_t i = 0; i < count(); ++i)
    KILN_RETURN_IF_ERROR(start(i));
  for (uint32_t i = 0; i < count(); ++i)
    if (takesPart(i))
      KILN_RETURN_IF_ERROR(greet(i));
  for (uint32_t i = 0; i < count(); ++i)
    if (takesPart(i))
      KILN_RETURN_IF_ERROR(load(i));
  return okStatus();
}

Status Group::start(uint32_t index) {
  Member &member = members[index];
  size_t processors = settings.cpus.empty() ? usableCpus().size() : settings.cpus.size();
  if (uint32_t wanted = member.candidate->threads; wanted > processors)
    return withdraw(index, Outcome::NotStarted,
                    fmt::format("it asks for {} threads, and there are {} processors; threads that take turns measure "
                                "nothing",
                                wanted, processors));
  Result<SharedTensors> outputs =
      SharedTensors::create("kiln-outputs", problem.outputs(), result.sets.sets(), SharedTensors::Pages::OnDemand);
  if (!outputs.ok())
    return std::move(outputs).status().withContext(problem.name());
  WorkerOptions options;
  options.command = member.candidate->command;
  options.threads = threadsOf(index);
  options.memoryLimit = settings.memoryLimit;
  options.cpus = settings.cpus;
  Result<std::unique_ptr<WorkerProcess>> worker = WorkerProcess::start(options);
  if (!worker.ok())
    return withdraw(index, Outcome::NotStarted, std::string(worker.status().message()));
  member.worker = *std::move(worker);
  member.outputs = std::make_unique<SharedTensors>(*std::move(outputs));
  return okStatus();
}

Status Group::greet(uint32_t index) {
  Result<Answer> hello = ask(index, HelloRequest{kProtocolVersion, threadsOf(index)}, settings.startTimeout);
  if (!hello.ok())
    return withdrawFailed(index, hello.status());
  ProviderInfo &provider = result.candidates[index].provider;
  provider = {hello->provider, hello->version, hello->note};
  return observer.onProvider(index, provider);
}

Status Group::load(uint32_t index) {
  LoadRequest request;
  request.problem = problemText(problem);
  request.module = members[index].candidate->module;
  request.function = members[index].candidate->function;
  request.sets = result.sets.sets();
  request.inputs = inputs->describe();
  request.outputs = members[index].outputs->describe();
  Result<Answer> loaded = ask(index, request, settings.loadTimeout);
  return loaded.ok() ? okStatus() : withdrawFailed(index, loaded.status());
}

// Pass by pass: the inputs are those of one pass at a time, the same for all.
Status Group::verifyAll() {
  size_t passes = problem.passes().size();
  for (size_t pass = 0; pass < passes; ++pass) {
    KILN_RETURN_IF_ERROR(problem.fillInputs(pass, settings.seed, inputs->set(0)));
    for (uint32_t i = 0; i < count() && goesOn(); ++i)
      if (takesPart(i))
        KILN_RETURN_IF_ERROR(verifyPass(i, pass));
  }
  return okStatus();
}

Status Group::verifyPass(uint32_t index, size_t pass) {
  Member &member = members[index];
  problem.prefillOutputs(pass, member.outputs->set(0));
  Result<Answer> ran = ask(index, RunRequest{0}, settings.callTimeout);
  if (!ran.ok())
    return withdrawFailed(index, ran.status());
  std::vector<io::TensorSpan> outputs = std::as_const(*member.outputs).view(0);
  verify::Verdict verdict = problem.check(pass, settings.seed, std::as_const(*inputs).view(0), outputs);
  KILN_RETURN_IF_ERROR(observer.onVerdict(index, pass, verdict));
  result.candidates[index].verdicts.push_back(verdict);
  if (verdict.ok()) {
    member.outputHash = hashOf(outputs);
    return okStatus();
  }
  return withdraw(
      index, Outcome::Wrong,
      fmt::format("pass '{}': {}: {}", problem.passes()[pass], verify::causeName(verdict.cause), verdict.explanation));
}

// The set that a call uses goes on from candidate to candidate: inputs are shared, and those that were used last are
// still in the cache.
void Group::advanceSets(uint64_t calls) {
  uint32_t timing = result.sets.timingSets;
  nextSet = 1 + uint32_t((nextSet - 1 + calls) % timing);
}

Result<Answer> Group::timeCalls(uint32_t index, uint64_t nanoseconds, uint32_t batch) {
  uint64_t started = monotonicNanoseconds();
  Result<Answer> answer = ask(index, TimeRequest{nanoseconds, nextSet, batch}, nanoseconds + settings.callTimeout);
  if (!answer.ok())
    return answer;
  uint64_t elapsed = monotonicNanoseconds() - started;
  uint64_t sum = 0;
  for (int64_t sample : answer->call)
    sum += uint64_t(sample);
  if (answer->call.empty() || answer->batch != batch)
    return invalidArgument("the worker was asked to time batches of {} calls, and answered with {} of {}", batch,
                           answer->call.size(), answer->batch);
  if (sum > elapsed)
    return invalidArgument("the worker says that calls took {} ns; it had {} ns for all of them", sum, elapsed);
  if (std::ranges::min(answer->call) == 0)
    return invalidArgument("the worker says that {} calls took no time", batch);
  advanceSets(answer->call.size() * uint64_t(batch));
  return answer;
}

Status Group::warmUpAll() {
  int64_t fastest = INT64_MAX;
  for (uint32_t i = 0; i < count(); ++i) {
    if (!takesPart(i))
      continue;
    Result<Answer> answer = timeCalls(i, settings.warmUpNanoseconds, 1);
    if (answer.ok())
      fastest = std::min(fastest, medianOf(answer->call));
    else if (Outcome outcome = members[i].worker->outcome(); outcome == Outcome::Ok)
      KILN_RETURN_IF_ERROR(withdraw(i, Outcome::Rubbish, std::string(answer.status().message())));
    else
      KILN_RETURN_IF_ERROR(withdrawFailed(i, answer.status()));
    pause(kSettle);
  }
  uint64_t call = std::max<int64_t>(fastest, 1);
  result.batch = uint32_t(std::clamp<uint64_t>((settings.minimumSampleNanoseconds + call - 1) / call, 1, kMaxBatch));
  return okStatus();
}

Status Group::measure() {
  uint64_t started = monotonicNanoseconds();
  while (goesOn()) {
    if (monotonicNanoseconds() - started > settings.measureNanoseconds) {
      result.stoppedByTime = true;
      break;
    }
    std::vector<uint32_t> order = scheduler.nextRound();
    if (order.empty())
      break;
    KILN_RETURN_IF_ERROR(measureRound(order));
  }
  result.timedNanoseconds = monotonicNanoseconds() - started;
  return okStatus();
}

Status Group::measureRound(const std::vector<uint32_t> &order) {
  bool any = false;
  for (uint32_t index : order) {
    if (index >= count())
      return internalError("the scheduler gave the token to candidate {} of {}", index, count());
    if (!takesPart(index))
      continue;
    any = true;
    KILN_RETURN_IF_ERROR(takeToken(index));
  }
  // It was told who is gone: asking on would never end.
  return any ? okStatus() : internalError("the scheduler gave the token only to candidates that are gone");
}

Status Group::takeToken(uint32_t index) {
  RoundSamples samples;
  samples.candidate = index;
  samples.round = scheduler.round();
  samples.batch = result.batch;
  samples.started = monotonicNanoseconds();
  Result<Answer> answer = timeCalls(index, settings.roundNanoseconds, result.batch);
  pause(kSettle);
  if (!answer.ok())
    return members[index].worker->outcome() == Outcome::Ok
               ? withdraw(index, Outcome::Rubbish, std::string(answer.status().message()))
               : withdrawFailed(index, answer.status());
  samples.call = std::move(answer->call);
  samples.device = std::move(answer->device);
  samples.launch = std::move(answer->launch);
  ++result.candidates[index].rounds;
  KILN_RETURN_IF_ERROR(observer.onRound(samples));
  return scheduler.addRound(samples);
}

// A race shows late, or in one run of a thousand. The same inputs must give the same bytes; where they do not, as sums
// in another order may, the result is checked once more.
Status Group::verifyAllAgain() {
  size_t passes = problem.passes().size();
  for (uint32_t i = 0; passes > 0 && i < count(); ++i) {
    if (!takesPart(i))
      continue;
    Member &member = members[i];
    problem.prefillOutputs(passes - 1, member.outputs->set(0));
    Result<Answer> ran = ask(i, RunRequest{0}, settings.callTimeout);
    if (!ran.ok()) {
      KILN_RETURN_IF_ERROR(withdrawFailed(i, ran.status()));
      continue;
    }
    std::vector<io::TensorSpan> outputs = std::as_const(*member.outputs).view(0);
    if (hashOf(outputs) == member.outputHash)
      continue;
    verify::Verdict verdict = problem.check(passes - 1, settings.seed, std::as_const(*inputs).view(0), outputs);
    if (verdict.ok())
      continue;
    KILN_RETURN_IF_ERROR(observer.onVerdict(i, passes - 1, verdict));
    result.candidates[i].verdicts.push_back(verdict);
    KILN_RETURN_IF_ERROR(withdraw(i, Outcome::Wrong,
                                  fmt::format("right before it was timed, and wrong afterwards: {}: {}",
                                              verify::causeName(verdict.cause), verdict.explanation)));
  }
  return okStatus();
}

Status Group::finishAll() {
  for (uint32_t i = 0; i < count(); ++i) {
    if (!takesPart(i))
      continue;
    Member &member = members[i];
    // How it ends changes nothing about what it did.
    [[maybe_unused]] bool orderly = member.worker->quit(Deadline::after(kSecond)).ok();
    result.candidates[i].peakMemoryBytes = member.worker->peakMemoryBytes();
    member.worker.reset();
    if (result.interrupted)
      continue;
    result.candidates[i].outcome = Outcome::Ok;
    KILN_RETURN_IF_ERROR(observer.onOutcome(i, Outcome::Ok, ""));
  }
  return okStatus();
}

Status Group::withdraw(uint32_t index, Outcome outcome, std::string message) {
  Member &member = members[index];
  CandidateResult &row = result.candidates[index];
  row.outcome = outcome;
  row.message = std::move(message);
  if (member.worker) {
    member.worker->kill();
    row.peakMemoryBytes = member.worker->peakMemoryBytes();
  }
  member.worker.reset();
  member.outputs.reset();
  KILN_RETURN_IF_ERROR(scheduler.withdraw(index));
  return observer.onOutcome(index, outcome, row.message);
}

Result<GroupResult> Group::run() {
  uint64_t started = monotonicNanoseconds();
  KILN_RETURN_IF_ERROR(checkSettings());
  KILN_RETURN_IF_ERROR(makeInputs());
  KILN_RETURN_IF_ERROR(startAll());
  KILN_RETURN_IF_ERROR(verifyAll());
  if (goesOn()) {
    KILN_RETURN_IF_ERROR(warmUpAll());
    KILN_RETURN_IF_ERROR(measure());
  }
  if (settings.verifyAgain && goesOn())
    KILN_RETURN_IF_ERROR(verifyAllAgain());
  KILN_RETURN_IF_ERROR(finishAll());
  result.elapsedNanoseconds = monotonicNanoseconds() - started;
  return std::move(result);
}

} // namespace

Result<GroupResult> runGroup(const Problem &problem, std::span<const Candidate> candidates,
                             const GroupSettings &settings, RoundScheduler &scheduler, GroupObserver &observer) {
  return Group(problem, candidates, settings, scheduler, observer).run();
}

std::vector<std::vector<uint32_t>> planBrackets(uint32_t candidates, uint32_t limit) {
  limit = std::max(limit, 2U);
  std::vector<std::vector<uint32_t>> brackets;
  for (uint32_t next = 1; next < candidates || brackets.empty();) {
    std::vector<uint32_t> bracket;
    if (candidates > 0)
      bracket.push_back(0);
    while (next < candidates && bracket.size() < limit)
      bracket.push_back(next++);
    if (bracket.empty())
      break;
    brackets.push_back(std::move(bracket));
  }
  return brackets;
}

} // namespace kiln::measure
