#include "kiln/tools/dispatch/sweep/sweep_teller.h"

#include "kiln/base/clock.h"
#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/say.h"
#include "kiln/tools/interrupts.h"

namespace kiln {

static constexpr std::string_view kCompileError = "it does not compile: ";

std::string_view toldCause(std::string_view message) {
  if (size_t end = message.find("': "); message.starts_with("pass '") && end != message.npos)
    return message.substr(end + 3);
  if (!message.starts_with(kCompileError))
    return message;
  std::string_view text = message.substr(kCompileError.size());
  size_t error = text.find("error: ");
  if (error == text.npos)
    error = text.find_first_not_of(" \n");
  if (error == text.npos)
    return message;
  // The line that it is in, from the file's name.
  size_t begin = text.rfind('\n', error);
  begin = begin == text.npos ? 0 : begin + 1;
  size_t folder = text.substr(0, error).rfind('/');
  if (folder != text.npos && folder >= begin)
    begin = folder + 1;
  std::string_view line = text.substr(begin);
  return line.substr(0, line.find('\n'));
}

double mostSeconds(uint32_t round, double seconds, const SweepSettings &settings) {
  const double ofRound = seconds / (round + 1);
  const double limit = static_cast<double>(settings.group.measureNanoseconds) / 1e9;
  return std::min(ofRound * settings.statistics.maximumRounds, std::max(limit, seconds));
}

void SweepTeller::onGroup(size_t index, const SweepGroup &group) {
  clear();
  current = index;
  begun = begun ? begun : monotonicNanoseconds();
  say("[{}/{}] {}: {}\n", index + 1, groups, factOf(*group.problem).title(),
      counted(group.candidates.size(), "candidate"));
}

void SweepTeller::onRound(uint32_t round, double seconds) {
  if (monotonicNanoseconds() - shown < (onTerminal ? 200'000'000 : silence))
    return;
  shown = monotonicNanoseconds();
  // What is left of this problem, which may end sooner, and problems like those that are done.
  double whole = mostSeconds(round, seconds, settings);
  double left = std::max(0.0, whole - seconds);
  if (measured > 0)
    left = std::min(left, spent / static_cast<double>(measured)) +
           spent / static_cast<double>(measured) * static_cast<double>(groups - current - 1);
  else
    left += whole * static_cast<double>(groups - current - 1);
  std::string line = fmt::format("  {} of {} done{}, round {} of at most {}, {:.0f} s, at most {:.0f} s left", current,
                                 groups, failed ? fmt::format(", {} rows failed", failed) : "", round + 1,
                                 settings.statistics.maximumRounds, seconds, left);
  std::fprintf(stderr, onTerminal ? "\r\033[K%s" : "%s\n", line.c_str());
}

void SweepTeller::onOutcome(const SweepCandidate &candidate, Outcome outcome, std::string_view message) {
  if (outcome == Outcome::Ok || outcome == Outcome::Unsupported)
    return;
  ++failed;
  clear();
  std::string_view cause = toldCause(message);
  bool compiles = cause.data() == message.data() || !message.starts_with(kCompileError);
  std::string text =
      fmt::format("  {}{}{}: {}: {}{}", candidate.fact.provider, candidate.fact.configuration.empty() ? "" : " ",
                  candidate.fact.configuration, outcomeName(outcome), compiles ? "" : kCompileError, cause);
  // What a compiler says is of use only as a whole.
  if (compiles)
    say("{}\n", report::firstPart(text, consoleWidth()));
  else
    say("{}\n", hangingText("", plainText(text), consoleWidth(), 4));
}

void SweepTeller::onWarning(std::string_view text) {
  clear();
  sayLines("{}", text);
}

void SweepTeller::onGroupDone(size_t, const SweepGroup &) {
  clear();
  ++measured;
  spent = secondsSince(begun);
}

bool SweepTeller::shouldContinue() {
  return !isInterrupted();
}

void SweepTeller::clear() {
  if (!onTerminal)
    return;
  if (shown)
    std::fprintf(stderr, "\r\033[K");
  shown = 0;
}

} // namespace kiln
