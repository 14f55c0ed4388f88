#include "kiln/report/model/compare.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>

#include "kiln/base/own_providers.h"
#include "kiln/base/time_text.h"
#include "kiln/report/model/noise.h"

namespace kiln::report {

const char *verdictName(Verdict verdict) {
  switch (verdict) {
  case Verdict::Same: return "same";
  case Verdict::Faster: return "faster";
  case Verdict::Slower: return "slower";
  case Verdict::Broken: return "broken";
  case Verdict::Mended: return "mended";
  case Verdict::StillFails: return "still fails";
  case Verdict::NotCompared: return "not compared";
  case Verdict::OnlyBefore: return "only before";
  case Verdict::OnlyAfter: return "only after";
  }
  return "unknown";
}

const char *verdictText(const Comparison &comparison) {
  return comparison.control && comparison.verdict == Verdict::Same ? "control" : verdictName(comparison.verdict);
}

// What a dispatch is in any run: not its module's hash and not its version, which are what changes. On another device
// it is another one.
static std::string identity(const Row &row, bool withVariant) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", row.problem->title(), row.candidate->provider,
                     withVariant ? row.candidate->variant : "", row.candidate->configuration, row.device);
}

static constexpr double kAlpha = 0.05;

static measure::StudentTable &singleTable() {
  thread_local measure::StudentTable table(kAlpha);
  return table;
}

TimeRatio ratioOf(const measure::Change &change) {
  measure::Interval interval = change.interval(singleTable());
  return {std::exp(change.location.value), std::exp(interval.low), std::exp(interval.high)};
}

double smallestOf(const measure::Change &change) {
  return std::expm1(change.smallest(singleTable()));
}

Verdict verdictOf(const TimeRatio &ratio) {
  return ratio.high < 1 ? Verdict::Faster : ratio.low > 1 ? Verdict::Slower : Verdict::Same;
}

// Kiln's own code is the same where the compiler and its input were the same. A program of the user's may change and
// say the same version.
bool isSameCode(const Row &before, const Row &after) {
  const store::Candidate &was = *before.candidate, &is = *after.candidate;
  if (!isOwnProvider(was.provider) || was.providerVersion != is.providerVersion || was.threads != is.threads)
    return false;
  if (!isKilnsCode(was.provider))
    return true;
  std::string worker = kilnWorker(*before.run);
  if (worker != kilnWorker(*after.run))
    return false;
  return was.provider == "reference" || (!worker.empty() && !was.moduleHash.empty() && was.moduleHash == is.moduleHash);
}

static bool hasTime(const Row &row) {
  return row.estimate && row.estimate->median > 0;
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
  auto named = [](const std::string &device) { return device.empty() ? std::string("the CPU") : device; };
  tell("the device", named(deviceOf(before)), named(deviceOf(after)));
  tell("the cache mode", before.cacheMode, after.cacheMode);
  tell("the data", before.dataDistribution, after.dataDistribution);
  return differences;
}

std::string problemDifference(const store::Problem &before, const store::Problem &after) {
  if (before.family == after.family && before.fields == after.fields)
    return {};
  if (after.family == "corpus")
    return fmt::format("{} is another program: its file was edited", after.name);
  return fmt::format("{} is another problem of the same name", after.name);
}

//===--- From run to run -----------------------------------------------------------------------------------------===//

namespace {

// One dispatch in all runs.
struct Dispatch {
  measure::RunSeries series;
  const Row *first = nullptr;                    // of all runs
  const Row *before = nullptr, *after = nullptr; // of the newest run of each side that has the dispatch
};

// The dispatches of two sets of runs.
class Dispatches {
public:
  Dispatches(Runs before, Runs after) : beforeCount(before.size()), afterCount(after.size()) {
    for (size_t run = 0; run < before.size(); ++run)
      add(*before[run], run, true);
    for (size_t run = 0; run < after.size(); ++run)
      add(*after[run], run, false);
  }

  std::vector<Dispatch> all; // in the order in which they were first seen

  size_t indexOf(const Row &row) const { return known.at(identity(row, true)); }
  std::vector<measure::Change> changes() const {
    std::vector<measure::RunSeries> series;
    for (const Dispatch &dispatch : all)
      series.push_back(dispatch.series);
    return measure::changesBetweenRuns(series);
  }

private:
  void add(const Table &table, size_t run, bool isBefore) {
    for (const ProblemRows &problem : byProblem(table)) {
      size_t group = groups.try_emplace(problem.front().problem->title() + "\n" + problem.front().device, groups.size())
                         .first->second;
      std::vector<Estimate> estimates;
      std::vector<std::optional<measure::RunLevel> *> places;
      for (const Row *row = problem.begin; row != problem.end; ++row) {
        Dispatch &dispatch = find(*row, group);
        (isBefore ? dispatch.before : dispatch.after) = row;
        std::optional<measure::RunLevel> &place = (isBefore ? dispatch.series.before : dispatch.series.after)[run];
        if (!hasTime(*row) || place)
          continue;
        estimates.push_back(*row->estimate);
        places.push_back(&place);
      }
      std::vector<measure::RunLevel> levels = measure::runLevels(estimates);
      for (size_t i = 0; i < levels.size(); ++i)
        *places[i] = levels[i];
    }
  }

  Dispatch &find(const Row &row, size_t group) {
    auto [place, isNew] = known.try_emplace(identity(row, true), all.size());
    if (isNew) {
      Dispatch &dispatch = all.emplace_back();
      dispatch.first = &row;
      dispatch.series = {group, true, std::vector<std::optional<measure::RunLevel>>(beforeCount),
                         std::vector<std::optional<measure::RunLevel>>(afterCount)};
    }
    Dispatch &dispatch = all[place->second];
    dispatch.series.control &= isSameCode(*dispatch.first, row);
    return dispatch;
  }

  size_t beforeCount, afterCount;
  std::unordered_map<std::string, size_t> groups, known;
};

} // namespace

// Whether a change is worth showing: not where its interval holds 1 and is wider than a factor of ten.
static bool tellsSomething(const measure::Change &change) {
  double reach = change.location.reach(singleTable());
  return std::isfinite(change.location.value) && std::isfinite(reach) &&
         (reach < std::numbers::ln10 || verdictOf(ratioOf(change)) != Verdict::Same);
}

static void compareTimes(Comparison &comparison, const measure::Change &change) {
  if (!tellsSomething(change)) {
    comparison.verdict = comparison.control ? Verdict::Same : Verdict::NotCompared; // a control is the same code
    return;
  }
  static_cast<TimeRatio &>(comparison) = ratioOf(change);
  comparison.smallest = smallestOf(change);
  comparison.noise = change.source;
  if (!comparison.control)
    comparison.verdict = verdictOf(comparison);
}

// `change` is nothing where there is no time to compare.
static Comparison compareRows(const Row *before, const Row *after, const std::optional<measure::Change> &change,
                              bool control) {
  Comparison comparison{{}, before, after};
  comparison.control = control;
  if (!before || !after) {
    comparison.verdict = before ? Verdict::OnlyBefore : Verdict::OnlyAfter;
    return comparison;
  }
  bool worked = isSuccess(before->result->outcome), works = isSuccess(after->result->outcome);
  if (worked != works) {
    comparison.verdict = worked ? Verdict::Broken : Verdict::Mended;
    comparison.regression = worked;
  } else if (works && change) {
    compareTimes(comparison, *change);
  } else {
    comparison.verdict = before->failed() || after->failed() ? Verdict::StillFails : Verdict::NotCompared;
  }
  return comparison;
}

static std::optional<TimeRatio> meanOf(const std::vector<Comparison> &comparisons, bool controls) {
  double sum = 0, down = 0, up = 0;
  size_t count = 0;
  for (const Comparison &c : comparisons) {
    if (c.ratio <= 0 || c.control != controls)
      continue;
    sum += std::log(c.ratio);
    down += std::log(c.low);
    up += std::log(c.high);
    ++count;
  }
  if (count == 0)
    return std::nullopt;
  double n = static_cast<double>(count);
  return TimeRatio{std::exp(sum / n), std::exp(down / n), std::exp(up / n)};
}

// Why none of them was compared.
static std::string nothingCompared(const std::vector<Comparison> &comparisons) {
  if (!std::ranges::any_of(comparisons, [](const Comparison &c) { return c.before && c.after; }))
    return "no dispatch is in both";
  bool any = std::ranges::any_of(comparisons, [](const Comparison &c) {
    return c.before && c.after && c.verdict != Verdict::StillFails && c.verdict != Verdict::NotCompared;
  });
  return any ? "" : "no dispatch has times in both that tell something";
}

// Regressions by time, and what could have been shown. `changes` are those of the comparisons.
static void summarize(CompareReport &report, const std::vector<std::optional<measure::Change>> &changes,
                      const CompareOptions &options) {
  auto judged = [](const Comparison &c) { return c.ratio > 0 && !c.control; };
  // Of one side, shared by all dispatches (Bonferroni).
  auto count = static_cast<double>(std::ranges::count_if(report.comparisons, judged) * options.together);
  measure::StudentTable together(std::min(1.0, 2 * kAlpha / count));
  std::vector<double> smallest;
  double regression = 0;
  for (size_t i = 0; i < report.comparisons.size(); ++i) {
    Comparison &comparison = report.comparisons[i];
    if (judged(comparison)) {
      const measure::Location &location = changes[i]->location;
      report.lessControls |= changes[i]->lessControls;
      double threshold = std::log1p(options.threshold), reach = location.reach(together);
      comparison.regression |= location.value - reach > threshold;
      smallest.push_back(comparison.smallest);
      regression = std::max(regression, std::expm1(threshold + reach + location.reach(singleTable())));
    }
    report.regressions += comparison.regression;
  }
  report.nothing = nothingCompared(report.comparisons);
  report.mean = meanOf(report.comparisons, false);
  report.unchanged = meanOf(report.comparisons, true);
  if (!smallest.empty())
    report.smallest = {measure::percentile(smallest, 0.5), std::ranges::max(smallest), regression};
}

template <typename Add> static void warnOf(const store::Run &was, const store::Run &is, const Add &add) {
  for (std::string &difference : differencesOf(was, is))
    add(std::move(difference));
  if (was.machine.allocation != is.machine.allocation)
    add("the set of processors, or what else the lab could use of the machine, differs");
}

static void warn(CompareReport &report, Runs before, Runs after) {
  auto add = [&](std::string warning) {
    if (std::ranges::find(report.warnings, warning) == report.warnings.end())
      report.warnings.push_back(std::move(warning));
  };
  const Table *first = before.empty() ? nullptr : before.front();
  for (Runs side : {before, after})
    for (const Table *table : side)
      if (first && !first->runs.empty() && !table->runs.empty())
        warnOf(first->runs.front(), table->runs.front(), add);
}

// That the sides are the wrong way round, as it seems: all runs after are older than all before.
static void noteOrder(CompareReport &report, Runs before, Runs after) {
  auto starts = [](Runs side) {
    std::vector<int64_t> times;
    for (const Table *table : side)
      for (const store::StoredRun &run : table->runs)
        times.push_back(run.started);
    return times;
  };
  std::vector<int64_t> was = starts(before), is = starts(after);
  if (!was.empty() && !is.empty() && std::ranges::max(is) < std::ranges::min(was))
    report.notes.push_back(fmt::format("'after' is older than 'before': it began at {} UTC, and 'before' at {} UTC",
                                       timeText(std::ranges::max(is)), timeText(std::ranges::min(was))));
}

CompareReport compareRuns(Runs before, Runs after, const CompareOptions &options) {
  CompareReport report;
  warn(report, before, after);
  noteOrder(report, before, after);
  Dispatches dispatches(before, after);
  std::vector<measure::Change> found = dispatches.changes();
  std::vector<std::optional<measure::Change>> changes;
  bool threadsTold = false;
  for (size_t i = 0; i < found.size(); ++i) {
    const Dispatch &dispatch = dispatches.all[i];
    if (options.takes && !options.takes(*dispatch.first))
      continue;
    const Row *was = dispatch.before, *is = dispatch.after;
    std::optional<measure::Change> change = found[i];
    if (was && is) {
      if (was->candidate->threads != is->candidate->threads && !std::exchange(threadsTold, true))
        report.warnings.push_back(fmt::format("the number of threads differs: '{}' before, '{}' after",
                                              was->candidate->threads, is->candidate->threads));
      if (std::string other = problemDifference(*was->problem, *is->problem);
          !other.empty() && std::ranges::find(report.warnings, other) == report.warnings.end())
        report.warnings.push_back(std::move(other));
      if (std::optional<measure::Change> paired = options.paired ? options.paired(*was, *is) : std::nullopt)
        change = paired;
    }
    report.comparisons.push_back(compareRows(was, is, change, was && is && dispatch.series.control));
    changes.push_back(change);
  }
  summarize(report, changes, options);
  return report;
}

std::optional<measure::Change> changeOf(const Row &row, Runs before, Runs after) {
  Dispatches dispatches(before, after);
  measure::Change change = dispatches.changes()[dispatches.indexOf(row)];
  return tellsSomething(change) ? std::optional(change) : std::nullopt;
}

CompareReport compareVariants(const Table &table, std::string_view before, std::string_view after,
                              const CompareOptions &options) {
  CompareReport report;
  std::unordered_map<std::string, const Row *> rest;
  std::vector<std::optional<measure::Change>> changes;
  for (const Row &row : table.rows)
    if (row.candidate->variant == after)
      rest.emplace(identity(row, false), &row);
  for (const Row &row : table.rows)
    if (auto found = rest.find(identity(row, false)); row.candidate->variant == before && found != rest.end()) {
      changes.push_back(options.paired ? options.paired(row, *found->second) : std::nullopt);
      report.comparisons.push_back(compareRows(&row, found->second, changes.back(), false));
    }
  summarize(report, changes, options);
  return report;
}

} // namespace kiln::report
