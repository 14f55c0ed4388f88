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

#include "kiln/base/call_facts.h"
#include "kiln/base/device_state.h"
#include "kiln/base/estimate.h"
#include "kiln/base/outcome.h"

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

// Where something was measured, as three JSON objects: several nodes may have equal hardware, and a node may be
// measured with several sets of processors. Stores before version 6 have "{}" for what they did not record.
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
  // The name, and where its products are others than the types say, what they are in: "matmul_... in tf32".
  std::string title() const;
  // Of a field; empty where there is none of that name.
  std::string_view field(std::string_view name) const;
};

// The provider of a problem's results, and how it computes them.
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

// Calls of which it is known when their device was at work; `call` is the host's nanoseconds of each.
struct WatchedCalls : DeviceTimes {
  std::vector<int64_t> call = {};

  bool operator==(const WatchedCalls &) const = default;
};

// Times in nanoseconds, a value for each batch of calls. `device` and `launch` are those of older stores: empty, or as
// long as `call`.
struct Samples {
  std::vector<int64_t> call = {}, device = {}, launch = {};
  WatchedCalls watched = {}; // other calls than those above; without a clock where there are none

  bool operator==(const Samples &) const = default;
};

// What was counted of some calls.
struct Counters : CallCounts {
  uint64_t calls = 0;

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
  Counters counters = {};  // of all calls of the round
  DeviceState device = {}; // while they were made; empty where nothing told

  bool operator==(const Round &) const = default;
};

// What was concluded of a candidate when its group finished; all numbers are finite.
struct CandidateEstimate : Estimate {
  std::string group = {}, candidate = {};
  std::vector<std::string> ties = {}; // keys of the candidates that it cannot be told apart from
  std::optional<double> deviceMedian = {}, launchMedian = {}; // parts of a call

  bool operator==(const CandidateEstimate &) const = default;
};

// What hardware can do at most with an allocation: a JSON object, as `kiln calibrate` makes it.
struct Calibration {
  std::string hardware, allocation; // keys
  int64_t taken = 0;                // unixNanoseconds()
  std::string ceilings;
};

} // namespace kiln::store

#endif // KILN_STORE_FACTS_H
