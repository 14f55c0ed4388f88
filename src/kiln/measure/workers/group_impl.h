// What group.cpp and group_turns.cpp share: the state of a group that is under way.
#ifndef KILN_MEASURE_WORKERS_GROUP_IMPL_H
#define KILN_MEASURE_WORKERS_GROUP_IMPL_H

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kiln/base/clock.h"
#include "kiln/measure/workers/cache_size.h"
#include "kiln/measure/workers/claims.h"
#include "kiln/measure/workers/fresh_turns.h"
#include "kiln/measure/workers/group.h"
#include "kiln/measure/workers/timed_data.h"
#include "kiln/measure/workers/turn_plan.h"
#include "kiln/measure/workers/worker_process.h"
#include "kiln/measure/workers/worker_times.h"

namespace kiln::measure {

inline constexpr uint64_t kSecond = 1'000'000'000;
inline constexpr double kNotTimed = 1e18;

struct Member {
  const Candidate *candidate = nullptr;
  bool gone = false;
  std::unique_ptr<WorkerProcess> worker; // there is one while it is verified and while it has the token
  WorkerCosts costs;
  double emptyNanoseconds = 0; // of a call without work; 0: it makes none
  bool tellsDeviceTimes = false;
  bool checksOnDevice = false;
  double deviceCall = 0; // nanoseconds of a call by the device's clock; 0: not known
  uint64_t life = 1;     // turns of a worker
  uint64_t turns = 0;    // of this worker
  uint64_t allTurns = 0;
  std::vector<uint32_t> inputs;       // of each set the generation that this worker's device has
  uint64_t loadedWeights = 0;         // the state of the weights when this worker loaded them
  uint64_t shortestCall = UINT64_MAX; // of the turn's requests
  uint64_t watchable = 0;             // nanoseconds of calls since some were watched
  uint64_t outputHash = 0;            // of the last pass
  uint64_t freshCompared = 0;         // timed calls with new inputs that were compared with what is right
  ComparedOutputs compared;           // of all its timed calls
  uint64_t owedComparisons = 0;       // so many shall the next turn have
  std::vector<int64_t> medians;       // of turns, picoseconds of a call
  std::vector<SpeedFloor> floors;
  UntoldTime untold;
  FreshTurns freshTurns;
  Disturbances disturbances; // of workers with several threads
  StolenTime stolen;
  DeviceClaims deviceClaims;
};

// Calls of one request, whose outputs are poisoned before and checked afterwards.
struct Stretch {
  uint32_t start = 1; // the first set
  uint64_t calls = 0;
  bool fresh = false;                    // inputs are new
  size_t firstSample = 0, endSample = 0; // of the turn's
};

// From more bits than anybody could try.
inline std::mt19937_64 seeded() {
  std::random_device device;
  std::seed_seq bits = {device(), device(), device(), device(), device(), device(), device(), device()};
  return std::mt19937_64(bits);
}

class Group {
public:
  Group(const Problem &problem, std::span<const Candidate> candidates, const GroupSettings &settings,
        RoundScheduler &scheduler, GroupObserver &observer)
      : problem(problem), settings(settings), scheduler(scheduler), observer(observer), members(candidates.size()) {
    for (size_t i = 0; i < candidates.size(); ++i)
      members[i].candidate = &candidates[i], members[i].floors = candidates[i].floors;
    result.candidates.resize(candidates.size());
    processors = settings.cpus.empty() ? usableCpus() : settings.cpus;
  }

  Result<GroupResult> run();

private:
  Status checkSettings() const;
  Status makeData();
  Status admitAll();
  struct StartedWorker {
    std::unique_ptr<WorkerProcess> process;
    Status failure; // where there is none
    std::optional<Result<Answer>> hello, loaded;
    uint64_t began = 0, took = 0; // nanoseconds
  };
  Status begin(uint32_t index);
  Status beginAll(uint32_t first, uint32_t last);
  StartedWorker startWorker(uint32_t index) const;
  void introduce(uint32_t index, StartedWorker &started) const;
  Status admit(uint32_t index, StartedWorker started);
  Status greet(uint32_t index, const Result<Answer> &hello);
  LoadRequest loadRequest(uint32_t index) const;
  Status takeLoaded(uint32_t index, const Result<Answer> &loaded);
  void end(uint32_t index);
  Status verifyAll(uint32_t first, uint32_t last);
  Status verifyPass(uint32_t index, size_t pass);
  Result<std::optional<verify::Verdict>> verifyOnDevice(uint32_t index, size_t pass, std::string &obstacle);
  Result<std::optional<verify::Verdict>> runAndCheck(uint32_t index, size_t pass, bool again);
  Status fillOnHost(size_t pass);
  Status runPass(uint32_t index, size_t pass);
  Result<bool> withdrawWhoRan(uint32_t index);
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
  Status checkOutputs(uint32_t index, const Stretch &stretch);
  std::vector<io::TensorSpan> someInputs();
  Status uploadFor(uint32_t index, SetRange sets, uint64_t &beyond);
  Status askToCopy(uint32_t index, const Request &request, SharedTensors &tensors, SetRange sets, uint64_t &beyond);
  Status watchCalls(uint32_t index, RoundSamples &samples);
  Status checkTurn(uint32_t index, const Stretch &drawn, RoundSamples &samples);
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
  Result<TimedRequest> watchRequest(uint32_t index, const Request &request, uint64_t timeout);
  Result<TimedRequest> timeCalls(uint32_t index, TimeRequest request);
  Status prepareCalls(uint32_t index, uint64_t calls, uint32_t batch, uint32_t start);
  Status checkSpans(uint32_t index, const TimedRequest &timed);
  Status timeHostCalls(uint32_t index, RoundSamples &samples);
  bool isTimedByDevice() const { return !settings.device.empty(); }
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
  std::vector<uint32_t> processors; // that workers may run on
  RoundScheduler &scheduler;
  GroupObserver &observer;
  std::vector<Member> members;
  std::unique_ptr<TimedData> data;
  // Of a machine whose host has taken nothing yet no more is asked.
  const bool isShared = mostStolen({}, stolenNanoseconds(usableCpus())) > 0;
  std::optional<size_t> filledPass; // whose inputs set 0 holds
  uint32_t nextSet = 1;             // the timing set that the next call is to use: the one that was used longest ago
  double copyNanoseconds = 0;       // that the lab needs for a byte; 0: not known yet
  uint64_t weights = 0;             // how often the weights of timing sets have changed
  // Draws what no worker may foresee.
  std::mt19937_64 random = seeded();
  GroupResult result;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_GROUP_IMPL_H
