#include "kiln/tools/dispatch/sweep_teller.h"

#include "kiln/base/clock.h"
#include "kiln/tools/dispatch/interrupts.h"
#include "kiln/tools/dispatch/say.h"

namespace kiln {

void SweepTeller::onGroup(size_t index, const SweepGroup &group) {
  clear();
  current = index;
  begun = begun ? begun : monotonicNanoseconds();
  say("[{}/{}] {}: {}\n", index + 1, groups, group.problem->name(), counted(group.candidates.size(), "candidate"));
}

void SweepTeller::onRound(uint32_t round, double seconds) {
  if (!onTerminal || monotonicNanoseconds() - shown < 200'000'000)
    return;
  shown = monotonicNanoseconds();
  // What is left of this problem, which may end sooner, and problems like those that are done.
  double part = static_cast<double>(round + 1) / settings.statistics.maximumRounds;
  double left = std::max(0.0, seconds / part - seconds);
  if (measured > 0)
    left = std::min(left, spent / static_cast<double>(measured)) +
           spent / static_cast<double>(measured) * static_cast<double>(groups - current - 1);
  else
    left += seconds / part * static_cast<double>(groups - current - 1);
  std::string line = fmt::format("  {} of {} done{}, round {} of at most {}, {:.0f} s, at most {:.0f} s left", current,
                                 groups, failed ? fmt::format(", {} rows failed", failed) : "", round + 1,
                                 settings.statistics.maximumRounds, seconds, left);
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
}

void SweepTeller::onOutcome(const SweepCandidate &candidate, store::Outcome outcome, std::string_view message) {
  if (outcome == store::Outcome::Ok || outcome == store::Outcome::Unsupported)
    return;
  ++failed;
  clear();
  // A line, with the cause rather than the pass that found it; the report says all of it.
  if (size_t end = message.find("': "); message.starts_with("pass '") && end != std::string_view::npos)
    message.remove_prefix(end + 3);
  say("{}\n", report::firstPart(fmt::format("  {}{}{}: {}: {}", candidate.fact.provider,
                                            candidate.fact.configuration.empty() ? "" : " ",
                                            candidate.fact.configuration, store::outcomeName(outcome), message),
                                consoleWidth()));
}

void SweepTeller::onWarning(std::string_view text) {
  clear();
  sayLines("{}", text);
}

void SweepTeller::onGroupDone(size_t, const SweepGroup &) {
  clear();
  ++measured;
  spent = static_cast<double>(monotonicNanoseconds() - begun) / 1e9;
}

bool SweepTeller::shouldContinue() {
  return !isInterrupted();
}

void SweepTeller::clear() {
  if (onTerminal && shown)
    std::fprintf(stderr, "\r\033[K");
  shown = 0;
}

} // namespace kiln
