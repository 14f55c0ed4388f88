#include "kiln/measure/workers/group.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <time.h>

#include "kiln/base/clock.h"
#include "kiln/measure/workers/cache_size.h"
#include "kiln/measure/workers/claims.h"
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
// So many workers are there at once while they are verified: the inputs of a pass are made once for all of them.
constexpr uint32_t kVerifiedTogether = 16;
// A turn lasts so many times as long as it takes to start a worker, so that most of the time is timed; but no longer
// than the maximum for that.
constexpr uint64_t kTurnPerStart = 7;
constexpr uint64_t kMaximumTurn = 100'000'000;
// Who needs more than so many turns to make up for its start lives until the group is done.
constexpr uint64_t kMaximumLife = 20;
// With fewer there is no interval.
constexpr uint32_t kLeastRounds = 3;
// How long turns are is planned anew before each of the first so many rounds.
constexpr uint32_t kPlannedRounds = 4;
// Results are looked at again after the first turn and after each of so many.
constexpr uint32_t kTurnsPerCheck = 16;

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

struct Member {
  const Candidate *candidate = nullptr;
  bool gone = false;
  std::unique_ptr<WorkerProcess> worker;  // there is one while it is verified and while it has the token
  uint64_t startNanoseconds = UINT64_MAX; // that a worker takes to start and to load, at best
  uint64_t callNanoseconds = 1;
  uint64_t life = 1;       // turns of a worker
  uint64_t turns = 0;      // of this worker
  uint64_t outputHash = 0; // of the last pass
  UntoldTime untold;       // in its turns
};

class Group {
public:
  Group(const Problem &problem, std::span<const Candidate> candidates, const GroupSettings &settings,
        RoundScheduler &scheduler, GroupObserver &observer)
      : problem(problem), settings(settings), scheduler(scheduler), observer(observer), members(candidates.size()) {
    for (size_t i = 0; i < candidates.size(); ++i)
      members[i].candidate = &candidates[i];
    result.candidates.resize(candidates.size());
    processors = settings.cpus.empty() ? usableCpus().size() : settings.cpus.size();
  }

  Result<GroupResult> run();

private:
  Status checkSettings() const;
  Status makeTensors();
  Status admitAll();
  Status begin(uint32_t index);
  Status greet(uint32_t index);
  Status load(uint32_t index);
  void end(uint32_t index);
  Status verifyAll(uint32_t first, uint32_t last);
  Status verifyPass(uint32_t index, size_t pass);
  Status warmUp(uint32_t index);
  void planTurns();
  Status measure();
  Status measureRound(const std::vector<uint32_t> &order);
  Status takeToken(uint32_t index);
  Status verifyAgain(uint32_t index);
  Status finishAll();

  Result<Answer> ask(uint32_t index, const Request &request, uint64_t timeout) {
    return members[index].worker->ask(request, Deadline::after(timeout));
  }
  Result<Answer> timeCalls(uint32_t index, uint64_t nanoseconds, uint32_t batch);
  void advanceSets(uint64_t calls);
  Status withdraw(uint32_t index, Outcome outcome, std::string message);
  Status withdrawTimed(uint32_t index, const Status &status);
  Status withdrawFailed(uint32_t index, const Status &status) {
    return withdraw(index, members[index].worker->outcome(), std::string(status.message()));
  }
  bool goesOn() {
    result.interrupted = result.interrupted || !observer.shouldContinue();
    return !result.interrupted;
  }
  bool takesPart(uint32_t index) const { return !members[index].gone; }
  uint32_t count() const { return uint32_t(members.size()); }
  uint32_t threadsOf(uint32_t index) const {
    uint32_t own = members[index].candidate->threads;
    return own ? own : settings.threads;
  }

  const Problem &problem;
  const GroupSettings settings;
  const uint64_t began = monotonicNanoseconds();
  size_t processors = 0; // that workers may run on
  RoundScheduler &scheduler;
  GroupObserver &observer;
  std::vector<Member> members;
  std::unique_ptr<SharedTensors> inputs;
  // One for all: who writes to other pages is faster or slower by some percent for as long as it has them.
  std::unique_ptr<SharedTensors> outputs;
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

Status Group::makeTensors() {
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
  Result<SharedTensors> results =
      SharedTensors::create("kiln-outputs", problem.outputs(), result.sets.sets(), SharedTensors::Pages::Reserved);
  if (!results.ok())
    return std::move(results).status().withContext(problem.name());
  outputs = std::make_unique<SharedTensors>(*std::move(results));
  KILN_RETURN_IF_ERROR(inputs->forbidWriting());
  for (uint32_t set = 1; set < inputs->sets(); ++set)
    for (const MutableTensor &tensor : inputs->set(set))
      fillForTiming(settings.seed * 1'000'003 + uint64_t(tensor.bytes.data() - inputs->set(0)[0].bytes.data()), tensor);
  return okStatus();
}

// Who is not withdrawn has a worker that has loaded.
Status Group::begin(uint32_t index) {
  Member &member = members[index];
  uint64_t started = monotonicNanoseconds();
  if (uint32_t wanted = member.candidate->threads; wanted > processors)
    return withdraw(index, Outcome::NotStarted,
                    fmt::format("it asks for {} threads, and there are {} processors; threads that take turns measure "
                                "nothing",
                                wanted, processors));
  WorkerOptions options;
  options.command = member.candidate->command;
  options.threads = threadsOf(index);
  options.memoryLimit = settings.memoryLimit;
  options.cpus = processorsOf(settings, options.threads);
  Result<std::unique_ptr<WorkerProcess>> worker = WorkerProcess::start(options);
  if (!worker.ok())
    return withdraw(index, Outcome::NotStarted, std::string(worker.status().message()));
  member.worker = *std::move(worker);
  member.turns = 0;
  KILN_RETURN_IF_ERROR(greet(index));
  if (takesPart(index))
    KILN_RETURN_IF_ERROR(load(index));
  member.startNanoseconds = std::min(member.startNanoseconds, monotonicNanoseconds() - started);
  return okStatus();
}

// How it ends changes nothing about what it did.
void Group::end(uint32_t index) {
  Member &member = members[index];
  if (!member.worker)
    return;
  [[maybe_unused]] bool orderly = member.worker->quit(Deadline::after(kSecond)).ok();
  uint64_t &peak = result.candidates[index].peakMemoryBytes;
  peak = std::max(peak, member.worker->peakMemoryBytes());
  member.worker.reset();
}

Status Group::greet(uint32_t index) {
  Result<Answer> hello = ask(index, HelloRequest{kProtocolVersion, threadsOf(index)}, settings.startTimeout);
  if (!hello.ok())
    return withdrawFailed(index, hello.status());
  result.candidates[index].provider = {hello->provider, hello->version, hello->note};
  return okStatus();
}

Status Group::load(uint32_t index) {
  LoadRequest request;
  request.problem = problemText(problem);
  request.module = members[index].candidate->module;
  request.function = members[index].candidate->function;
  request.sets = result.sets.sets();
  request.inputs = inputs->describe();
  request.outputs = outputs->describe();
  Result<Answer> loaded = ask(index, request, settings.loadTimeout);
  return loaded.ok() ? okStatus() : withdrawFailed(index, loaded.status());
}

// Everybody once: what it is, whether it is right, and how long it takes.
Status Group::admitAll() {
  for (uint32_t first = 0; first < count(); first += kVerifiedTogether) {
    uint32_t last = std::min(first + kVerifiedTogether, count());
    for (uint32_t i = first; i < last && goesOn(); ++i)
      KILN_RETURN_IF_ERROR(begin(i));
    KILN_RETURN_IF_ERROR(verifyAll(first, last));
    for (uint32_t i = first; i < last; ++i) {
      if (takesPart(i) && goesOn())
        KILN_RETURN_IF_ERROR(warmUp(i));
      end(i);
    }
  }
  return okStatus();
}

// Pass by pass: the inputs are those of one pass at a time, the same for all.
Status Group::verifyAll(uint32_t first, uint32_t last) {
  size_t passes = problem.passes().size();
  for (size_t pass = 0; pass < passes && goesOn(); ++pass) {
    KILN_RETURN_IF_ERROR(problem.fillInputs(pass, settings.seed, inputs->set(0)));
    for (uint32_t i = first; i < last && goesOn(); ++i)
      if (takesPart(i))
        KILN_RETURN_IF_ERROR(verifyPass(i, pass));
  }
  return okStatus();
}

Status Group::verifyPass(uint32_t index, size_t pass) {
  Member &member = members[index];
  problem.prefillOutputs(pass, outputs->set(0));
  Result<Answer> ran = ask(index, RunRequest{0}, settings.callTimeout);
  if (!ran.ok())
    return withdrawFailed(index, ran.status());
  std::vector<io::TensorSpan> written = std::as_const(*outputs).view(0);
  verify::Verdict verdict = problem.check(pass, settings.seed, std::as_const(*inputs).view(0), written);
  result.candidates[index].verdicts.push_back(verdict);
  if (verdict.ok()) {
    member.outputHash = hashOf(written);
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
  KILN_RETURN_IF_ERROR(checkClaims(*answer, batch, elapsed));
  advanceSets(answer->call.size() * uint64_t(batch));
  return answer;
}

Status Group::warmUp(uint32_t index) {
  Result<Answer> answer = timeCalls(index, settings.warmUpNanoseconds, 1);
  if (!answer.ok())
    return withdrawTimed(index, answer.status());
  members[index].callNanoseconds = uint64_t(medianOf(answer->call));
  pause(kSettle);
  return okStatus();
}

// From what everybody's workers took so far, at best: the first ones pay for pages that nobody has touched yet.
void Group::planTurns() {
  uint64_t call = UINT64_MAX;
  for (const Member &member : members)
    if (!member.gone)
      call = std::min(call, std::max<uint64_t>(member.callNanoseconds, 1));
  result.batch = uint32_t(std::clamp<uint64_t>((settings.minimumSampleNanoseconds + call - 1) / call, 1, kMaxBatch));
  std::vector<int64_t> starts;
  for (const Member &member : members)
    if (!member.gone)
      starts.push_back(int64_t(member.startNanoseconds));
  uint64_t turn = settings.roundNanoseconds;
  if (!starts.empty())
    turn = std::max(turn, std::min(kMaximumTurn, kTurnPerStart * uint64_t(medianOf(std::move(starts)))));
  result.turnNanoseconds = turn;
  for (Member &member : members) {
    if (member.gone)
      continue;
    if (kTurnPerStart * member.startNanoseconds <= kMaximumTurn && kTurnPerStart * member.callNanoseconds <= turn) {
      member.life = 1;
      continue;
    }
    // What is not timed of a worker's life: its start, and a first call at least. A turn is one call at least.
    uint64_t untimed = member.startNanoseconds + std::max(settings.turnWarmUpNanoseconds, member.callNanoseconds);
    uint64_t timed = std::max(turn, member.callNanoseconds);
    member.life = (kTurnPerStart * untimed + timed - 1) / timed;
    if (member.life > kMaximumLife)
      member.life = UINT64_MAX;
  }
}

Status Group::measure() {
  uint64_t started = monotonicNanoseconds();
  uint32_t rounds = 0;
  while (goesOn()) {
    std::vector<uint32_t> order = scheduler.nextRound();
    if (order.empty())
      break;
    // Asked after the scheduler, who may have had enough already.
    uint64_t now = monotonicNanoseconds();
    result.roundsNanoseconds = now - started;
    bool late = rounds >= kLeastRounds && now - began > settings.groupNanoseconds;
    if (late || result.roundsNanoseconds > settings.measureNanoseconds) {
      result.stoppedByTime = true;
      break;
    }
    if (rounds++ < kPlannedRounds)
      planTurns();
    KILN_RETURN_IF_ERROR(measureRound(order));
  }
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
  Member &member = members[index];
  if (!member.worker) {
    KILN_RETURN_IF_ERROR(begin(index));
    if (!takesPart(index))
      return okStatus();
    ++result.candidates[index].workers;
    Result<Answer> warm = timeCalls(index, settings.turnWarmUpNanoseconds, 1);
    if (!warm.ok())
      return withdrawTimed(index, warm.status());
  }
  RoundSamples samples;
  samples.candidate = index;
  samples.round = scheduler.round();
  samples.batch = result.batch;
  samples.started = monotonicNanoseconds();
  Result<Answer> answer = timeCalls(index, result.turnNanoseconds, result.batch);
  uint64_t elapsed = monotonicNanoseconds() - samples.started;
  result.timedNanoseconds += elapsed;
  pause(kSettle);
  if (!answer.ok())
    return withdrawTimed(index, answer.status());
  member.untold.addTurn(*answer, elapsed);
  if (Status told = member.untold.check(); !told.ok())
    return withdrawTimed(index, told);
  samples.call = std::move(answer->call);
  samples.device = std::move(answer->device);
  samples.launch = std::move(answer->launch);
  samples.counts = answer->counts;
  uint32_t turn = result.candidates[index].rounds++;
  if (settings.verifyAgain && turn % kTurnsPerCheck == 0)
    KILN_RETURN_IF_ERROR(verifyAgain(index));
  if (!takesPart(index))
    return okStatus();
  if (++member.turns >= member.life)
    end(index);
  KILN_RETURN_IF_ERROR(observer.onRound(samples));
  return scheduler.addRound(samples);
}

Status Group::withdrawTimed(uint32_t index, const Status &status) {
  if (members[index].worker->outcome() == Outcome::Ok)
    return withdraw(index, Outcome::Rubbish, std::string(status.message()));
  return withdrawFailed(index, status);
}

// A race shows late, or in one run of a thousand. The same inputs must give the same bytes; where they do not, as sums
// in another order may, the result is checked once more.
Status Group::verifyAgain(uint32_t index) {
  size_t passes = problem.passes().size();
  if (passes == 0)
    return okStatus();
  Member &member = members[index];
  problem.prefillOutputs(passes - 1, outputs->set(0));
  Result<Answer> ran = ask(index, RunRequest{0}, settings.callTimeout);
  if (!ran.ok())
    return withdrawFailed(index, ran.status());
  std::vector<io::TensorSpan> written = std::as_const(*outputs).view(0);
  if (hashOf(written) == member.outputHash)
    return okStatus();
  verify::Verdict verdict = problem.check(passes - 1, settings.seed, std::as_const(*inputs).view(0), written);
  if (verdict.ok())
    return okStatus();
  result.candidates[index].verdicts.push_back(verdict);
  return withdraw(index, Outcome::Wrong,
                  fmt::format("right before it was timed, and wrong afterwards: {}: {}",
                              verify::causeName(verdict.cause), verdict.explanation));
}

Status Group::finishAll() {
  for (uint32_t i = 0; i < count(); ++i) {
    end(i);
    if (!takesPart(i) || result.interrupted)
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
  member.gone = true;
  if (member.worker) {
    member.worker->kill();
    row.peakMemoryBytes = std::max(row.peakMemoryBytes, member.worker->peakMemoryBytes());
  }
  member.worker.reset();
  KILN_RETURN_IF_ERROR(scheduler.withdraw(index));
  return observer.onOutcome(index, outcome, row.message);
}

Result<GroupResult> Group::run() {
  KILN_RETURN_IF_ERROR(checkSettings());
  KILN_RETURN_IF_ERROR(makeTensors());
  KILN_RETURN_IF_ERROR(admitAll());
  if (goesOn()) {
    KILN_RETURN_IF_ERROR(measure());
  }
  KILN_RETURN_IF_ERROR(finishAll());
  return std::move(result);
}

} // namespace

std::vector<uint32_t> processorsOf(const GroupSettings &settings, uint32_t threads) {
  if (threads != 1)
    return settings.cpus;
  std::vector<uint32_t> cpus = settings.cpus.empty() ? usableCpus() : settings.cpus;
  return cpus.empty() ? cpus : std::vector{cpus.back()};
}

Result<GroupResult> runGroup(const Problem &problem, std::span<const Candidate> candidates,
                             const GroupSettings &settings, RoundScheduler &scheduler, GroupObserver &observer) {
  return Group(problem, candidates, settings, scheduler, observer).run();
}

} // namespace kiln::measure
