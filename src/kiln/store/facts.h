// The facts that the lab stores, as plain structs. Facts are appended and never changed: what a row means is fixed once
// it is written, and two stores can be merged. docs/store.md has the tables.
#ifndef KILN_STORE_FACTS_H
#define KILN_STORE_FACTS_H

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::store {

// 128 bits of XXH3 over the parts and their lengths, as 32 hexadecimal digits. Equal parts give equal keys on every
// machine, so that records from several of them meet.
std::string contentKey(std::initializer_list<std::string_view> parts);

// Wall-clock time in nanoseconds since 1970.
int64_t unixNanoseconds();

// The keys of a machine's three facts.
struct MachineKeys {
  std::string node, hardware, allocation;

  bool operator==(const MachineKeys &) const = default;
};

// Where something was measured, as three JSON objects, because equal nodes are not one node, and another set of
// processors is not another machine. "{}" is what stores before version 6 did not tell.
struct Machine {
  std::string node = "{}";       // which machine: host name, machine id
  std::string hardware = "{}";   // its kind: processors, caches, memory, GPUs, drivers, clock limits, kernel
  std::string allocation = "{}"; // what of it the lab may use: processors, CPU time, memory

  MachineKeys keys() const;
};

// One invocation that measures, or several where an interrupted one was resumed.
struct Run {
  // Problems, candidates and settings, as a content key of the caller's making: what is resumed must have the same.
  std::string sweep;
  int64_t started = 0; // unixNanoseconds()
  MachineKeys machine; // where it was begun
  std::string commandLine;
  std::string flags = "{}"; // a JSON object
  uint64_t seed = 0;
  std::string cacheMode;        // "cold", "warm"
  std::string dataDistribution; // "integers -7..7" and the like
  // --tags: shown as the first columns of a CSV.
  std::vector<std::pair<std::string, std::string>> tags;
  std::string kilnVersion;

  std::string key() const;
};

// Its key is its content: where a later version counts FLOPs in another way, the problem of that name is another fact.
struct Problem {
  std::string name;
  std::string family;
  std::vector<std::pair<std::string, std::string>> fields; // in the order of the family
  double flops = 0, bytes = 0;

  std::string key() const;
};

// Who computes a problem, and how.
struct Candidate {
  std::string problem;  // Problem::key()
  std::string provider; // "kiln", "onednn"
  std::string providerVersion;
  std::string configuration; // "tile_config_..."; empty where the provider has none
  std::string variant = {};  // such as "preferred layout"; empty for the plain one
  std::string compilerFlags = {};
  std::string moduleHash = {};
  uint64_t threads = 1;

  std::string key() const;
};

// A group without an end is interrupted where it says so itself, where its run has ended, and where its run has started
// another group after it; else it is running, or its process has died.
enum class GroupStatus { Running, Finished, Interrupted };
const char *groupStatusName(GroupStatus status);

// One problem and its candidates, measured together in a run.
struct Group {
  std::string run;                         // Run::key()
  std::string problem;                     // Problem::key()
  int64_t started = 0;                     // unixNanoseconds()
  std::optional<MachineKeys> machine = {}; // nothing: where its run was begun

  std::string key() const;
};

enum class Outcome { Ok, Failed, Unsupported, Crashed, Timeout, Incorrect, NotVerified, NotProfiled, Implausible };
// "ok", "not verified": as stored and shown.
const char *outcomeName(Outcome outcome);
std::optional<Outcome> parseOutcome(std::string_view name);
// Whether the candidate gave results that count: it was right, or was not asked to be.
bool isSuccess(Outcome outcome);

// What verification said; `method` is empty where nothing was verified. `details` is a JSON object with whatever else
// there is to tell: passes, checks ({pass, method} of each), wrong, total, examples, tilePattern, ulpHistogram.
struct Verification {
  std::string method = {};
  std::string cause = {}; // empty or "none": nothing is wrong
  std::string explanation = {};
  double escapeProbability = 0;
  std::string details = "{}";

  // How reports call what was compared with nothing but another build of the same compiler, which is no verification:
  // "self-consistent", or "f64 golden" where that build computes in f64. Empty for all else.
  std::string_view selfComparison() const {
    for (std::string_view name : {"self-consistent", "f64 golden"})
      if (method.starts_with(name))
        return name;
    return {};
  }

  bool operator==(const Verification &) const = default;
};

// What a candidate's worker said of itself, and what its processes took.
struct WorkerFacts {
  std::string name = {}, version = {}, note = {}; // as told; a note is what a reader of the results has to know
  uint64_t processes = 0;                         // that were timed
  uint64_t peakMemoryBytes = 0;                   // resident, of the largest of them; tensors count, too

  bool operator==(const WorkerFacts &) const = default;
};

// How it went for one candidate of a group.
struct CandidateResult {
  std::string group, candidate;
  Outcome outcome = Outcome::Ok;
  std::string error = {}; // one sentence or more; empty for Ok
  Verification verification = {};
  std::optional<double> compileMilliseconds = {}; // nothing: taken from the cache, or there is nothing to compile
  std::optional<WorkerFacts> worker = {};         // nothing: there was none

  bool operator==(const CandidateResult &) const = default;
};

// Calls of which it is known when their device was at work: the host's nanoseconds of each, and ticks of the device's
// clock. `submitted` is empty where that clock does not tell it.
struct WatchedCalls {
  std::vector<int64_t> call = {};
  std::string clock = {}; // "monotonic" is the host's
  uint64_t ticksPerSecond = 1'000'000'000;
  std::vector<int64_t> submitted = {}, started = {}, ended = {};

  bool operator==(const WatchedCalls &) const = default;
};

// Times in nanoseconds, a value for each batch of calls. `device` and `launch` are those of older stores: empty, or as
// long as `call`.
struct Samples {
  std::vector<int64_t> call = {}, device = {}, launch = {};
  WatchedCalls watched = {}; // other calls than those above; without a clock where there are none

  bool operator==(const Samples &) const = default;
};

// What the CPU's counters said of some calls, each nothing where it was not counted.
struct Counters {
  uint64_t calls = 0;
  std::optional<uint64_t> cycles = {}, instructions = {}, cacheMisses = {};
  std::optional<uint64_t> flops = {}; // floating-point operations, a multiply-add as two

  bool any() const { return cycles || instructions || cacheMisses || flops; }
  bool operator==(const Counters &) const = default;
};

// What one candidate did while it held the token.
struct Round {
  std::string group, candidate;
  uint64_t index = 0;
  int64_t started = 0; // unixNanoseconds()
  double load = 0;     // of the machine, as in /proc/loadavg
  std::optional<double> megahertz = {};
  uint64_t batch = 1; // calls that each sample sums
  std::string cacheMode = {};
  Samples samples = {};
  Counters counters = {}; // of all calls of the round

  bool operator==(const Round &) const = default;
};

// What was concluded of a candidate when its group finished. Times are nanoseconds of one call.
struct Estimate {
  std::string group, candidate;
  double median = 0, p10 = 0, p90 = 0; // of `call`
  double low = 0, high = 0;            // the interval of the median
  std::optional<double> deviceMedian = {}, launchMedian = {};
  uint64_t rounds = 0, samples = 0;
  uint64_t rank = 0;                             // 1 is best; 0: not ranked
  std::vector<std::string> ties = {};            // keys of the candidates that it shares the rank with
  double ratio = 1, ratioLow = 1, ratioHigh = 1; // of its time to the leader's, in the same rounds
  bool dropped = false;                          // left the rounds early

  bool operator==(const Estimate &) const = default;
};

// What hardware can do at most with an allocation: a JSON object, as `kiln calibrate` makes it.
struct Calibration {
  std::string hardware, allocation; // keys
  int64_t taken = 0;                // unixNanoseconds()
  std::string ceilings;
};

} // namespace kiln::store

#endif // KILN_STORE_FACTS_H
