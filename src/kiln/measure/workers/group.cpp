#include "kiln/measure/verify/parts.h"
#include "kiln/measure/workers/group_impl.h"

namespace kiln::measure {

namespace {

constexpr uint64_t kMinimumRound = 10'000'000;
// Where the system does not tell.
constexpr uint64_t kAssumedCache = uint64_t(64) << 20;
// So many workers are there at once while they are verified: the inputs of a pass are made once for all of them.
constexpr uint32_t kVerifiedTogether = 16;
// Processes that have a device open at a time, and those that open it.
constexpr uint32_t kKeptTogether = 24, kIntroducedTogether = 8;

uint64_t hashOf(Tensors tensors) {
  uint64_t hash = 0;
  for (const io::TensorSpan &tensor : tensors)
    hash = hash * 31 +
           std::hash<std::string_view>()({reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size()});
  return hash;
}

} // namespace

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
  options.freeMemory = settings.freeMemory;
  // Calls on the CPU find its processors and caches as one thread of the lab leaves them.
  options.threads = isTimedByDevice() ? unsigned(processors.size()) : 1;
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
  StartedWorker started = startWorker(index);
  introduce(index, started);
  return admit(index, std::move(started));
}

// A process ends with the thread that started it.
Group::StartedWorker Group::startWorker(uint32_t index) const {
  StartedWorker started;
  started.began = monotonicNanoseconds();
  if (uint32_t wanted = members[index].candidate->threads; wanted > processors.size()) {
    started.failure = invalidArgument("it asks for {} threads, and there are {} processors; threads that take turns "
                                      "measure nothing",
                                      wanted, processors.size());
    return started;
  }
  WorkerOptions options;
  options.command = members[index].candidate->command;
  options.threads = threadsOf(index);
  options.memoryLimit = settings.memoryLimit;
  // What drives a device has threads of its own.
  options.cpus = isTimedByDevice() ? settings.cpus : processorsOf(settings, options.threads);
  Result<std::unique_ptr<WorkerProcess>> process = WorkerProcess::start(options);
  if (process.ok())
    started.process = *std::move(process);
  else
    started.failure = process.status();
  return started;
}

// It is asked what it is, and to load. Nothing of the group changes: several may be asked at once.
void Group::introduce(uint32_t index, StartedWorker &started) const {
  if (!started.process)
    return;
  auto ask = [&](const Request &request, uint64_t timeout) {
    Result<Answer> answer = started.process->ask(request, Deadline::after(timeout));
    started.process->pause();
    return answer;
  };
  started.hello = ask(HelloRequest{kProtocolVersion, threadsOf(index), settings.device}, settings.startTimeout);
  if (started.hello->ok())
    started.loaded = ask(loadRequest(index), settings.loadTimeout);
  started.took = monotonicNanoseconds() - started.began;
}

// What came of it.
Status Group::admit(uint32_t index, StartedWorker started) {
  Member &member = members[index];
  if (!started.process)
    return withdraw(index, Outcome::NotStarted, std::string(started.failure.message()));
  member.worker = std::move(started.process);
  member.turns = 0;
  KILN_RETURN_IF_ERROR(greet(index, *started.hello));
  if (takesPart(index))
    KILN_RETURN_IF_ERROR(takeLoaded(index, *started.loaded));
  member.costs.start = std::min(member.costs.start, started.took);
  return okStatus();
}

// Opening a device takes longer than all else that a start is, and several can be opened at once.
Status Group::beginAll(uint32_t first, uint32_t last) {
  if (!isTimedByDevice()) {
    for (uint32_t i = first; i < last && goesOn(); ++i)
      KILN_RETURN_IF_ERROR(begin(i));
    return okStatus();
  }
  std::vector<StartedWorker> started;
  for (uint32_t i = first; i < last; ++i)
    started.push_back(startWorker(i));
  verify::forParts(last - first, INT64_MAX, kIntroducedTogether, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      introduce(first + uint32_t(i), started[size_t(i)]);
  });
  for (uint32_t i = first; i < last; ++i)
    KILN_RETURN_IF_ERROR(admit(i, std::move(started[i - first])));
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

Status Group::greet(uint32_t index, const Result<Answer> &hello) {
  if (!hello.ok())
    return withdrawFailed(index, hello.status());
  bool copied = std::ranges::any_of(hello->devices, [](const WorkerDevice &device) { return !device.shared; });
  ProviderInfo &provider = result.candidates[index].provider;
  // What one of its processes says holds for all of them.
  provider.name = hello->provider;
  provider.version = hello->version;
  provider.note = hello->note;
  provider.copied = copied || provider.copied;
  if (isTimedByDevice()) {
    using Clock = WorkerDevice::Clock;
    auto hasClock = [](const WorkerDevice &device) { return device.clock != Clock::None; };
    if (hello->devices.empty() || !std::ranges::all_of(hello->devices, hasClock))
      return withdraw(
          index, Outcome::Unsupported,
          fmt::format("it does not tell what calls take by the clock of {}, which ranks go by", settings.device));
    provider.simulated = hello->devices.front().clock == Clock::Simulated;
  }
  members[index].tellsDeviceTimes = hello->tellsDeviceTimes;
  members[index].checksOnDevice = hello->checksOnDevice && members[index].candidate->isOwn;
  if (!hello->makesEmptyCalls)
    members[index].emptyNanoseconds = 0;
  else if (members[index].emptyNanoseconds == 0)
    members[index].emptyNanoseconds = kNotTimed;
  return okStatus();
}

LoadRequest Group::loadRequest(uint32_t index) const {
  LoadRequest request;
  request.module = members[index].candidate->module;
  request.problem = problemText(request.module.empty() ? problem.operation() : problem);
  request.function = members[index].candidate->function;
  request.sets = result.sets.sets();
  request.inputs = data->describeInputs();
  request.outputs = data->describeOutputs();
  return request;
}

Status Group::takeLoaded(uint32_t index, const Result<Answer> &loaded) {
  if (!loaded.ok())
    return withdrawFailed(index, loaded.status());
  ProviderInfo &provider = result.candidates[index].provider;
  provider.preparedWeights = provider.preparedWeights || loaded->preparedWeights;
  if (loaded->flops)
    provider.flops = std::min(*loaded->flops, provider.flops.value_or(*loaded->flops));
  members[index].loadedWeights = weights;
  members[index].inputs.clear();
  for (uint32_t set = 0; set < result.sets.sets(); ++set)
    members[index].inputs.push_back(data->generation(set));
  return okStatus();
}

// Everybody once: what it is, whether it is right, and how long it takes. Opening a device takes longer than many
// turns, so that workers which do go on to have the first ones where they are few.
Status Group::admitAll() {
  const bool goOn = isTimedByDevice() && count() <= kKeptTogether;
  const uint32_t together = goOn ? kKeptTogether : kVerifiedTogether;
  for (uint32_t first = 0; first < count(); first += together) {
    uint32_t last = std::min(first + together, count());
    KILN_RETURN_IF_ERROR(beginAll(first, last));
    KILN_RETURN_IF_ERROR(verifyAll(first, last));
    for (uint32_t i = first; i < last; ++i) {
      if (takesPart(i) && goesOn())
        KILN_RETURN_IF_ERROR(warmUp(i));
      if (!goOn || !takesPart(i))
        end(i);
      else
        ++result.candidates[i].workers;
    }
  }
  return okStatus();
}

// Pass by pass: the inputs are those of one pass at a time, the same for all.
Status Group::verifyAll(uint32_t first, uint32_t last) {
  size_t passes = problem.passes().size();
  for (size_t pass = 0; pass < passes && goesOn(); ++pass) {
    for (uint32_t i = first; i < last && goesOn(); ++i)
      if (takesPart(i))
        KILN_RETURN_IF_ERROR(verifyPass(i, pass));
  }
  return okStatus();
}

// Once for all who need them: a device that makes them itself does not.
Status Group::fillOnHost(size_t pass) {
  if (filledPass == pass)
    return okStatus();
  filledPass.reset();
  KILN_RETURN_IF_ERROR(problem.fillInputs(pass, settings.seed, data->inputs().set(0)));
  filledPass = pass;
  return okStatus();
}

// The verdict of a candidate that is right by its device's check. Of one that is not, the verdict is the host's, of the
// same inputs and outputs, which says more; where the host finds nothing wrong, the candidate is none the better for
// it. Nothing where the host has to check, and why, or where the candidate is withdrawn.
Result<std::optional<verify::Verdict>> Group::verifyOnDevice(uint32_t index, size_t pass, std::string &obstacle) {
  std::optional<verify::Verdict> none;
  if (!members[index].checksOnDevice) {
    obstacle = "its worker does not check on the device";
    return none;
  }
  Result<verify::DeviceCase> subject = problem.deviceCase(pass, settings.seed);
  if (!subject.ok()) {
    obstacle = std::string(subject.status().message());
    return none;
  }
  const uint64_t planted = random() % std::max<uint64_t>(subject->right.total, 1);
  Result<Answer> answer = ask(index, VerifyRequest{0, uint32_t(pass), settings.seed, planted}, settings.callTimeout);
  if (answer.status().code() == StatusCode::Unimplemented) {
    obstacle = std::string(answer.status().message());
    return none;
  }
  if (answer.ok() && !answer->verdict)
    KILN_RETURN_IF_ERROR(withdraw(index, Outcome::Rubbish, "its answer to 'verify' has no verdict"));
  else if (!answer.ok())
    KILN_RETURN_IF_ERROR(withdrawFailed(index, answer.status()));
  if (!takesPart(index))
    return none;
  if (answer->verdict->wrongRows == 0) {
    verify::Verdict right = subject->right;
    right.method += subject->isMadeByDevice()
                        ? "; made and checked on the device, where a planted wrong element was found"
                        : "; made on the host, and checked on the device, where a planted wrong element was found";
    return std::optional(right);
  }
  KILN_RETURN_IF_ERROR(fillOnHost(pass));
  if (Result<Answer> fetched = ask(index, FetchRequest{0, {0, 1}}, settings.callTimeout); !fetched.ok()) {
    KILN_RETURN_IF_ERROR(withdrawFailed(index, fetched.status()));
    return none;
  }
  verify::Verdict verdict =
      problem.check(pass, settings.seed, std::as_const(data->inputs()).view(0), std::as_const(data->outputs()).view(0));
  verdict.method += "; made and checked on the device, and explained on the host";
  if (verdict.ok()) {
    verdict.cause = verify::Cause::Unknown;
    verdict.explanation = fmt::format("the device's check finds {} wrong {}, and the host's none: one of the checks "
                                      "is wrong, or what is fetched is not what the device has",
                                      answer->verdict->wrongRows, subject->hasContraction() ? "rows" : "elements");
  }
  return std::optional(verdict);
}

// One run on set 0, of which nobody else has written the outputs.
Status Group::runPass(uint32_t index, size_t pass) {
  KILN_RETURN_IF_ERROR(fillOnHost(pass));
  for (bool disturbed = true; disturbed;) {
    problem.prefillOutputs(pass, data->outputs().set(0));
    Result<Answer> ran = ask(index, RunRequest{}, settings.callTimeout);
    if (!ran.ok())
      return withdrawFailed(index, ran.status());
    KILN_ASSIGN_OR_RETURN(disturbed, withdrawWhoRan(index));
  }
  return okStatus();
}

// Outputs are shared: where somebody ran although it was stopped, it may have written them, for `index` or against it.
// True where somebody did, who is gone then.
Result<bool> Group::withdrawWhoRan(uint32_t index) {
  bool any = false;
  for (uint32_t i = 0; i < count(); ++i) {
    if (i == index || !takesPart(i) || !members[i].worker)
      continue;
    if (Status stopped = members[i].worker->checkPaused(); !stopped.ok()) {
      any = true;
      KILN_RETURN_IF_ERROR(withdrawFailed(i, stopped));
    }
  }
  return any;
}

// The verdict of one run. Nothing where the candidate is withdrawn, or wrote the same bytes as in the last pass
// `again`.
Result<std::optional<verify::Verdict>> Group::runAndCheck(uint32_t index, size_t pass, bool again) {
  std::optional<verify::Verdict> verdict;
  std::string obstacle;
  if (isTimedByDevice()) {
    KILN_ASSIGN_OR_RETURN(verdict, verifyOnDevice(index, pass, obstacle));
    if (verdict || !takesPart(index))
      return verdict;
  }
  KILN_RETURN_IF_ERROR(runPass(index, pass));
  if (!takesPart(index))
    return verdict;
  std::vector<io::TensorSpan> written = std::as_const(data->outputs()).view(0);
  const uint64_t hash = hashOf(written);
  if (again && hash == members[index].outputHash)
    return verdict;
  members[index].outputHash = hash;
  verdict = problem.check(pass, settings.seed, std::as_const(data->inputs()).view(0), written);
  if (isTimedByDevice())
    verdict->method += fmt::format("; made and checked on the host: {}", obstacle);
  return verdict;
}

Status Group::verifyPass(uint32_t index, size_t pass) {
  KILN_ASSIGN_OR_RETURN(std::optional<verify::Verdict> verdict, runAndCheck(index, pass, /*again=*/false));
  if (!verdict)
    return okStatus();
  result.candidates[index].verdicts.push_back(*verdict);
  if (verdict->ok())
    return okStatus();
  return withdraw(index, Outcome::Wrong,
                  fmt::format("pass '{}': {}: {}", problem.passes()[pass], verify::causeName(verdict->cause),
                              verdict->explanation));
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
  KILN_ASSIGN_OR_RETURN(std::optional<verify::Verdict> verdict, runAndCheck(index, passes - 1, /*again=*/true));
  if (!verdict || verdict->ok())
    return okStatus();
  result.candidates[index].verdicts.push_back(*verdict);
  return withdraw(index, Outcome::Wrong,
                  fmt::format("right before it was timed, and wrong afterwards: {}: {}",
                              verify::causeName(verdict->cause), verdict->explanation));
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
  if (Status made = makeData(); made.code() == StatusCode::ResourceExhausted) {
    for (uint32_t i = 0; i < count(); ++i)
      KILN_RETURN_IF_ERROR(withdraw(i, Outcome::Failed, std::string(made.message())));
    return std::move(result);
  } else if (!made.ok()) {
    return made;
  }
  KILN_RETURN_IF_ERROR(admitAll());
  if (goesOn()) {
    KILN_RETURN_IF_ERROR(measure());
    KILN_RETURN_IF_ERROR(settleDoubts());
  }
  KILN_RETURN_IF_ERROR(finishAll());
  return std::move(result);
}

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
