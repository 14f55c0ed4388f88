#include "kiln/tools/dispatch/sweep/sweep_plan.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>

#include "kiln/measure/workers/turn_plan.h"
#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/say.h"
#include "kiln/tools/dispatch/sweep/tf32_groups.h"

namespace kiln {

namespace {
// Of two cores of a shared server with 384 MiB of last-level cache. `most` was measured while others kept both cores
// busy, with some room; `least` is of a quiet machine. The plan says "about".
struct Range {
  double least, most;
};
// What a core does in a call, or a GPU in all, and what memory gives to a check that reads a result.
constexpr Range kFlopsOfThread = {80e9, 20e9}, kFlopsOfGpu = {400e12, 10e12}, kBytesOfCheck = {8e9, 2e9};
// A dispatch in its module: 32 of a matrix product took 3 s to 5 s, and a compiler starts in less than a second.
constexpr Range kCompiling = {0.05, 0.2}, kCompilerStart = {0, 1};
// Filling two last-level caches with data for a cold group, and what is stored of it.
constexpr Range kGroup = {0.1, 0.7};
// From hello to the end of a worker, besides its start, calls and checks: loading, preparing inputs, warming up.
constexpr Range kVerifying = {0.02, 0.1};
// What a turn takes besides the start and what is timed: loading, the warm-up, the end of the process.
constexpr Range kTurn = {0.005, 0.03};
// Loading takes about as long as starting does, and both are slower with others at work.
constexpr Range kStart = {1, 2};
// Of what is timed in a turn.
constexpr double kTimedPerStart = double(measure::kTurnPerStart), kMostTimed = double(measure::kLongestTurn) / 1e9;
constexpr double kLeastTimed = 0.01;
// Passes of verification, and once more after the first turn.
constexpr double kCallsToVerify = 4;
// Slow candidates leave after three turns at the earliest.
constexpr double kTurnsOfLosers = 3;
// Looking at the machine while nothing is compiled, and the report.
constexpr Range kAround = {0.5, 1.5};
// Workers of a device open it together, so many at a time, and go on to their turns where there are no more than that
// (measure/workers/group.cpp).
constexpr size_t kStartedTogether = 8, kGoOn = 24;
// A worker of ours starts in so long where it was not measured.
constexpr double kUsualStart = 0.008;

double turnSeconds(double start, double call, double Range::*end) {
  double timed = std::clamp(kTimedPerStart * start * kStart.*end, kLeastTimed, kMostTimed);
  // Slow starters live for several turns, so that starting takes little of them all; but not of each.
  double starting = end == &Range::most ? start * kStart.most : std::min(start, timed / kTimedPerStart);
  return starting + kTurn.*end + call + std::max(timed, call);
}

double secondsAt(const measure::Problem &problem, std::span<const double> starts, uint32_t threads,
                 const SweepSettings &settings, double Range::*end) {
  const bool isMost = end == &Range::most;
  const double rate = settings.onGpu ? kFlopsOfGpu.*end : kFlopsOfThread.*end * std::max(threads, 1U);
  const double call = problem.flops() / rate + problem.bytes() / (kBytesOfCheck.*end) / 4;
  const double check = problem.bytes() / (kBytesOfCheck.*end);
  double verifying = 0, round = 0, longest = 0;
  const size_t together = settings.onGpu ? std::clamp<size_t>(starts.size(), 1, kStartedTogether) : 1;
  for (double each : starts) {
    const double start = each / static_cast<double>(together);
    verifying += start * kStart.*end + kVerifying.*end + kCallsToVerify * (call + check);
    double turn = turnSeconds(settings.onGpu && starts.size() <= kGoOn ? 0 : start, call, end);
    round += turn;
    longest = std::max(longest, turn);
  }
  const double before = kGroup.*end + verifying;
  if (!settings.profile)
    return before;
  const double limit = static_cast<double>(settings.group.measureNanoseconds) / 1e9;
  const auto maximum = static_cast<double>(settings.statistics.maximumRounds);
  // A round that has begun is brought to its end.
  if (isMost)
    return before + std::min(round * maximum, limit + round);
  const double leader = std::min<double>(settings.statistics.minimumRounds, maximum);
  return before + std::min(longest * leader + (round - longest) * std::min(kTurnsOfLosers, leader), limit);
}

// Of the operations whose module is not there. What is there may be another compiler's: then it is compiled as well.
PlannedTime timeToCompile(const Lab &lab, const std::vector<Operation> &operations) {
  std::vector<size_t> all, missing;
  for (const Operation &operation : operations) {
    if (operation.compileMilliseconds) // a corpus, which was compiled when it was read
      continue;
    all.push_back(operation.configurations.size() * (1 + lab.flags.compilerVariants.size()));
    if (access(lab.folder.moduleOf(*operation.problem, "profile").c_str(), F_OK) != 0)
      missing.push_back(operation.configurations.size());
  }
  return {compilingTime(missing, lab.flags.jobCount()).least, compilingTime(all, lab.flags.jobCount()).most};
}

} // namespace

PlannedTime measuringTime(const measure::Problem &problem, std::span<const double> starts, uint32_t threads,
                          const SweepSettings &settings) {
  return {secondsAt(problem, starts, threads, settings, &Range::least),
          secondsAt(problem, starts, threads, settings, &Range::most)};
}

PlannedTime compilingTime(std::span<const size_t> dispatches, uint32_t compilers) {
  if (dispatches.empty())
    return {};
  size_t sum = 0, largest = 0;
  for (size_t count : dispatches) {
    sum += count;
    largest = std::max(largest, count);
  }
  const auto all = static_cast<double>(sum), last = static_cast<double>(largest);
  const auto parallel = static_cast<double>(std::clamp<size_t>(compilers, 1, dispatches.size()));
  // In the end one compiler may be left alone with the largest.
  return {kCompilerStart.least + kCompiling.least * std::max(all / parallel, last),
          kCompilerStart.most + kCompiling.most * std::min(all, all / parallel + last)};
}

std::string PlannedTime::text() const {
  std::string low = durationText(std::max(1.0, std::floor(least))), high = durationText(std::max(1.0, most));
  return low == high ? "about " + high : fmt::format("about {} to {}", low, high);
}

void announceSweep(const Lab &lab, const std::vector<Operation> &operations,
                   const std::vector<KnownProvider> &providers) {
  const size_t builds = 1 + lab.flags.compilerVariants.size();
  size_t dispatches = 0, libraries = 0;
  const bool withKiln = std::ranges::find(providers, "kiln", &KnownProvider::name) != providers.end();
  auto takesPart = [&](const KnownProvider &provider, const Operation &operation) {
    return !withKiln || provider.name == "kiln" || isRival(provider.variant, operation);
  };
  std::string names;
  for (const KnownProvider &provider : providers) {
    if (provider.name == "kiln")
      continue;
    libraries += static_cast<size_t>(
        std::ranges::count_if(operations, [&](const Operation &operation) { return takesPart(provider, operation); }));
    // The version of OpenBLAS is a whole line.
    names += fmt::format("{}{}{}{} {}", names.empty() ? "" : ", ", provider.name, provider.variant.empty() ? "" : ":",
                         provider.variant,
                         provider.obstacle.empty() ? provider.version.substr(0, provider.version.find(' ')) : "fails");
  }
  const SweepSettings settings = settingsOf(lab);
  PlannedTime time = {kAround.least, kAround.most};
  if (withKiln)
    time += timeToCompile(lab, operations);
  for (const Operation &operation : operations) {
    std::vector<double> starts;
    for (const KnownProvider &provider : providers)
      if (provider.obstacle.empty() && takesPart(provider, operation))
        starts.insert(starts.end(), provider.name == "kiln" ? operation.configurations.size() * builds : 1,
                      provider.startSeconds > 0 ? provider.startSeconds : kUsualStart);
    dispatches += withKiln ? operation.configurations.size() * builds : 0;
    time += measuringTime(*operation.problem, starts, lab.flags.threadCount(), settings);
  }
  sayLines("{}, {} ({} of Kiln{}{})", counted(operations.size(), "problem"),
           counted(dispatches + libraries, "candidate"), dispatches, names.empty() ? "" : "; ", names);
  say("{}\n", time.text());
}

} // namespace kiln
