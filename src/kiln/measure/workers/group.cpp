#include "kiln/measure/workers/group.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <time.h>

#include "kiln/base/clock.h"
#include "kiln/measure/workers/cache_size.h"
#include "kiln/measure/workers/claims.h"
#include "kiln/measure/workers/count_claims.h"
#include "kiln/measure/workers/fresh_turns.h"
#include "kiln/measure/workers/middle.h"
#include "kiln/measure/workers/process_times.h"
#include "kiln/measure/workers/timed_data.h"
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
constexpr int kLeastWarmUpRequests = 4, kWarmUpRequests = 8; // fewer only of calls that take very long
constexpr uint64_t kLongWarmUp = 40;
constexpr int kTurnsToSettle = 24;
constexpr uint64_t kTimeToSettle = kSecond / 2;
// A turn has at most so many stretches, each of which poisons and checks what it writes.
constexpr size_t kMaximumStretches = 3;
// Watched calls take at most this part of the time that other calls take.
constexpr uint64_t kWatchedPart = 32;
constexpr uint64_t kMaximumWatched = 64;
// A watched call takes no less than this part of one in the fastest of at least so many turns.
constexpr double kWatchedOfFastest = 0.8;
constexpr size_t kTurnsToTellCalls = 3;
// An empty call is timed so often, at two counts; the middle one of some tries counts.
constexpr uint64_t kEmptyCalls = 64;
constexpr int kEmptyTries = 5;
constexpr double kNotTimed = 1e18;
constexpr size_t kTurnsToBeImplausible = 3;
// Tensors are copied at this many bytes a nanosecond at least, after so many nanoseconds for the request and each set.
constexpr double kSlowestCopy = 1;
constexpr uint64_t kCopyOfSet = 10'000, kCopySlack = 2'000'000;
// No algorithm is believed to need less of the definition's operations; Winograd's largest has a quarter.
constexpr double kFewestOperations = 0.25;

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

// What a call takes, for planning. How long a short request was disturbed is known roughly: turns planned from less
// than a part of its time could be endless.
uint64_t callOf(const TimedRequest &timed) {
  return std::max<uint64_t>({timed.busy(), timed.elapsed() / 8, 1}) / timed.request.calls + 1;
}

struct Member {
  const Candidate *candidate = nullptr;
  bool gone = false;
  std::unique_ptr<WorkerProcess> worker;  // there is one while it is verified and while it has the token
  uint64_t startNanoseconds = UINT64_MAX; // that a worker takes to start and to load, at best
  uint64_t callNanoseconds = 1;           // by the lab's clock
  double emptyNanoseconds = 0;            // of a call without work; 0: it makes none
  bool tellsDeviceTimes = false;
  uint64_t life = 1;  // turns of a worker
  uint64_t turns = 0; // of this worker
  uint64_t allTurns = 0;
  uint64_t loadedWeights = 0;        // the state of the weights when this worker loaded them
  uint64_t watchable = 0;            // nanoseconds of calls since some were watched
  uint64_t outputHash = 0;           // of the last pass
  size_t copies = 0, slowCopies = 0; // requests to upload and to fetch
  std::vector<int64_t> medians;      // of turns, picoseconds of a call
  std::vector<SpeedFloor> floors;
  UntoldTime untold;
  FreshTurns freshTurns;
  DeviceClaims deviceClaims;
};

// Calls of one request, whose outputs are poisoned before and checked afterwards.
struct Stretch {
  uint32_t start = 1; // the first set
  uint64_t calls = 0;
};

class Group {
public:
  Group(const Problem &problem, std::span<const Candidate> candidates, const GroupSettings &settings,
        RoundScheduler &scheduler, GroupObserver &observer)
      : problem(problem), settings(settings), scheduler(scheduler), observer(observer), members(candidates.size()) {
    for (size_t i = 0; i < candidates.size(); ++i)
      members[i].candidate = &candidates[i], members[i].floors = candidates[i].floors;
    result.candidates.resize(candidates.size());
    processors = settings.cpus.empty() ? usableCpus().size() : settings.cpus.size();
  }

  Result<GroupResult> run();

private:
  Status checkSettings() const;
  Status makeData();
  Status admitAll();
  Status begin(uint32_t index);
  Status greet(uint32_t index);
  Status load(uint32_t index);
  void end(uint32_t index);
  Status verifyAll(uint32_t first, uint32_t last);
  Status verifyPass(uint32_t index, size_t pass);
  Status warmUp(uint32_t index);
  Status timeEmptyCalls(uint32_t index);
  void planTurns();
  Status measure();
  Status measureRound(const std::vector<uint32_t> &order);
  Status takeToken(uint32_t index);
  Status readyWorker(uint32_t index);
  std::vector<Stretch> planStretches(uint64_t callNanoseconds);
  Status timeTurn(uint32_t index, RoundSamples &samples);
  Status settleDoubts();
  Status timeStretch(uint32_t index, const Stretch &stretch, RoundSamples &samples);
  Status checkOutputs(uint32_t index, SetRange sets);
  Status askToCopy(uint32_t index, const Request &request, SharedTensors &tensors, SetRange sets);
  Status watchCalls(uint32_t index, RoundSamples &samples);
  Status checkTurn(uint32_t index, const RoundSamples &samples);
  Status checkSpeed(uint32_t index);
  const SpeedFloor *floorAbove(uint32_t index, double call, double &least) const;
  Status verifyAgain(uint32_t index);
  Status finishAll();

  // A worker runs while it is asked, and not otherwise.
  Result<Answer> ask(uint32_t index, const Request &request, uint64_t timeout) {
    WorkerProcess &worker = *members[index].worker;
    Result<Answer> answer = worker.ask(request, Deadline::after(timeout));
    worker.pause();
    return answer;
  }
  Result<TimedRequest> timeCalls(uint32_t index, TimeRequest request);
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
  std::unique_ptr<TimedData> data;
  uint32_t nextSet = 1; // the timing set that the next call is to use: the one that was used longest ago
  uint64_t weights = 0; // how often the weights of timing sets have changed
  // Draws what no worker may foresee.
  std::mt19937_64 random{std::random_device{}()};
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

Status Group::makeData() {
  TimedDataOptions options;
  options.cold = settings.cold;
  options.seed = settings.seed;
  options.dataBudget = settings.dataBudget;
  options.lastLevelCacheBytes = settings.lastLevelCacheBytes;
  if (options.lastLevelCacheBytes == 0) {
    Result<uint64_t> found = lastLevelCacheBytes(usableCpus());
    options.lastLevelCacheBytes = found.ok() ? *found : kAssumedCache;
  }
  KILN_ASSIGN_OR_RETURN(data, TimedData::create(problem, options));
  result.sets = data->plan();
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
  bool copied = std::ranges::any_of(hello->devices, [](const WorkerDevice &device) { return !device.shared; });
  ProviderInfo &provider = result.candidates[index].provider;
  // What one of its processes says holds for all of them.
  provider = {hello->provider,           hello->version,           hello->note,
              copied || provider.copied, provider.preparedWeights, provider.flops};
  members[index].tellsDeviceTimes = hello->tellsDeviceTimes;
  if (!hello->makesEmptyCalls)
    members[index].emptyNanoseconds = 0;
  else if (members[index].emptyNanoseconds == 0)
    members[index].emptyNanoseconds = kNotTimed;
  return okStatus();
}

Status Group::load(uint32_t index) {
  LoadRequest request;
  request.module = members[index].candidate->module;
  request.problem = problemText(request.module.empty() ? problem.operation() : problem);
  request.function = members[index].candidate->function;
  request.sets = result.sets.sets();
  request.inputs = data->describeInputs();
  request.outputs = data->describeOutputs();
  Result<Answer> loaded = ask(index, request, settings.loadTimeout);
  if (!loaded.ok())
    return withdrawFailed(index, loaded.status());
  ProviderInfo &provider = result.candidates[index].provider;
  provider.preparedWeights = provider.preparedWeights || loaded->preparedWeights;
  if (loaded->flops)
    provider.flops = std::min(*loaded->flops, provider.flops.value_or(*loaded->flops));
  members[index].loadedWeights = weights;
  return okStatus();
}

// Everybody once: what it is, whether it is right, and how long it takes.
Status Group::admitAll() {
  for (uint32_t first = 0; first < count(); first += kVerifiedTogether) {
    uint32_t last = std::min(first + kVerifiedTogether, count());
    for (uint32_t i = first; i < last && goesOn(); ++i) {
      KILN_RETURN_IF_ERROR(begin(i));
    }
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
    KILN_RETURN_IF_ERROR(problem.fillInputs(pass, settings.seed, data->inputs().set(0)));
    for (uint32_t i = first; i < last && goesOn(); ++i)
      if (takesPart(i))
        KILN_RETURN_IF_ERROR(verifyPass(i, pass));
  }
  return okStatus();
}

Status Group::verifyPass(uint32_t index, size_t pass) {
  Member &member = members[index];
  problem.prefillOutputs(pass, data->outputs().set(0));
  Result<Answer> ran = ask(index, RunRequest{}, settings.callTimeout);
  if (!ran.ok())
    return withdrawFailed(index, ran.status());
  std::vector<io::TensorSpan> written = std::as_const(data->outputs()).view(0);
  verify::Verdict verdict = problem.check(pass, settings.seed, std::as_const(data->inputs()).view(0), written);
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
Result<TimedRequest> Group::timeCalls(uint32_t index, TimeRequest request) {
  if (!request.empty)
    nextSet = data->advance(request.start, request.calls);
  TimedRequest timed;
  timed.request = request;
  timed.threads = threadsOf(index);
  uint64_t expected = request.calls * members[index].callNanoseconds * 4;
  pid_t pid = members[index].worker->pid();
  ProcessTimes before = ProcessTimes::of(pid);
  timed.sent = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(timed.answer, ask(index, request, expected + settings.callTimeout));
  timed.answered = monotonicNanoseconds();
  ProcessTimes after = ProcessTimes::of(pid);
  timed.running = after.running - before.running;
  timed.disturbed = disturbedBetween(before, after);
  KILN_RETURN_IF_ERROR(checkClaims(timed));
  KILN_RETURN_IF_ERROR(checkCounts(timed.answer.counts, timed.elapsed(), threadsOf(index)));
  return timed;
}

// As many calls as fill the time that warming up is to take: few calls say how many, by the lab's clock, in which
// answering takes longer than a short call.
Status Group::warmUp(uint32_t index) {
  Member &member = members[index];
  uint64_t elapsed = 0, calls = 1;
  // A delay of the first ones must not pass for the time of a call.
  auto enough = [&](int requests) {
    return elapsed >= settings.warmUpNanoseconds * (requests < kLeastWarmUpRequests ? kLongWarmUp : 1) / 2;
  };
  for (int i = 0; i < kWarmUpRequests && !enough(i); ++i) {
    Result<TimedRequest> timed = timeCalls(index, {.calls = calls, .start = nextSet});
    if (!timed.ok())
      return withdrawTimed(index, timed.status());
    elapsed = timed->spent();
    uint64_t call = callOf(*timed);
    member.callNanoseconds = i == 0 ? call : std::min(call, member.callNanoseconds);
    calls = std::clamp<uint64_t>(settings.warmUpNanoseconds / member.callNanoseconds, 2 * calls, kMaxBatch);
  }
  if (member.emptyNanoseconds == kNotTimed)
    KILN_RETURN_IF_ERROR(timeEmptyCalls(index));
  pause(kSettle);
  return okStatus();
}

// By the lab's clock, at two counts of calls: what a request costs by itself cancels.
Status Group::timeEmptyCalls(uint32_t index) {
  std::vector<int64_t> tries;
  for (int i = 0; i < kEmptyTries; ++i) {
    Result<TimedRequest> few = timeCalls(index, {.calls = kEmptyCalls, .start = nextSet, .empty = true});
    if (!few.ok())
      return withdrawTimed(index, few.status());
    Result<TimedRequest> many = timeCalls(index, {.calls = 4 * kEmptyCalls, .start = nextSet, .empty = true});
    if (!many.ok())
      return withdrawTimed(index, many.status());
    tries.push_back((int64_t(many->elapsed()) - int64_t(few->elapsed())) / int64_t(3 * kEmptyCalls));
  }
  members[index].emptyNanoseconds = double(std::max<int64_t>(middleOf(std::move(tries)), 1));
  return okStatus();
}

// From what everybody's workers took so far, at best: the first ones pay for pages that nobody has touched yet.
void Group::planTurns() {
  uint64_t call = UINT64_MAX;
  for (const Member &member : members)
    if (!member.gone)
      call = std::min(call, std::max<uint64_t>(member.callNanoseconds, 1));
  if (result.batch == 0)
    result.batch = uint32_t(std::clamp<uint64_t>((settings.minimumSampleNanoseconds + call - 1) / call, 1, kMaxBatch));
  std::vector<int64_t> starts;
  for (const Member &member : members)
    if (!member.gone)
      starts.push_back(int64_t(member.startNanoseconds));
  uint64_t turn = settings.roundNanoseconds;
  if (!starts.empty())
    turn = std::max(turn, std::min(kMaximumTurn, kTurnPerStart * uint64_t(middleOf(std::move(starts)))));
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

// A worker that has loaded the weights that are there now, and has warmed up.
Status Group::readyWorker(uint32_t index) {
  Member &member = members[index];
  if (member.worker && result.candidates[index].provider.preparedWeights && member.loadedWeights != weights) {
    Result<Answer> unloaded = ask(index, UnloadRequest{}, settings.callTimeout);
    if (!unloaded.ok())
      return withdrawFailed(index, unloaded.status());
    KILN_RETURN_IF_ERROR(load(index));
  }
  if (member.worker || member.gone)
    return okStatus();
  KILN_RETURN_IF_ERROR(begin(index));
  if (!takesPart(index))
    return okStatus();
  ++result.candidates[index].workers;
  uint64_t calls =
      std::clamp<uint64_t>(settings.turnWarmUpNanoseconds / member.callNanoseconds, 1, result.sets.timingSets);
  Result<TimedRequest> warm = timeCalls(index, {.calls = calls, .start = nextSet});
  return warm.ok() ? okStatus() : withdrawTimed(index, warm.status());
}

// A cold turn uses no set twice in a stretch, so that each of its calls leaves something to check.
std::vector<Stretch> Group::planStretches(uint64_t callNanoseconds) {
  uint64_t batches = std::max<uint64_t>(result.turnNanoseconds / callNanoseconds / result.batch, 1);
  uint64_t most = settings.cold ? std::max<uint64_t>(result.sets.timingSets / result.batch, 1) : batches;
  std::vector<Stretch> stretches;
  uint32_t start = nextSet;
  for (; batches > 0 && stretches.size() < kMaximumStretches; batches -= std::min(batches, most)) {
    uint64_t calls = std::min(batches, most) * result.batch;
    stretches.push_back({start, calls});
    start = data->advance(start, calls);
  }
  return stretches;
}

Status Group::takeToken(uint32_t index) {
  RoundSamples samples;
  samples.candidate = index;
  samples.round = scheduler.round();
  KILN_RETURN_IF_ERROR(timeTurn(index, samples));
  if (!takesPart(index))
    return okStatus();
  ++result.candidates[index].rounds;
  KILN_RETURN_IF_ERROR(observer.onRound(samples));
  return scheduler.addRound(samples);
}

Status Group::timeTurn(uint32_t index, RoundSamples &samples) {
  Member &member = members[index];
  KILN_RETURN_IF_ERROR(readyWorker(index));
  if (!takesPart(index))
    return okStatus();
  samples.batch = result.batch;
  samples.started = monotonicNanoseconds();
  samples.cold = settings.cold && result.sets.exceedsCache;
  samples.fresh = settings.checkTimed && settings.cold && member.freshTurns.draw(random);
  for (const Stretch &stretch : planStretches(member.callNanoseconds)) {
    KILN_RETURN_IF_ERROR(timeStretch(index, stretch, samples));
    if (!takesPart(index))
      return okStatus();
  }
  KILN_RETURN_IF_ERROR(watchCalls(index, samples));
  if (!takesPart(index))
    return okStatus();
  pause(kSettle);
  KILN_RETURN_IF_ERROR(checkTurn(index, samples));
  if (takesPart(index) && settings.verifyAgain && member.allTurns++ % kTurnsPerCheck == 0)
    KILN_RETURN_IF_ERROR(verifyAgain(index));
  if (takesPart(index) && ++member.turns >= member.life)
    end(index);
  return okStatus();
}

// Few rounds may leave it open whether a candidate computes only where its inputs are new. It has turns beyond those
// that are measured until that is known, or a quarter of the rounds' time is over.
Status Group::settleDoubts() {
  uint64_t until = monotonicNanoseconds() + std::max(result.roundsNanoseconds / 4, kTimeToSettle);
  auto doubtful = [&](uint32_t index) {
    return takesPart(index) && goesOn() && members[index].freshTurns.suspicious() && monotonicNanoseconds() < until;
  };
  for (uint32_t i = 0; i < count(); ++i)
    for (int turn = 0; turn < kTurnsToSettle && doubtful(i); ++turn) {
      RoundSamples samples;
      KILN_RETURN_IF_ERROR(timeTurn(i, samples));
    }
  return okStatus();
}

Status Group::timeStretch(uint32_t index, const Stretch &stretch, RoundSamples &samples) {
  Member &member = members[index];
  SetRange sets = data->range(stretch.start, stretch.calls);
  bool copied = result.candidates[index].provider.copied;
  if (samples.fresh) {
    bool prepared = result.candidates[index].provider.preparedWeights;
    data->refresh(sets, !prepared);
    weights += !prepared;
  }
  // Others' turns may have changed these sets, too.
  if (copied) {
    KILN_RETURN_IF_ERROR(askToCopy(index, UploadRequest{0, sets}, data->inputs(), sets));
    if (!takesPart(index))
      return okStatus();
  }
  if (settings.checkTimed)
    data->poison(sets);
  Result<TimedRequest> timed =
      timeCalls(index, {.calls = stretch.calls, .batch = result.batch, .start = stretch.start});
  if (!timed.ok())
    return withdrawTimed(index, timed.status());
  member.untold.add(*timed);
  raiseSamples(*timed);
  const std::vector<int64_t> &host = timed->answer.host;
  samples.counts = samples.call.empty() ? timed->answer.counts : samples.counts + timed->answer.counts;
  samples.call.insert(samples.call.end(), host.begin(), host.end());
  result.timedNanoseconds += timed->elapsed();
  if (settings.checkTimed)
    KILN_RETURN_IF_ERROR(checkOutputs(index, sets));
  if (!takesPart(index))
    return okStatus();
  member.callNanoseconds = callOf(*timed);
  member.watchable += timed->elapsed();
  Status told = member.untold.check();
  return told.ok() ? okStatus() : withdrawTimed(index, told);
}

// A request that is to copy so many bytes, in so many sets, and nothing else. Delays hit some copies; who is slow in
// more than a quarter of them does more than copying.
Status Group::askToCopy(uint32_t index, const Request &request, SharedTensors &tensors, SetRange sets) {
  uint64_t bytes = 0;
  for (const MutableTensor &tensor : tensors.set(0))
    bytes += tensor.bytes.size() * sets.count;
  uint64_t allowed = uint64_t(double(bytes) / kSlowestCopy) + sets.count * kCopyOfSet + kCopySlack;
  uint64_t asked = monotonicNanoseconds();
  Result<Answer> copied = ask(index, request, settings.callTimeout);
  if (!copied.ok())
    return withdrawFailed(index, copied.status());
  Member &member = members[index];
  ++member.copies;
  member.slowCopies += monotonicNanoseconds() - asked > allowed;
  if (member.slowCopies < kTurnsToBeImplausible || 4 * member.slowCopies <= member.copies)
    return okStatus();
  verify::Verdict verdict;
  verdict.cause = verify::Cause::ReturnsEarly;
  verdict.explanation = fmt::format("{}: '{}' of {} bytes takes it longer than {} ns in {} of {} requests",
                                    verify::causeName(verdict.cause), requestName(request), bytes, allowed,
                                    member.slowCopies, member.copies);
  result.candidates[index].verdicts.push_back(verdict);
  return withdraw(index, Outcome::Wrong, verdict.explanation);
}

Status Group::checkOutputs(uint32_t index, SetRange sets) {
  if (result.candidates[index].provider.copied) {
    KILN_RETURN_IF_ERROR(askToCopy(index, FetchRequest{0, sets}, data->outputs(), sets));
    if (!takesPart(index))
      return okStatus();
  }
  // Whether it would have finished later is part of the cause.
  std::optional<verify::Verdict> wrong = data->check(sets, [&] { members[index].worker->resume(); });
  if (!wrong)
    return okStatus();
  result.candidates[index].verdicts.push_back(*wrong);
  return withdraw(index, Outcome::Wrong, wrong->explanation);
}

// A few calls more, one by one, now and then, so that they cost little beside the others.
Status Group::watchCalls(uint32_t index, RoundSamples &samples) {
  Member &member = members[index];
  if (!member.tellsDeviceTimes || member.watchable < kWatchedPart * member.callNanoseconds)
    return okStatus();
  uint64_t calls = std::clamp<uint64_t>(member.watchable / kWatchedPart / member.callNanoseconds, 1, kMaximumWatched);
  member.watchable = 0;
  Result<TimedRequest> timed = timeCalls(index, {.calls = calls, .start = nextSet, .watch = true});
  if (!timed.ok())
    return withdrawTimed(index, timed.status());
  if (!timed->answer.device || timed->answer.device->started.empty())
    return okStatus(); // a program may give its device nothing to do
  DeviceShare share = deviceShareOf(*timed);
  // Calls take no less because they are watched.
  if (member.medians.size() >= kTurnsToTellCalls) {
    double fastestTurn = double(std::ranges::min(member.medians)) / 1000;
    share.call = std::max(share.call, kWatchedOfFastest * fastestTurn);
  }
  member.deviceClaims.add(share);
  if (Status claimed = member.deviceClaims.check(member.emptyNanoseconds); !claimed.ok())
    return withdrawTimed(index, claimed);
  samples.watchedCall = std::move(timed->answer.host);
  samples.watched = std::move(timed->answer.device);
  return okStatus();
}

// The first floor that a call stays below, and what it is for this candidate; null where there is none.
const SpeedFloor *Group::floorAbove(uint32_t index, double call, double &least) const {
  const ProviderInfo &provider = result.candidates[index].provider;
  for (const SpeedFloor &floor : members[index].floors) {
    if (floor.of == SpeedFloor::Of::Memory && !(settings.cold && result.sets.exceedsCache))
      continue;
    least = floor.nanoseconds;
    if (floor.of == SpeedFloor::Of::Arithmetic && provider.flops && problem.flops() > 0)
      least *= std::clamp(*provider.flops / problem.flops(), kFewestOperations, 1.0);
    if (call < least)
      return &floor;
  }
  return nullptr;
}

// What only a turn as a whole can show.
Status Group::checkTurn(uint32_t index, const RoundSamples &samples) {
  Member &member = members[index];
  double call = double(middleOf(samples.call)) / samples.batch;
  member.medians.push_back(int64_t(call * 1000));
  if (settings.checkTimed && settings.cold) {
    member.freshTurns.add(samples.fresh, call);
    if (Status told = member.freshTurns.check(); !told.ok())
      return withdrawTimed(index, told);
  }
  return checkSpeed(index);
}

// Nobody is faster than the machine; a row that is has found what the checks did not.
Status Group::checkSpeed(uint32_t index) {
  Member &member = members[index];
  if (member.medians.size() < kTurnsToBeImplausible)
    return okStatus();
  double call = double(middleOf(member.medians)) / 1000, least = 0;
  if (!floorAbove(index, call, least))
    return okStatus();
  member.floors = observer.confirmFloors(index, std::move(member.floors));
  const SpeedFloor *floor = floorAbove(index, call, least);
  if (!floor)
    return okStatus();
  return withdraw(
      index, Outcome::Implausible,
      fmt::format("a call takes {:.0f} ns; the machine needs {:.0f} ns at least: {}", call, least, floor->reason));
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
  problem.prefillOutputs(passes - 1, data->outputs().set(0));
  Result<Answer> ran = ask(index, RunRequest{}, settings.callTimeout);
  if (!ran.ok())
    return withdrawFailed(index, ran.status());
  std::vector<io::TensorSpan> written = std::as_const(data->outputs()).view(0);
  if (hashOf(written) == member.outputHash)
    return okStatus();
  verify::Verdict verdict = problem.check(passes - 1, settings.seed, std::as_const(data->inputs()).view(0), written);
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
  KILN_RETURN_IF_ERROR(makeData());
  KILN_RETURN_IF_ERROR(admitAll());
  if (goesOn()) {
    KILN_RETURN_IF_ERROR(measure());
    KILN_RETURN_IF_ERROR(settleDoubts());
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
