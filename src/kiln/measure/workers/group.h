// One problem and all its candidates, measured together: workers start, load, are verified, and then candidates get the
// token in rounds, one at a time. docs/lab.md has the rules. What a candidate does costs nobody but itself.
//
// A worker lives for one turn. Two processes of the same program differ by some percent for as long as they live, and
// no number of rounds averages that away; so each turn is a process of its own, and how processes differ is part of
// what the rounds show. Programs that take long to start live for several turns, or for all.
//
// Timed requests are checked, too: outputs are poisoned before and looked at afterwards, some turns get new inputs, and
// what a worker says of its times is held against what the lab and the system saw. See docs/verification.md.
//
// Everything happens on the calling thread, which must outlive the call: workers die with it.
#ifndef KILN_MEASURE_WORKERS_GROUP_H
#define KILN_MEASURE_WORKERS_GROUP_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/outcome.h"
#include "kiln/base/status.h"
#include "kiln/measure/machine/call_counters.h"
#include "kiln/measure/verify/verdict.h"
#include "kiln/measure/workers/protocol.h"
#include "kiln/measure/workers/shared_tensors.h"
#include "kiln/measure/workload.h"

namespace kiln::measure {

// No call on this machine takes less. One that declares fewer operations than the definition has a lower floor of
// arithmetic.
struct SpeedFloor {
  double nanoseconds = 0;
  enum class Of { Arithmetic, Caches, Memory } of = Of::Arithmetic; // of memory: counts where nothing stays in a cache
  std::string reason; // "162 GFLOP/s, which f32 reaches with 1 thread by `kiln calibrate`"
};

// Who computes the problem: a program that speaks the protocol, and what it is told to load.
struct Candidate {
  std::vector<std::string> command; // {"kiln-lab-worker", "--provider=kiln"}
  std::string module;               // a path; empty where the provider needs none
  std::string function;
  uint32_t threads = 0; // that it runs with; 0: as many as the group's settings say
  std::vector<SpeedFloor> floors = {};
  // Whether the command is the lab's own program, whose word is taken for what it checked on a device.
  bool isOwn = false;
};

struct GroupSettings {
  bool cold = true;
  uint32_t threads = 1;
  uint64_t seed = 0;
  // That all candidates compute on, as a URI, whose clock then times them; empty: the CPU.
  std::string device = {};
  std::vector<uint32_t> cpus; // that workers may run on; empty: all

  // How long the token is held at least; shorter than 10 ms are refused, since waking up would show. A turn lasts seven
  // times as long as it takes to start a worker, and no longer than 100 ms for that.
  uint64_t roundNanoseconds = 10'000'000;
  // Of each candidate, before its first round.
  uint64_t warmUpNanoseconds = 5'000'000;
  // Of each worker, before each turn that it begins with.
  uint64_t turnWarmUpNanoseconds = 2'000'000;
  // Calls are timed in batches that take the fastest candidate at least so long, all candidates alike: reading the
  // clock must not show.
  uint64_t minimumSampleNanoseconds = 20'000;
  // The same by a device's clock: what comes before and after the calls of a batch, some microseconds, must not show.
  uint64_t minimumDeviceSample = 1'000'000;
  // No new round starts after so long in rounds, whatever the scheduler wants.
  uint64_t measureNanoseconds = uint64_t(60) * 1'000'000'000;
  // Nor does one after so long since the group began to be verified, the first three left out, without which nothing
  // could be stated. For who has a budget of time; it makes no other measurement, and is no part of a sweep's key.
  uint64_t groupNanoseconds = UINT64_MAX;

  // How long a worker may take for an answer.
  uint64_t startTimeout = uint64_t(60) * 1'000'000'000;
  uint64_t loadTimeout = uint64_t(120) * 1'000'000'000;
  uint64_t callTimeout = uint64_t(60) * 1'000'000'000; // for one call; of `time`, beyond the time that it was asked for

  uint64_t memoryLimit = 0;                // private memory of each worker; 0: none
  uint64_t lastLevelCacheBytes = 0;        // 0: asks the system
  uint64_t dataBudget = uint64_t(4) << 30; // of all timing sets of one group
  uint64_t freeMemory = UINT64_MAX;        // tensors that need more are refused
  bool verifyAgain = true;                 // after the first turn, and now and then after a later one
  // Timed outputs are checked, and some turns get new inputs. Tests alone leave it out.
  bool checkTimed = true;
};

// The processors that a worker with so many threads may run on; empty: all. A single thread that wanders from one to
// another meets other neighbours and colder caches on each, so that it stays on the last one.
std::vector<uint32_t> processorsOf(const GroupSettings &settings, uint32_t threads);

// What a candidate did while it held the token.
struct RoundSamples {
  uint32_t candidate = 0;
  uint32_t round = 0;
  uint32_t batch = 1;                               // calls in each sample
  uint64_t started = 0;                             // monotonicNanoseconds()
  std::vector<std::pair<uint64_t, uint64_t>> timed; // from when to when its calls were timed, likewise
  std::vector<int64_t> call; // nanoseconds of each batch, by the device's clock where the group has a device
  bool byDevice = false;     // whose clock `call` is of
  bool cold = false;         // what was used between two calls with one set exceeds the last-level cache
  CallCounts counts;         // of all these calls; empty where the provider does not count
  // Further calls, one by one, by the host's clock. Without a device of the group the provider has told when its own
  // was at work; then they cost a little more.
  std::vector<int64_t> watchedCall;
  std::optional<DeviceTimes> watched;
};

// Who goes on and when it is enough: the statistics, as the group sees them. Candidates are numbered as they were
// given.
class RoundScheduler {
public:
  virtual ~RoundScheduler() = default;
  // The candidates of the next round, in the order in which they get the token; empty: the group is done.
  virtual std::vector<uint32_t> nextRound() = 0;
  virtual uint32_t round() const = 0; // the number of that round
  virtual Status addRound(const RoundSamples &samples) = 0;
  // It failed, and takes no part any more.
  virtual Status withdraw(uint32_t candidate) = 0;
};

// What a worker says of itself.
struct ProviderInfo {
  std::string name, version;
  std::string note;    // what a reader of the results has to know; may be empty
  bool copied = false; // its results lie elsewhere, and are copied where the lab sees them
  // Of a device with a clock: whether it had each batch of calls at once, as a graph, or one call after the other.
  std::optional<bool> asGraph = {};
  bool simulated = false;       // its device's clock tells no time
  bool preparedWeights = false; // before they were timed
  std::optional<double> flops;  // of a call, where it declares fewer than the definition
};

// Is told what happens as it happens. An error from it ends the group: what cannot be stored need not be measured.
class GroupObserver {
public:
  virtual ~GroupObserver() = default;
  virtual Status onRound(const RoundSamples &samples) { return okStatus(); }
  // Once for each candidate, unless the group is interrupted before. Ok comes when the group is done.
  virtual Status onOutcome(uint32_t candidate, Outcome outcome, std::string_view message) { return okStatus(); }
  // Asked before a candidate is called implausible: its floors, measured once more if that was not done just now. A
  // ceiling that was taken while the machine was busy is too low, and no reason to reject anybody.
  virtual std::vector<SpeedFloor> confirmFloors(uint32_t candidate, std::vector<SpeedFloor> floors) { return floors; }
  // Asked before each round and each verification; false interrupts the group.
  virtual bool shouldContinue() { return true; }
};

struct CandidateResult {
  std::optional<Outcome> outcome;        // none where the group was interrupted before
  std::string message;                   // of what is not Ok: what happened, and for a wrong result where and why
  ProviderInfo provider;                 // without a name where no worker said hello
  std::vector<verify::Verdict> verdicts; // of each pass, up to the first that failed
  uint64_t timedCompared = 0;            // timed calls that were compared with what is right
  uint32_t rounds = 0;
  uint32_t workers = 0;         // processes that had turns
  uint64_t peakMemoryBytes = 0; // resident, of the largest process
};

struct GroupResult {
  std::vector<CandidateResult> candidates;
  SetPlan sets;
  uint32_t batch = 0;             // calls in a sample; 0: nothing was timed
  bool stoppedByTime = false;     // time was over before the scheduler was content
  uint64_t roundsNanoseconds = 0; // from the first round to the end of the last one
  bool interrupted = false;       // by the observer
  uint64_t turnNanoseconds = 0;   // how long the token was held
  uint64_t timedNanoseconds = 0;  // spent in calls that were timed
};

// Fails where there is no group to speak of: no memory for the data, settings out of range, an error of the observer or
// of the scheduler.
Result<GroupResult> runGroup(const Problem &problem, std::span<const Candidate> candidates,
                             const GroupSettings &settings, RoundScheduler &scheduler, GroupObserver &observer);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_GROUP_H
