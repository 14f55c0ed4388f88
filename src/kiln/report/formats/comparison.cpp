#include <algorithm>
#include <map>

#include "kiln/base/split.h"
#include "kiln/report/formats/comparisons.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"

namespace kiln::report {

static std::string timeOf(const Row *row) {
  if (!row)
    return "-";
  if (!row->estimate)
    return outcomeName(row->result->outcome);
  const Estimate &estimate = *row->estimate;
  return durationText(estimate.median, (estimate.high - estimate.low) / 2);
}

// "1.023 (1.011 to 1.035)"
static std::string ratioText(const TimeRatio &ratio) {
  double error = (ratio.high - ratio.low) / 2;
  return fmt::format("{} ({} to {})", roundedText(ratio.ratio, error), roundedText(ratio.low, error),
                     roundedText(ratio.high, error));
}

std::vector<const Comparison *> slowestFirst(const CompareReport &report) {
  std::vector<const Comparison *> all;
  for (const Comparison &comparison : report.comparisons)
    all.push_back(&comparison);
  std::ranges::sort(all, [](const Comparison *a, const Comparison *b) {
    return std::pair(-a->ratio, a) < std::pair(-b->ratio, b); // all lie in one vector
  });
  return all;
}

std::string controlsSentence(const CompareReport &report) {
  if (!report.comparisons.empty() && std::ranges::all_of(report.comparisons, &Comparison::control))
    return "all are controls, the same code in all runs: what their times differ by is the machine's, and nothing is "
           "left to judge";
  if (!report.unchanged)
    return {};
  return fmt::format("controls, which did not change: {}; that is the machine's, and taken out of the others",
                     ratioText(*report.unchanged));
}

// Two digits, or all before the point.
static std::string percentText(double share) {
  double percent = share * 100;
  return percent < 9.95 ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent);
}

std::string smallestText(const Comparison &c) {
  return c.ratio > 0 ? percentText(c.smallest) : std::string();
}

std::string smallestSentence(const CompareReport &report) {
  if (!report.smallest)
    return {};
  auto assumed = std::ranges::count_if(report.comparisons, [](const Comparison &c) {
    return c.ratio > 0 && !c.control && c.noise == measure::NoiseSource::Assumed;
  });
  std::string text =
      fmt::format("smallest change that these data could have shown: {} % of half of the dispatches, {} % "
                  "of any, {} % as a regression of any",
                  percentText(report.smallest->middle), percentText(report.smallest->worst),
                  percentText(report.smallest->regression));
  if (assumed)
    text +=
        fmt::format("; {} of them had too few controls, and noise of a size that is assumed: measure a library in the "
                    "same sweep, or more runs",
                    assumed);
  return text;
}

// Narrower tables have names on lines of their own.
static constexpr size_t kNamesFit = 81;

static std::string lineOf(const Comparison &c, size_t width) {
  static constexpr size_t kNumbers = 68; // what stands before the name
  std::string ratio, interval;
  if (c.ratio > 0) {
    double error = (c.high - c.low) / 2;
    ratio = roundedText(c.ratio, error);
    interval = fmt::format("{} to {}", roundedText(c.low, error), roundedText(c.high, error));
  }
  std::string name = (c.before ? c.before : c.after)->dispatch();
  std::string text = fmt::format("{}  {}  {:>7}  {:<17}  {:>6}  {:<6}{}", padText(timeOf(c.before), 12, true),
                                 padText(timeOf(c.after), 12, true), ratio, interval, smallestText(c),
                                 verdictName(c.verdict), c.regression ? " !" : "  ");
  // A name that does not fit has a line of its own: shortened, it would name several.
  bool narrow = width < kNumbers + displayWidth(name) + 2;
  return text + (narrow ? fmt::format("\n    {}\n", name) : fmt::format("{}\n", name));
}

std::string formatComparison(const CompareReport &report, size_t width) {
  std::string text;
  for (const std::string &warning : report.warnings)
    text += hangingText("", fmt::format("warning: {}; ratios say little", warning), width, 2) + "\n";
  for (const std::string &note : report.notes)
    text += hangingText("", "note: " + note, width, 2) + "\n";
  text += fmt::format("{:>12}  {:>12}  {:>7}  {:<17}  {:>6}  {:<6}  {}\n", "before", "after", "ratio", "interval",
                      "shows %", "", width < kNamesFit ? "" : "dispatch");
  text = text.substr(0, text.find_last_not_of(" \n") + 1) + "\n";
  for (const Comparison *comparison : slowestFirst(report))
    text += lineOf(*comparison, width);
  const std::string summary = summaryOf(report);
  for (std::string_view line : split(summary, '\n'))
    if (!line.empty())
      text += hangingText("", line, width, 2) + "\n";
  return text;
}

std::string summaryOf(const CompareReport &report) {
  std::string text;
  std::map<Verdict, size_t> counts;
  for (const Comparison &comparison : report.comparisons)
    ++counts[comparison.verdict];
  if (report.mean)
    text += fmt::format("geometric mean of the ratios: {}; above 1 is slower\n", ratioText(*report.mean));
  if (std::string sentence = controlsSentence(report); !sentence.empty())
    text += sentence + "\n";
  if (std::string sentence = smallestSentence(report); !sentence.empty())
    text += sentence + "\n";
  for (Verdict verdict : {Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Broken, Verdict::Mended,
                          Verdict::StillFails, Verdict::NotCompared, Verdict::OnlyBefore, Verdict::OnlyAfter})
    if (size_t count = counts[verdict])
      text += fmt::format("{} {}, ", count, verdictName(verdict));
  text += fmt::format("{} regression{}\n", report.regressions, report.regressions == 1 ? "" : "s");
  return report.nothing.empty() ? text : text + fmt::format("nothing was compared: {}\n", report.nothing);
}

} // namespace kiln::report
