// How candidates of a group are timed: requests, turns, and what is held against them.
#include <functional>
#include <sched.h>
#include <time.h>
#include <utility>

#include "kiln/measure/workers/count_claims.h"
#include "kiln/measure/workers/group_impl.h"
#include "kiln/measure/workers/middle.h"

namespace kiln::measure {

namespace {

// Threads of whoever held the token sleep after at most 50 microseconds; see spawn.cpp.
constexpr uint64_t kSettle = 100'000;
constexpr uint32_t kMaxBatch = 1 << 20;
// With fewer there is no interval.
constexpr uint32_t kLeastRounds = 3;
// How long turns are is planned anew before each of the first so many rounds.
constexpr uint32_t kPlannedRounds = 4;
// Results are looked at again after the first turn and after each of so many.
constexpr uint32_t kTurnsPerCheck = 16;
constexpr int kLeastWarmUpRequests = 4, kWarmUpRequests = 8; // fewer only of calls that take very long
constexpr uint64_t kLongWarmUp = 40;
constexpr int kTurnsToSettle = 24;
constexpr uint64_t kTimeToSettle = 2 * kSecond;
// A turn has so many stretches where it has calls enough, each of which poisons and checks what it writes.
constexpr size_t kStretches = 3;
// Watched calls take at most this part of the time that other calls take.
constexpr uint64_t kWatchedPart = 32;
constexpr uint64_t kMaximumWatched = 64;
// A watched call takes no less than this part of one in the fastest of at least so many turns.
constexpr double kWatchedOfFastest = 0.8;
constexpr size_t kTurnsToTellCalls = 3;
// An empty call is timed so often, at two counts; the middle one of some tries counts.
constexpr uint64_t kEmptyCalls = 64;
constexpr int kEmptyTries = 5;
constexpr size_t kTurnsToBeImplausible = 3;
// Until a worker wakes up, on a busy machine; that no clock of a worker's tells.
constexpr uint64_t kUntoldOfRequest = 1'000'000;
// What copying takes is measured with the inputs of so many sets.
constexpr uint32_t kCopiedSets = 16;
// No algorithm is believed to need less of the definition's operations; Winograd's largest has a quarter.
constexpr double kFewestOperations = 0.25;

void pause(uint64_t nanoseconds) {
  timespec time = {0, long(nanoseconds)};
  ::nanosleep(&time, nullptr);
}

// What a call takes, for planning. On a busy machine waking a worker takes longer than many calls: what ran, and what
// the worker says, is closer. Turns planned from less than a part of the time that the lab saw could be endless.
uint64_t callOf(const TimedRequest &timed) {
  uint64_t told = 0;
  for (int64_t sample : timed.answer.host)
    told += uint64_t(sample);
  uint64_t known = std::min(timed.busy(), std::max(timed.ran(), told));
  return std::max<uint64_t>({known, timed.elapsed() / 8, 1}) / timed.request.calls + 1;
}

} // namespace

// With what the lab's clock and the system say of it.
Result<TimedRequest> Group::watchRequest(uint32_t index, const Request &request, uint64_t timeout) {
  TimedRequest timed;
  timed.threads = threadsOf(index);
  Member &member = members[index];
  uint64_t busy = timed.threads > 1 ? busyNanoseconds(processors) : 0, waiting = ownWaiting();
  // The host of a virtual machine may take the worker's processors, and that which the lab runs on.
  std::vector<uint32_t> taken = timed.threads > 1 ? processors : processorsOf(settings, 1);
  if (isShared)
    taken.push_back(uint32_t(std::max(::sched_getcpu(), 0)));
  std::vector<uint64_t> stolen = isShared ? stolenNanoseconds(taken) : std::vector<uint64_t>();
  WorkerTimes before = member.worker->times();
  // With what it ran since it was stopped, if it did.
  uint64_t runBefore = std::min(before.running, member.worker->runningWhenPaused());
  timed.sent = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(timed.answer, ask(index, request, timeout));
  timed.answered = member.worker->pausedAt();
  WorkerTimes after = member.worker->times();
  timed.running = after.running - runBefore;
  // The lab, too, waits for a processor, before it asks and after the answer has come.
  waiting = ownWaiting() - waiting;
  timed.waitedByLab = waiting;
  timed.disturbed = disturbedBetween(before, after) + waiting;
  if (timed.threads > 1 && !before.hasChildren && !after.hasChildren && !after.escaped) {
    auto others = int64_t(busyNanoseconds(processors) - busy) - int64_t(timed.running);
    timed.disturbed =
        std::max(timed.disturbed, member.disturbances.add(waitedBetween(before, after) + waiting, others));
  }
  if (isShared) {
    uint64_t known = timed.disturbed + timed.running / timed.threads;
    timed.disturbed += member.stolen.add(timed.elapsed() - std::min(timed.elapsed(), known),
                                         mostStolen(stolen, stolenNanoseconds(taken)));
  }
  return timed;
}

// The set that a call uses goes on from candidate to candidate: inputs are shared, and those that were used last are
// still in the cache.
Result<TimedRequest> Group::timeCalls(uint32_t index, TimeRequest request) {
  if (!request.empty)
    nextSet = data->advance(request.start, request.calls);
  uint64_t expected = request.calls * members[index].costs.call * 4;
  KILN_ASSIGN_OR_RETURN(TimedRequest timed, watchRequest(index, request, expected + settings.callTimeout));
  timed.request = request;
  KILN_RETURN_IF_ERROR(checkClaims(timed));
  KILN_RETURN_IF_ERROR(checkCounts(timed.answer.counts, timed.elapsed(), threadsOf(index)));
  return timed;
}

// Calls that the device is to have together, put together before their inputs and outputs are what they will be.
Status Group::prepareCalls(uint32_t index, uint64_t calls, uint32_t batch, uint32_t start) {
  Result<Answer> prepared =
      ask(index, PrepareRequest{0, calls, batch, start}, calls * members[index].costs.call * 4 + settings.callTimeout);
  if (!prepared.ok())
    return withdrawFailed(index, prepared.status());
  std::optional<bool> &asGraph = result.candidates[index].provider.asGraph;
  asGraph = prepared->asGraph.value_or(false) && asGraph.value_or(true);
  return okStatus();
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
    TimeRequest request = {.calls = calls, .start = nextSet};
    if (isTimedByDevice()) {
      calls = std::min<uint64_t>(calls, result.sets.timingSets);
      request = {.calls = calls, .batch = uint32_t(calls), .start = nextSet, .byDevice = true};
      KILN_RETURN_IF_ERROR(prepareCalls(index, calls, request.batch, nextSet));
      if (!takesPart(index))
        return okStatus();
    }
    Result<TimedRequest> timed = timeCalls(index, request);
    if (!timed.ok())
      return withdrawTimed(index, timed.status());
    if (isTimedByDevice())
      member.deviceCall = double(timed->answer.spans.front()) / double(calls);
    elapsed = timed->spent();
    uint64_t call = callOf(*timed);
    member.costs.call = i == 0 ? call : std::min(call, member.costs.call);
    calls = std::min<uint64_t>(std::max(settings.warmUpNanoseconds / member.costs.call, 2 * calls), kMaxBatch);
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
      call = std::min(call, std::max<uint64_t>(isTimedByDevice() ? uint64_t(member.deviceCall) : member.costs.call, 1));
  const uint64_t sample = isTimedByDevice() ? settings.minimumDeviceSample : settings.minimumSampleNanoseconds;
  // No call of a cold stretch may go unchecked, and nobody's warming up decides for long how others are timed.
  // What a device does before and after a batch is small beside large ones.
  const uint64_t stretches = isTimedByDevice() ? 1 : kStretches;
  uint64_t most = settings.cold ? std::max<uint64_t>(result.sets.timingSets / stretches, 1) : kMaxBatch;
  result.batch = uint32_t(std::clamp<uint64_t>((sample + call - 1) / call, 1, most));
  std::vector<int64_t> starts;
  for (const Member &member : members)
    if (!member.gone)
      starts.push_back(int64_t(member.costs.start));
  result.turnNanoseconds = planTurn(settings.roundNanoseconds, std::move(starts));
  for (Member &member : members)
    if (!member.gone)
      member.life = planLife(member.costs, result.turnNanoseconds, settings.turnWarmUpNanoseconds);
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
    KILN_RETURN_IF_ERROR(takeLoaded(index, ask(index, loadRequest(index), settings.loadTimeout)));
  }
  if (member.worker || member.gone)
    return okStatus();
  KILN_RETURN_IF_ERROR(begin(index));
  if (!takesPart(index))
    return okStatus();
  ++result.candidates[index].workers;
  uint64_t calls = std::clamp<uint64_t>(settings.turnWarmUpNanoseconds / member.costs.call, 1, result.sets.timingSets);
  Result<TimedRequest> warm = timeCalls(index, {.calls = calls, .start = nextSet});
  return warm.ok() ? okStatus() : withdrawTimed(index, warm.status());
}

// A cold turn uses no set twice in a stretch, so that each of its calls leaves something to check, and consists of
// several: new inputs for one of them cost less than for all.
std::vector<Stretch> Group::planStretches(uint64_t callNanoseconds) {
  uint64_t batches = std::max<uint64_t>(result.turnNanoseconds / callNanoseconds / result.batch, 1), most = batches;
  if (settings.cold) {
    uint64_t unused = std::max<uint64_t>(result.sets.timingSets / result.batch, 1);
    most = std::min(unused, (batches + kStretches - 1) / kStretches);
  }
  std::vector<Stretch> stretches;
  uint32_t start = nextSet;
  for (; batches > 0 && stretches.size() < kStretches; batches -= std::min(batches, most)) {
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
  samples.byDevice = isTimedByDevice();
  samples.started = monotonicNanoseconds();
  samples.cold = settings.cold && result.sets.exceedsCache;
  std::vector<Stretch> stretches = planStretches(member.costs.call);
  Stretch &drawn = stretches[random() % stretches.size()];
  drawn.fresh = settings.checkTimed && settings.cold && (member.owedComparisons > 0 || member.freshTurns.draw(random));
  for (Stretch &stretch : stretches) {
    stretch.firstSample = samples.call.size();
    KILN_RETURN_IF_ERROR(timeStretch(index, stretch, samples));
    if (!takesPart(index))
      return okStatus();
    stretch.endSample = samples.call.size();
  }
  // A delay in one of them makes no turn short.
  member.costs.call = std::exchange(member.shortestCall, UINT64_MAX);
  KILN_RETURN_IF_ERROR(watchCalls(index, samples));
  if (!takesPart(index))
    return okStatus();
  pause(kSettle);
  KILN_RETURN_IF_ERROR(checkTurn(index, drawn, samples));
  if (takesPart(index) && settings.verifyAgain && member.allTurns++ % kTurnsPerCheck == 0)
    KILN_RETURN_IF_ERROR(verifyAgain(index));
  if (takesPart(index) && ++member.turns >= member.life)
    end(index);
  return okStatus();
}

// Few rounds may leave it open whether a candidate computes only where its inputs are new, or leaves out time. It has
// turns beyond those that are measured until that is known, or a quarter of the rounds' time, which is two seconds at
// least, is over, or the group's. Who was hardly ever compared with new inputs, since comparing takes long, is now.
Status Group::settleDoubts() {
  uint64_t until = monotonicNanoseconds() + std::max(result.roundsNanoseconds / 4, kTimeToSettle);
  auto doubtful = [&](uint32_t index) {
    uint64_t now = monotonicNanoseconds();
    bool hasTime = now < until && now - began < settings.groupNanoseconds;
    Member &member = members[index];
    const uint64_t wanted = settings.checkTimed && settings.cold ? problem.fewestTimedChecks() : 0;
    member.owedComparisons = wanted - std::min(wanted, member.freshCompared);
    bool suspicious = hasTime && (member.freshTurns.suspicious() || member.untold.suspicious());
    return takesPart(index) && goesOn() && (member.owedComparisons > 0 || suspicious);
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
  if (isTimedByDevice())
    KILN_RETURN_IF_ERROR(prepareCalls(index, stretch.calls, result.batch, stretch.start));
  if (!takesPart(index))
    return okStatus();
  if (stretch.fresh) {
    bool prepared = result.candidates[index].provider.preparedWeights;
    data->refresh(sets, !prepared);
    weights += !prepared;
  }
  uint64_t beyondCopying = 0;
  Result<TimedRequest> timed = internalError("not timed");
  for (bool disturbed = true; disturbed;) {
    if (settings.checkTimed)
      data->poison(sets);
    if (settings.cold)
      data->touch(sets);
    if (copied)
      KILN_RETURN_IF_ERROR(uploadFor(index, sets, beyondCopying));
    if (!takesPart(index))
      return okStatus();
    timed = timeCalls(
        index, {.calls = stretch.calls, .batch = result.batch, .start = stretch.start, .byDevice = isTimedByDevice()});
    if (!timed.ok())
      return withdrawTimed(index, timed.status());
    KILN_ASSIGN_OR_RETURN(disturbed, withdrawWhoRan(index));
  }
  if (copied && settings.checkTimed)
    KILN_RETURN_IF_ERROR(askToCopy(index, FetchRequest{0, sets}, data->outputs(), sets, beyondCopying));
  if (!takesPart(index))
    return okStatus();
  if (isTimedByDevice()) {
    if (Status claimed = checkSpans(index, *timed); !claimed.ok())
      return withdrawTimed(index, claimed);
  } else {
    timed->besides = beyondCopying;
    member.untold.add(*timed);
    raiseSamples(*timed);
  }
  samples.timed.emplace_back(timed->sent, timed->answered);
  const std::vector<int64_t> &host = isTimedByDevice() ? timed->answer.spans : timed->answer.host;
  samples.counts = samples.call.empty() ? timed->answer.counts : samples.counts + timed->answer.counts;
  samples.call.insert(samples.call.end(), host.begin(), host.end());
  result.timedNanoseconds += timed->elapsed();
  if (settings.checkTimed)
    KILN_RETURN_IF_ERROR(checkOutputs(index, stretch));
  if (!takesPart(index))
    return okStatus();
  member.shortestCall = std::min(member.shortestCall, callOf(*timed));
  member.watchable += timed->elapsed();
  Status told = member.untold.check();
  return told.ok() ? okStatus() : withdrawTimed(index, told);
}

// What a device had no part in of a batch is what it takes to launch and await it.
Status Group::checkSpans(uint32_t index, const TimedRequest &timed) {
  Member &member = members[index];
  const ProviderInfo &provider = result.candidates[index].provider;
  const double batch = double(timed.request.batch), span = double(middleOf(timed.answer.spans));
  member.deviceCall = std::min(member.deviceCall, span / batch);
  if (provider.simulated)
    return okStatus();
  // The worker's clock is believed as far as the lab's bears it out.
  const uint64_t besides = timed.ownCost() + kUntoldOfRequest;
  DeviceShare share;
  share.call =
      std::max(double(middleOf(timed.answer.host)),
               double(timed.elapsed() - std::min(timed.elapsed(), besides)) / double(timed.answer.host.size()));
  share.device = span;
  share.disturbed = double(timed.disturbed) / double(timed.answer.spans.size());
  member.deviceClaims.add(share);
  return member.deviceClaims.check(member.emptyNanoseconds * (provider.asGraph.value_or(false) ? 1 : batch));
}

// A few calls as a program makes them, each awaited.
Status Group::timeHostCalls(uint32_t index, RoundSamples &samples) {
  Member &member = members[index];
  const uint64_t calls = std::clamp<uint64_t>(member.watchable / kWatchedPart / member.costs.call, 1, kMaximumWatched);
  member.watchable = 0;
  Result<TimedRequest> timed = timeCalls(index, {.calls = calls, .start = nextSet});
  if (!timed.ok())
    return withdrawTimed(index, timed.status());
  samples.watchedCall = std::move(timed->answer.host);
  return okStatus();
}

// Of sets that were not used for long.
std::vector<io::TensorSpan> Group::someInputs() {
  std::vector<io::TensorSpan> some;
  for (uint32_t i = 0, set = nextSet; i < std::min(kCopiedSets, result.sets.timingSets);
       ++i, set = data->advance(set, 1))
    std::ranges::copy(std::as_const(data->inputs()).view(set), std::back_inserter(some));
  return some;
}

// Others' turns may have changed inputs, too; those that nobody has need not be brought again.
Status Group::uploadFor(uint32_t index, SetRange sets, uint64_t &beyond) {
  UploadRequest request{0, sets, /*outputsOnly=*/true};
  for (uint32_t i = 0; i < sets.count; ++i) {
    uint32_t set = data->advance(sets.first, i), &has = members[index].inputs[set];
    request.outputsOnly = request.outputsOnly && has == data->generation(set);
    has = data->generation(set);
  }
  return askToCopy(index, request, request.outputsOnly ? data->outputs() : data->inputs(), sets, beyond);
}

// A request that is to copy tensors of these sets and nothing else. What it took beyond that is added to `beyond`.
Status Group::askToCopy(uint32_t index, const Request &request, SharedTensors &tensors, SetRange sets,
                        uint64_t &beyond) {
  uint64_t bytes = 0;
  for (const MutableTensor &tensor : tensors.set(0))
    bytes += tensor.bytes.size() * sets.count;
  if (copyNanoseconds == 0)
    copyNanoseconds = nanosecondsToCopyAByte(someInputs());
  Result<TimedRequest> copied = watchRequest(index, request, settings.callTimeout);
  if (!copied.ok())
    return withdrawFailed(index, copied.status());
  beyond += copied->beyondCopying(bytes, sets.count, copyNanoseconds);
  return okStatus();
}

Status Group::checkOutputs(uint32_t index, const Stretch &stretch) {
  Member &member = members[index];
  const uint64_t before = member.compared.sets;
  // Whether it would have finished later is part of the cause.
  std::optional<verify::Verdict> wrong = data->check(
      data->range(stretch.start, stretch.calls), stretch.fresh ? member.owedComparisons : 0,
      [&] { member.worker->resume(); }, member.compared);
  result.candidates[index].timedCompared = member.compared.sets;
  member.freshCompared += stretch.fresh ? member.compared.sets - before : 0;
  if (!wrong)
    return okStatus();
  result.candidates[index].verdicts.push_back(*wrong);
  return withdraw(index, Outcome::Wrong, wrong->explanation);
}

// A few calls more, one by one, now and then, so that they cost little beside the others.
Status Group::watchCalls(uint32_t index, RoundSamples &samples) {
  Member &member = members[index];
  if (isTimedByDevice())
    return member.watchable < kWatchedPart * member.costs.call ? okStatus() : timeHostCalls(index, samples);
  if (!member.tellsDeviceTimes || member.watchable < kWatchedPart * member.costs.call)
    return okStatus();
  uint64_t calls = std::clamp<uint64_t>(member.watchable / kWatchedPart / member.costs.call, 1, kMaximumWatched);
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

// Samples of calls with old inputs, so that the middle one of them takes `least` at least.
static void raiseOld(double least, const Stretch &drawn, RoundSamples &samples) {
  auto isOld = [&](size_t i) { return !drawn.fresh || i < drawn.firstSample || i >= drawn.endSample; };
  std::vector<int64_t> old;
  for (size_t i = 0; i < samples.call.size(); ++i)
    if (isOld(i))
      old.push_back(samples.call[i]);
  double call = old.empty() ? least : double(middleOf(std::move(old))) / samples.batch;
  for (size_t i = 0; i < samples.call.size() && call < least; ++i)
    if (isOld(i))
      samples.call[i] = int64_t(double(samples.call[i]) * least / call);
}

// What only a turn as a whole can show. The stretch that was drawn is compared with those that were drawn in other
// turns; what was computed from old inputs counts for hardly less than what was from new ones.
Status Group::checkTurn(uint32_t index, const Stretch &drawn, RoundSamples &samples) {
  Member &member = members[index];
  member.medians.push_back(int64_t(double(middleOf(samples.call)) / samples.batch * 1000));
  if (settings.checkTimed && settings.cold) {
    auto first = samples.call.begin() + long(drawn.firstSample), end = samples.call.begin() + long(drawn.endSample);
    double ofDrawn = double(middleOf(std::vector(first, end))) / samples.batch;
    member.freshTurns.add(drawn.fresh, ofDrawn);
    if (Status told = member.freshTurns.check(); !told.ok())
      return withdrawTimed(index, told);
    // What was computed in the same moment tells best what calls take.
    raiseOld(drawn.fresh ? FreshTurns::kLeastOfFresh * ofDrawn : member.freshTurns.least(), drawn, samples);
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

} // namespace kiln::measure
