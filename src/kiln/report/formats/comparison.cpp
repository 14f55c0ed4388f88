#include <map>

#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"

namespace kiln::report {

static std::string timeOf(const Row *row) {
  if (!row)
    return "-";
  if (!row->estimate)
    return store::outcomeName(row->result->outcome);
  const store::Estimate &estimate = *row->estimate;
  return durationText(estimate.median, (estimate.high - estimate.low) / 2);
}

std::string formatComparison(const CompareReport &report, size_t width) {
  static constexpr size_t kNumbers = 60; // what stands before the name
  std::string text;
  for (const std::string &warning : report.warnings)
    text += fmt::format("warning: {}\n", warning);
  text +=
      fmt::format("{:>12}  {:>12}  {:>7}  {:<17}  {:<6}  {}\n", "before", "after", "ratio", "interval", "", "dispatch");
  std::map<Verdict, size_t> counts;
  for (const Comparison &c : report.comparisons) {
    ++counts[c.verdict];
    std::string ratio, interval;
    if (c.ratio > 0) {
      double error = (c.high - c.low) / 2;
      ratio = roundedText(c.ratio, error);
      interval = fmt::format("{} to {}", roundedText(c.low, error), roundedText(c.high, error));
    }
    std::string name = (c.before ? c.before : c.after)->dispatch();
    bool narrow = width < kNumbers + displayWidth(name) + 2;
    text += fmt::format("{}  {}  {:>7}  {:<17}  {:<6}{}", padText(timeOf(c.before), 12, true),
                        padText(timeOf(c.after), 12, true), ratio, interval, verdictName(c.verdict),
                        c.regression ? " !" : "  ");
    // A name that does not fit has a line of its own: shortened, it would name several.
    text += narrow ? fmt::format("\n    {}\n", name) : fmt::format("{}\n", name);
  }
  for (Verdict verdict : {Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Broken, Verdict::Mended,
                          Verdict::OnlyBefore, Verdict::OnlyAfter})
    if (size_t count = counts[verdict])
      text += fmt::format("{} {}, ", count, verdictName(verdict));
  return text + fmt::format("{} regression{}\n", report.regressions, report.regressions == 1 ? "" : "s");
}

} // namespace kiln::report
