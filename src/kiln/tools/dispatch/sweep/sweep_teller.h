// Tells how far a sweep is.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_SWEEP_TELLER_H
#define KILN_TOOLS_DISPATCH_SWEEP_SWEEP_TELLER_H

#include <unistd.h>

#include "kiln/base/clock.h"
#include "kiln/tools/dispatch/still_alive.h"
#include "kiln/tools/dispatch/sweep/sweep.h"

namespace kiln {

// What is told at once of a message: the cause rather than the pass that found it, and of a compiler's text the first
// error, with the file's name in place of its path. The report says all of it.
std::string_view toldCause(std::string_view message);

// How long a problem takes at most, that is in this round (the first is 0) after so many seconds: until its last round,
// or until its time (--minutes) is up.
double mostSeconds(uint32_t round, double seconds, const SweepSettings &settings);

// On a terminal, one line that is written over while a group runs; else a line each time that so long has passed, so
// that a log shows how far it is.
class SweepTeller final : public SweepProgress {
public:
  SweepTeller(size_t groups, const SweepSettings &settings, std::chrono::nanoseconds silence = kLongestSilence)
      : groups(groups), settings(settings), silence(static_cast<uint64_t>(silence.count())) {}

  void onGroup(size_t index, const SweepGroup &group) override;
  void onRound(uint32_t round, double seconds) override;
  void onOutcome(const SweepCandidate &candidate, Outcome outcome, std::string_view message) override;
  void onWarning(std::string_view text) override;
  void onGroupDone(size_t index, const SweepGroup &group) override;
  bool shouldContinue() override;

private:
  void clear();

  size_t groups;
  const SweepSettings &settings;
  size_t failed = 0, current = 0, measured = 0;
  uint64_t begun = 0; // when the first problem did
  double spent = 0;   // seconds on those that are done
  bool onTerminal = isatty(STDERR_FILENO) != 0;
  uint64_t silence;
  uint64_t shown = onTerminal ? 0 : monotonicNanoseconds(); // when a line was; on a terminal 0: none is there
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_SWEEP_TELLER_H
