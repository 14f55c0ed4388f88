#include "kiln/tools/dispatch/sweep_plan.h"

#include <algorithm>
#include <cmath>

#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/say.h"

namespace kiln {

// Far from exact for any one machine, so that the plan says "about": what a core does where code is not bad, and what
// memory gives to a check that reads a result.
static constexpr double kFlopsOfThread = 80e9, kBytesOfCheck = 2e9;
// A turn with the start of its worker; what verifying takes besides calls and checks.
static constexpr double kShortTurn = 0.06, kVerifying = 0.15;
// Losers leave after 3 to 10 turns.
static constexpr double kTurnsOfLosers = 8;

std::pair<double, double> measuringSeconds(const measure::Problem &problem, size_t candidates, uint32_t threads,
                                           const SweepSettings &settings) {
  const double call = problem.flops() / (kFlopsOfThread * std::max(threads, 1U)) + problem.bytes() / kBytesOfCheck / 4;
  // Three passes, each a call and a check of its result, and once more after the first turn.
  const double verifying = kVerifying + 4 * (call + problem.bytes() / kBytesOfCheck);
  const double turn = kShortTurn + 2 * call;
  const auto count = static_cast<double>(candidates);
  const double some = std::min(kTurnsOfLosers, static_cast<double>(settings.statistics.maximumRounds));
  const double limit = static_cast<double>(settings.group.measureNanoseconds) / 1e9;
  const double most = std::min(turn * count * settings.statistics.maximumRounds, limit);
  return {count * verifying + std::min(turn * count * some, most), count * verifying + most};
}

void announceSweep(const Lab &lab, const std::vector<Operation> &operations,
                   const std::vector<KnownProvider> &providers) {
  const size_t builds = 1 + lab.flags.compilerVariants.size();
  size_t dispatches = 0, libraries = 0;
  bool withKiln = false;
  std::string names;
  for (const KnownProvider &provider : providers) {
    if (provider.name == "kiln") {
      withKiln = true;
      continue;
    }
    ++libraries;
    // OpenBLAS says a whole line of itself.
    names += fmt::format("{}{}{}{} {}", names.empty() ? "" : ", ", provider.name, provider.variant.empty() ? "" : ":",
                         provider.variant,
                         provider.obstacle.empty() ? provider.version.substr(0, provider.version.find(' ')) : "fails");
  }
  const SweepSettings settings = settingsOf(lab);
  double least = 0, most = 0;
  for (const Operation &operation : operations) {
    const size_t ofKiln = withKiln ? operation.configurations.size() * builds : 0;
    auto [some, all] = measuringSeconds(*operation.problem, ofKiln + libraries, lab.flags.threadCount(), settings);
    dispatches += ofKiln;
    least += some;
    most += all;
  }
  sayLines("{}, {} ({} of Kiln{}{})", counted(operations.size(), "problem"),
           counted(dispatches + libraries * operations.size(), "candidate"), dispatches, names.empty() ? "" : "; ",
           names);
  say("about {} to {}\n", durationText(least), durationText(most));
}

} // namespace kiln
