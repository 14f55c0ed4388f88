// A sweep: problems, each with the candidates that are to be compared on it; measured group by group, stored as it
// goes.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_SWEEP_H
#define KILN_TOOLS_DISPATCH_SWEEP_SWEEP_H

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/neighbours.h"
#include "kiln/measure/machine/system_files.h"
#include "kiln/measure/statistics/group_statistics.h"
#include "kiln/measure/workers/group.h"
#include "kiln/runtime/hal/device_monitor.h"
#include "kiln/store/reader.h"
#include "kiln/store/writer.h"
#include "kiln/tools/dispatch/sweep/generated.h"

namespace kiln {

// A candidate: the program that is run, and what the store knows it by.
struct SweepCandidate {
  measure::Candidate worker;
  store::Candidate fact;
  std::string obstacle;     // why it takes part in name only: "it does not compile: ..."
  bool unsupported = false; // it is no failure then
  std::optional<double> compileMilliseconds;
};

struct SweepGroup {
  const measure::Problem *problem = nullptr;
  std::vector<SweepCandidate> candidates;
};

// What a store keeps of a problem.
store::Problem factOf(const measure::Problem &problem);

struct SweepSettings {
  store::Writer *writer = nullptr;    // of the same database, where the caller has opened it; outlives the sweep
  store::WriterOptions writerOptions; // where `writer` is null
  measure::GroupSettings group;
  std::string deviceName;                      // of group.device, "NVIDIA H200 (cuda://0)"
  bool onGpu = false;                          // group.device is one
  std::shared_ptr<hal::DeviceMonitor> monitor; // of group.device; null: nothing tells of it
  measure::GroupOptions statistics;
  bool profile = true; // else candidates are verified only
  std::string commandLine;
  std::vector<std::pair<std::string, std::string>> tags;
  std::optional<measure::Neighbours> machine; // what a look at it found; stored with the run
  bool calibrate = false;                     // measures the machine's ceilings where they are not known
  bool resume = true;                         // goes on with an interrupted run of the same sweep
  store::ResumeOn resumeOn = store::ResumeOn::SameNode;
  measure::SystemFiles system = measure::SystemFiles(); // tests give another machine's
};

struct SweepSummary {
  std::string run; // its key in the store
  size_t measured = 0, resumed = 0;
  size_t failed = 0; // candidates that are not right, did not run, or have no time; unsupported ones are none
  bool interrupted = false;
  double compileSeconds = 0, timedSeconds = 0, elapsedSeconds = 0;
};

// What the user sees meanwhile.
class SweepProgress {
public:
  virtual ~SweepProgress() = default;
  virtual void onGroup(size_t index, const SweepGroup &group) = 0;
  virtual void onRound(uint32_t round, double seconds) = 0;
  virtual void onOutcome(const SweepCandidate &candidate, Outcome outcome, std::string_view message) = 0;
  // Noise hides what the group was measured for: one line.
  virtual void onWarning(std::string_view text) {}
  virtual void onGroupDone(size_t index, const SweepGroup &group) = 0;
  // False ends the sweep after the round.
  virtual bool shouldContinue() = 0;
};

// The problems, candidates and settings that make a sweep the same one when it is run again.
std::string sweepKey(std::span<const SweepGroup> groups, const SweepSettings &settings);

Result<SweepSummary> runSweep(std::span<const SweepGroup> groups, const SweepSettings &settings,
                              const std::string &database, SweepProgress &progress);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_SWEEP_H
