#include "kiln/report/model/compare.h"

#include <cmath>
#include <unordered_map>

namespace kiln::report {

const char *verdictName(Verdict verdict) {
  switch (verdict) {
  case Verdict::Same: return "same";
  case Verdict::Faster: return "faster";
  case Verdict::Slower: return "slower";
  case Verdict::Broken: return "broken";
  case Verdict::Mended: return "mended";
  case Verdict::OnlyBefore: return "only before";
  case Verdict::OnlyAfter: return "only after";
  }
  return "unknown";
}

// What a dispatch is in any run: not its module's hash and not its version, which are what changes.
static std::string identity(const Row &row) {
  return fmt::format("{}\n{}\n{}\n{}", row.problem->name, row.candidate->provider, row.candidate->variant,
                     row.candidate->configuration);
}

// The interval of a ratio from those of its parts, on a logarithmic scale: distances to the near ends are added as
// variances are, because the runs are independent. Exact for normal errors, and keeps intervals that are lopsided.
static void compareTimes(Comparison &comparison, double threshold) {
  const store::Estimate &before = *comparison.before->estimate, &after = *comparison.after->estimate;
  double center = std::log(after.median / before.median);
  auto distance = [](double a, double b) { return a > 0 && b > 0 ? std::log(a / b) : INFINITY; };
  double down = std::hypot(distance(after.median, after.low), distance(before.high, before.median));
  double up = std::hypot(distance(after.high, after.median), distance(before.median, before.low));
  comparison.ratio = std::exp(center);
  comparison.low = std::exp(center - down);
  comparison.high = std::exp(center + up);
  if (comparison.high < 1)
    comparison.verdict = Verdict::Faster;
  else if (comparison.low > 1)
    comparison.verdict = Verdict::Slower;
  comparison.regression = comparison.verdict == Verdict::Slower && comparison.ratio > 1 + threshold;
}

static Comparison compareRows(const Row &before, const Row &after, double threshold) {
  Comparison comparison{&before, &after};
  bool worked = store::isSuccess(before.result->outcome), works = store::isSuccess(after.result->outcome);
  if (worked != works) {
    comparison.verdict = worked ? Verdict::Broken : Verdict::Mended;
    comparison.regression = worked;
  } else if (works && before.estimate && after.estimate && before.estimate->median > 0 && after.estimate->median > 0) {
    compareTimes(comparison, threshold);
  }
  return comparison;
}

static void warnOfDifferences(const Table &before, const Table &after, std::vector<std::string> &warnings) {
  if (before.runs.empty() || after.runs.empty())
    return;
  const store::Run &a = before.runs.front(), &b = after.runs.front();
  auto warn = [&](std::string_view what, std::string_view x, std::string_view y) {
    if (x != y)
      warnings.push_back(fmt::format("{} differs: '{}' before, '{}' after; ratios say little", what, x, y));
  };
  warn("the machine", a.machine.substr(0, 12), b.machine.substr(0, 12));
  warn("the cache mode", a.cacheMode, b.cacheMode);
  warn("the data", a.dataDistribution, b.dataDistribution);
}

CompareReport compareRuns(const Table &before, const Table &after, const CompareOptions &options) {
  CompareReport report;
  warnOfDifferences(before, after, report.warnings);
  std::unordered_map<std::string, const Row *> rest;
  for (const Row &row : after.rows)
    rest.emplace(identity(row), &row);
  for (const Row &row : before.rows) {
    auto found = rest.find(identity(row));
    if (found == rest.end()) {
      report.comparisons.push_back({&row, nullptr, Verdict::OnlyBefore});
      continue;
    }
    if (row.candidate->threads != found->second->candidate->threads && report.warnings.size() < 8)
      report.warnings.push_back(fmt::format("{} used {} threads before and {} after", row.dispatch(),
                                            row.candidate->threads, found->second->candidate->threads));
    report.comparisons.push_back(compareRows(row, *found->second, options.threshold));
    report.regressions += report.comparisons.back().regression;
    rest.erase(found);
  }
  for (const Row &row : after.rows)
    if (auto found = rest.find(identity(row)); found != rest.end() && found->second == &row)
      report.comparisons.push_back({nullptr, &row, Verdict::OnlyAfter});
  return report;
}

} // namespace kiln::report
