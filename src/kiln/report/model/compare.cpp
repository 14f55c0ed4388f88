#include "kiln/report/model/compare.h"

#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

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
static std::string identity(const Row &row, bool withVariant) {
  return fmt::format("{}\n{}\n{}\n{}", row.problem->name, row.candidate->provider,
                     withVariant ? row.candidate->variant : "", row.candidate->configuration);
}

// The interval of a ratio from those of its parts, on a logarithmic scale: distances to the near ends are added as
// variances are, because the runs are independent. Exact for normal errors, and keeps intervals that are lopsided.
TimeRatio ratioOf(const Row &beforeRow, const Row &afterRow) {
  const store::Estimate &before = *beforeRow.estimate, &after = *afterRow.estimate;
  double center = std::log(after.median / before.median);
  auto distance = [](double a, double b) { return a > 0 && b > 0 ? std::log(a / b) : INFINITY; };
  double down = std::hypot(distance(after.median, after.low), distance(before.high, before.median));
  double up = std::hypot(distance(after.high, after.median), distance(before.median, before.low));
  return {std::exp(center), std::exp(center - down), std::exp(center + up)};
}

static void compareTimes(Comparison &comparison, const CompareOptions &options) {
  std::optional<TimeRatio> ratio;
  if (options.paired)
    ratio = options.paired(*comparison.before, *comparison.after);
  comparison.paired = ratio.has_value();
  if (!ratio)
    ratio = ratioOf(*comparison.before, *comparison.after);
  comparison.ratio = ratio->ratio;
  comparison.low = ratio->low;
  comparison.high = ratio->high;
  if (comparison.high < 1)
    comparison.verdict = Verdict::Faster;
  else if (comparison.low > 1)
    comparison.verdict = Verdict::Slower;
  comparison.regression = comparison.low > 1 + options.threshold;
}

static Comparison compareRows(const Row &before, const Row &after, const CompareOptions &options) {
  Comparison comparison{&before, &after};
  bool worked = store::isSuccess(before.result->outcome), works = store::isSuccess(after.result->outcome);
  if (worked != works) {
    comparison.verdict = worked ? Verdict::Broken : Verdict::Mended;
    comparison.regression = worked;
  } else if (works && before.estimate && after.estimate && before.estimate->median > 0 && after.estimate->median > 0) {
    compareTimes(comparison, options);
  }
  return comparison;
}

std::vector<std::string> differencesOf(const store::Run &before, const store::Run &after) {
  std::vector<std::string> differences;
  auto tell = [&](std::string_view what, std::string_view x, std::string_view y) {
    if (x != y)
      differences.push_back(fmt::format("{} differs: '{}' before, '{}' after", what, x, y));
  };
  auto tellKey = [&](std::string_view what, std::string_view x, std::string_view y) {
    tell(what, x.substr(0, 12), y.substr(0, 12));
  };
  tellKey("the node", before.machine.node, after.machine.node);
  tellKey("the hardware", before.machine.hardware, after.machine.hardware);
  tell("the cache mode", before.cacheMode, after.cacheMode);
  tell("the data", before.dataDistribution, after.dataDistribution);
  return differences;
}

std::string problemDifference(const store::Problem &before, const store::Problem &after) {
  if (before.family == after.family && before.fields == after.fields)
    return {};
  return fmt::format("{} is another problem of the same name", after.name);
}

// Of the comparisons that `takes` wants; errors are independent, so that they add as variances do.
template <typename Takes>
static std::optional<TimeRatio> meanOf(const std::vector<Comparison> &comparisons, const Takes &takes) {
  double sum = 0, down = 0, up = 0;
  size_t count = 0;
  for (const Comparison &c : comparisons) {
    if (!(c.low > 0) || !std::isfinite(c.high) || !takes(c))
      continue;
    sum += std::log(c.ratio);
    down = std::hypot(down, std::log(c.ratio / c.low));
    up = std::hypot(up, std::log(c.high / c.ratio));
    ++count;
  }
  if (count == 0)
    return std::nullopt;
  double n = static_cast<double>(count);
  return TimeRatio{std::exp(sum / n), std::exp((sum - down) / n), std::exp((sum + up) / n)};
}

static bool isUnchanged(const Comparison &c) {
  return c.before->candidate->provider != "kiln" &&
         c.before->candidate->providerVersion == c.after->candidate->providerVersion;
}

static void summarize(CompareReport &report) {
  for (const Comparison &comparison : report.comparisons)
    report.regressions += comparison.regression;
  report.mean = meanOf(report.comparisons, [](const Comparison &c) { return !isUnchanged(c); });
  report.unchanged = meanOf(report.comparisons, isUnchanged);
}

CompareReport compareRuns(const Table &before, const Table &after, const CompareOptions &options) {
  CompareReport report;
  if (!before.runs.empty() && !after.runs.empty()) {
    const store::Run &was = before.runs.front(), &is = after.runs.front();
    report.warnings = differencesOf(was, is);
    if (was.machine.allocation != is.machine.allocation)
      report.warnings.emplace_back("the set of processors, or what else the lab could use of the machine, differs");
  }
  std::unordered_map<std::string, const Row *> rest;
  bool threadsTold = false;
  std::set<std::string> others;
  for (const Row &row : after.rows)
    rest.emplace(identity(row, true), &row);
  for (const Row &row : before.rows) {
    auto found = rest.find(identity(row, true));
    if (found == rest.end()) {
      report.comparisons.push_back({&row, nullptr, Verdict::OnlyBefore});
      continue;
    }
    uint64_t was = row.candidate->threads, is = found->second->candidate->threads;
    if (was != is && !std::exchange(threadsTold, true))
      report.warnings.push_back(fmt::format("the number of threads differs: '{}' before, '{}' after", was, is));
    if (std::string other = problemDifference(*row.problem, *found->second->problem);
        !other.empty() && others.insert(other).second)
      report.warnings.push_back(other);
    report.comparisons.push_back(compareRows(row, *found->second, options));
    rest.erase(found);
  }
  for (const Row &row : after.rows)
    if (auto found = rest.find(identity(row, true)); found != rest.end() && found->second == &row)
      report.comparisons.push_back({nullptr, &row, Verdict::OnlyAfter});
  summarize(report);
  return report;
}

CompareReport compareVariants(const Table &table, std::string_view before, std::string_view after,
                              const CompareOptions &options) {
  CompareReport report;
  std::unordered_map<std::string, const Row *> rest;
  for (const Row &row : table.rows)
    if (row.candidate->variant == after)
      rest.emplace(identity(row, false), &row);
  for (const Row &row : table.rows)
    if (auto found = rest.find(identity(row, false)); row.candidate->variant == before && found != rest.end())
      report.comparisons.push_back(compareRows(row, *found->second, options));
  summarize(report);
  return report;
}

} // namespace kiln::report
