#include <algorithm>
#include <map>
#include <set>

#include "fmt/ranges.h"
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

// "onednn, openblas": who the controls are; empty where none is among the comparisons.
static std::string controlNames(const CompareReport &report) {
  std::set<std::string> names;
  for (const Comparison &comparison : report.comparisons)
    if (comparison.control)
      names.insert(comparison.before->provider());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string controlsSentence(const CompareReport &report) {
  if (!report.comparisons.empty() && std::ranges::all_of(report.comparisons, &Comparison::control))
    return "all are controls, the same code in all runs: what their times differ by is the machine's, and nothing is "
           "left to judge";
  if (!report.unchanged && !report.lessControls)
    return {};
  const std::string names = controlNames(report);
  std::string text = fmt::format("controls, which did not change{}{}{}: {}; that is the machine's",
                                 names.empty() ? "" : " (", names, names.empty() ? "" : ")",
                                 report.unchanged ? ratioText(*report.unchanged)
                                                  : "how much their times did is not known well enough to be shown");
  if (report.lessControls)
    text += ", and taken out of the others' ratios, not of the times, which are those of each side's last run";
  return text;
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

namespace {
// A table of all comparisons.
struct Layout {
  size_t verdict;  // how wide its column is
  bool namesBelow; // where the longest does not fit: shortened, a name would stand for several
};
} // namespace

static constexpr std::string_view kVerdictHeader = "verdict";

static std::string nameOf(const Comparison &c) {
  return (c.before ? c.before : c.after)->dispatch();
}

static std::string markedVerdict(const Comparison &c) {
  return fmt::format("{}{}", verdictText(c), c.regression ? " !" : "");
}

static Layout layoutOf(const CompareReport &report, size_t width) {
  static constexpr size_t kNumbers = 67; // what stands before the verdict, and between it and the name
  size_t verdict = kVerdictHeader.size(), name = 0;
  for (const Comparison &c : report.comparisons) {
    verdict = std::max(verdict, displayWidth(markedVerdict(c)));
    name = std::max(name, displayWidth(nameOf(c)));
  }
  return {verdict, width < kNumbers + verdict + name};
}

static std::string trimmed(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

static std::string lineOf(const Comparison &c, const Layout &layout) {
  std::string ratio, interval;
  if (c.ratio > 0) {
    double error = (c.high - c.low) / 2;
    ratio = roundedText(c.ratio, error);
    interval = fmt::format("{} to {}", roundedText(c.low, error), roundedText(c.high, error));
  }
  std::string text = fmt::format("{}  {}  {:>7}  {:<17}  {:>7}  {:<{}}", padText(timeOf(c.before), 12, true),
                                 padText(timeOf(c.after), 12, true), ratio, interval, smallestText(c), markedVerdict(c),
                                 layout.verdict);
  return (layout.namesBelow ? trimmed(text) + "\n    " : text + "  ") + nameOf(c) + "\n";
}

std::string warningText(const CompareReport &report, std::string_view warning) {
  const bool ratios = std::ranges::any_of(report.comparisons, [](const Comparison &c) { return c.ratio > 0; });
  return fmt::format("warning: {}{}", warning, ratios ? "; ratios say little" : "");
}

std::string formatComparison(const CompareReport &report, size_t width) {
  std::string text;
  for (const std::string &warning : report.warnings)
    text += hangingText("", warningText(report, warning), width, 2) + "\n";
  for (const std::string &note : report.notes)
    text += hangingText("", "note: " + note, width, 2) + "\n";
  const Layout layout = layoutOf(report, width);
  text +=
      trimmed(fmt::format("{:>12}  {:>12}  {:>7}  {:<17}  {:>7}  {:<{}}  {}", "before", "after", "ratio", "interval",
                          "shows %", kVerdictHeader, layout.verdict, layout.namesBelow ? "" : "dispatch")) +
      "\n";
  for (const Comparison *comparison : slowestFirst(report))
    text += lineOf(*comparison, layout);
  const std::string summary = summaryOf(report);
  for (std::string_view line : split(summary, '\n'))
    if (!line.empty())
      text += hangingText("", line, width, 2) + "\n";
  return text;
}

std::string summaryOf(const CompareReport &report) {
  std::string text;
  std::map<Verdict, size_t> counts;
  size_t controls = 0;
  for (const Comparison &comparison : report.comparisons)
    if (comparison.control && comparison.verdict == Verdict::Same)
      ++controls;
    else
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
  if (controls)
    text += fmt::format("{} control{}, ", controls, controls == 1 ? "" : "s");
  text += fmt::format("{} regression{}\n", report.regressions, report.regressions == 1 ? "" : "s");
  return report.nothing.empty() ? text : text + fmt::format("nothing was compared: {}\n", report.nothing);
}

} // namespace kiln::report
