// What was measured, and what follows from it.
#include "kiln/report/columns/columns.h"
#include "kiln/report/model/method.h"

namespace kiln::report {

// A number of the estimate; nothing where there is none.
template <double Estimate::*member> static Value estimated(const Row &row) {
  if (!row.estimate)
    return {};
  double value = row.estimate->*member;
  return Number{value, value * relativeError(*row.estimate)};
}

template <std::optional<double> store::CandidateEstimate::*member> static Value part(const Row &row) {
  if (!row.estimate || !(row.estimate->*member))
    return {};
  double value = *(row.estimate->*member);
  return Number{value, value * relativeError(*row.estimate)};
}

template <uint64_t Estimate::*member> static Value counted(const Row &row) {
  return row.estimate ? Value(static_cast<int64_t>(row.estimate->*member)) : Value();
}

Value rankOf(const Row &row) {
  if (!row.ranked())
    return {};
  return Ranking{row.estimate->rank, !row.estimate->ties.empty(), isNoisy(*row.estimate)};
}

// Half of the interval of the ratio, relative to it; where there is none, as large as the ratio.
static double relativeRatioError(const Estimate &estimate) {
  return estimate.hasRatioInterval() ? (estimate.ratioHigh - estimate.ratioLow) / 2 / estimate.ratio : 1;
}

static Value ratio(const Row &row) {
  if (!row.ranked())
    return {};
  return Number{row.estimate->ratio, row.estimate->ratio * relativeRatioError(*row.estimate)};
}

template <double Estimate::*end> static Value ratioEnd(const Row &row) {
  return row.ranked() && row.estimate->hasRatioInterval() ? Value(Number{row.estimate->*end, 0}) : Value();
}

static Value interval(const Row &row) {
  if (!row.estimate)
    return {};
  return Number{relativeError(*row.estimate) * 100, -1};
}

// Of bytes that are not known there is none.
static Value bandwidth(const Row &row) {
  if (!row.estimate || row.estimate->median <= 0 || row.problem->bytes <= 0)
    return {};
  double value = row.problem->bytes / row.estimate->median;
  return Number{value, value * relativeError(*row.estimate)};
}

static Value peakPercent(const Row &row) {
  if (!row.estimate || row.estimate->median <= 0 || !row.peakGigaflops || row.problem->flops <= 0)
    return {};
  double value = row.problem->flops / row.estimate->median / *row.peakGigaflops * 100;
  return Number{value, value * relativeError(*row.estimate)};
}

static Value bestPercent(const Row &row) {
  if (!row.estimate || row.estimate->median <= 0 || !row.bestVendor)
    return {};
  double value = row.bestVendor->median / row.estimate->median * 100;
  if (row.bestVendor == row.estimate)
    return Number{value, 0};
  return Number{value, value * (relativeError(*row.estimate) + relativeError(*row.bestVendor))};
}

// From what both took in the same rounds.
static Value bestKilnRatio(const Row &row) {
  if (!row.ranked() || !row.bestKiln || row.bestKiln->ratio <= 0)
    return {};
  if (row.bestKiln == row.estimate)
    return Number{1, 0};
  double value = row.bestKiln->ratio / row.estimate->ratio;
  return Number{value, value * (relativeRatioError(*row.bestKiln) + relativeRatioError(*row.estimate))};
}

// "yes" for what was checked, right and not rejected; the cause for what was wrong; "self-consistent" or "f64 golden"
// where it was compared with another build of the same compiler only.
static Value checked(const Row &row) {
  if (row.result->outcome == Outcome::Wrong)
    return row.result->verification.cause.empty() ? "wrong" : row.result->verification.cause;
  if (row.failed())
    return "no";
  const store::Verification &verification = row.result->verification;
  std::string_view selfComparison = verification.selfComparison();
  return std::string(verification.method.empty() ? "no" : selfComparison.empty() ? "yes" : selfComparison);
}

static Value escapeProbability(const Row &row) {
  if (row.result->verification.method.empty())
    return {};
  return Number{row.result->verification.escapeProbability, -1};
}

static constexpr Column kColumns[] = {
    {"rank", "Rank", Unit::Rank, rankOf, 4, 1, Page::Shown,
     "Place among the candidates of its group; = where it cannot be told apart from others, ~ where it is noisy."},
    {"candidate", "Candidate", Unit::Text, [](const Row &row) -> Value { return row.shortName(); }, 33, 1, Page::No,
     "Who computes, and how: provider and configuration, in short."},
    {"provider", "Provider", Unit::Text, [](const Row &row) -> Value { return row.provider(); }, 10, 0, Page::Shown,
     "Who computes, with its variant."},
    {"configuration", "Configuration", Unit::Text,
     [](const Row &row) { return textOrNothing(row.candidate->configuration); }, 28, 0, Page::Shown,
     "How Kiln compiled it; empty for others."},
    {"call_median_ns", "Time", Unit::Nanoseconds, estimated<&Estimate::median>, 8, 1, Page::Shown,
     "Median time of a call, from before it until its results are in memory."},
    {"interval_percent", "±%", Unit::Percent, interval, 5, 2, Page::Shown,
     "Half of the median's interval, of the median: what it is not known better than."},
    {"noise", "Noise", Unit::Text,
     [](const Row &row) { return row.estimate && isNoisy(*row.estimate) ? Value("noisy") : Value(); }, 5, 6,
     Page::Shown,
     "noisy where the interval exceeds 20 % to either side: such a rank is none, and the row should be measured "
     "again."},
    {"best_percent", "%best", Unit::Percent, bestPercent, 5, 4, Page::Shown,
     "Speed, of that of the fastest library for the problem; above 100 is faster."},
    {"best_kiln_ratio", "x found", Unit::Ratio, bestKilnRatio, 7, 6, Page::Shown,
     "Speed, of that of Kiln's fastest configuration for the problem, in the same rounds."},
    {"peak_percent", "%peak", Unit::Percent, peakPercent, 5, 5, Page::Shown,
     "Of the machine's or the device's measured ceiling for this element type; empty where it was not calibrated."},
    {"ratio", "x leader", Unit::Ratio, ratio, 6, 11, Page::Shown, "Time, of the leader's in the same rounds."},
    {"device_median_ns", "Device", Unit::Nanoseconds, part<&store::CandidateEstimate::deviceMedian>, 8, 7, Page::Shown,
     "Median of the part of a call in which kernels ran."},
    {"launch_median_ns", "Launch", Unit::Nanoseconds, part<&store::CandidateEstimate::launchMedian>, 8, 8, Page::Shown,
     "Median of the rest of a call."},
    {"call_p10_ns", "p10", Unit::Nanoseconds, estimated<&Estimate::p10>, 8, 10, Page::Shown,
     "A tenth of the calls took less."},
    {"call_p90_ns", "p90", Unit::Nanoseconds, estimated<&Estimate::p90>, 8, 9, Page::Shown,
     "A tenth of the calls took more."},
    {"call_low_ns", "Low", Unit::Nanoseconds, estimated<&Estimate::low>, 8, 0, Page::No,
     "Low end of the median's interval."},
    {"call_high_ns", "High", Unit::Nanoseconds, estimated<&Estimate::high>, 8, 0, Page::No,
     "High end of the median's interval."},
    {"gb_per_s", "GB/s", Unit::Gigabytes, bandwidth, 6, 7, Page::Shown,
     "Bytes that must move at least, of a second, from the median time."},
    {"ratio_low", "Ratio low", Unit::Ratio, ratioEnd<&Estimate::ratioLow>, 6, 0, Page::No,
     "Low end of the ratio's interval; empty where the rounds say too little for one."},
    {"ratio_high", "Ratio high", Unit::Ratio, ratioEnd<&Estimate::ratioHigh>, 6, 0, Page::No,
     "High end of the ratio's interval; empty where the rounds say too little for one."},
    {"tied_with", "Tied with", Unit::Count,
     [](const Row &row) { return row.ranked() ? Value(static_cast<int64_t>(row.estimate->ties.size())) : Value(); }, 4,
     0, Page::No, "Candidates that it shares the rank with."},
    {"rounds", "Rounds", Unit::Count, counted<&Estimate::rounds>, 6, 0, Page::No, "Rounds that it took part in."},
    {"samples", "Samples", Unit::Count, counted<&Estimate::samples>, 7, 12, Page::Shown,
     "Times that were taken, of one call or a batch of calls each."},
    {"dropped", "Dropped", Unit::Text,
     [](const Row &row) -> Value {
       return row.estimate ? Value(std::string(row.estimate->dropped ? "yes" : "no")) : Value();
     },
     3, 0, Page::No, "Whether it left the rounds early, because it could not win."},
    {"processes", "Processes", Unit::Count,
     [](const Row &row) {
       return row.result->worker ? Value(static_cast<int64_t>(row.result->worker->processes)) : Value();
     },
     4, 0, Page::No, "Processes that were timed: a turn each, where the program starts quickly."},
    {"peak_memory_bytes", "Memory", Unit::Bytes,
     [](const Row &row) {
       return row.result->worker ? Value(Number{static_cast<double>(row.result->worker->peakMemoryBytes), -1})
                                 : Value();
     },
     8, 0, Page::More, "Resident memory of its largest process, with the tensors that it has touched."},
    {"stopped", "Stopped", Unit::Text,
     [](const Row &row) { return row.estimate && row.group->cutSeconds ? Value("time") : Value(); }, 4, 0, Page::More,
     "time where the group's rounds ended because their time (--minutes) was over, before they had shown enough."},
    {"cache_mode", "Cache", Unit::Text, [](const Row &row) { return textOrNothing(row.cacheMode()); }, 5, 0, Page::More,
     "cold: data came from memory; warm: from the caches."},
    {"outcome", "Outcome", Unit::Text,
     [](const Row &row) -> Value { return std::string(outcomeName(row.result->outcome)); }, 12, 0, Page::More,
     "How it went."},
    {"checked", "Right?", Unit::Text, checked, 6, 3, Page::Shown,
     "Whether its results were checked; for wrong ones the cause. self-consistent: compared with nothing but an "
     "unoptimized build of the same compiler; f64 golden: with one that computes in f64. Neither is a verification."},
    {"verification_method", "Method", Unit::Text,
     [](const Row &row) { return textOrNothing(methodText(row.result->verification)); }, 20, 0, Page::More,
     "How its results were checked, by which passes."},
    {"escape_probability", "Escape", Unit::Ratio, escapeProbability, 8, 0, Page::No,
     "How likely an error is to pass that check."},
    {"cause", "Cause", Unit::Text, [](const Row &row) { return textOrNothing(row.result->verification.cause); }, 16, 0,
     Page::No, "The known mistake that a wrong result resembles."},
    {"explanation", "Explanation", Unit::Text,
     [](const Row &row) { return textOrNothing(row.result->verification.explanation); }, 40, 0, Page::More,
     "Where and how far a result is wrong."},
    {"error", "Error", Unit::Text, [](const Row &row) { return textOrNothing(row.result->error); }, 40, 0, Page::More,
     "Why there is no result."},
    {"compile_ms", "Compile", Unit::Milliseconds,
     [](const Row &row) -> Value {
       const std::optional<double> &time = row.result->compileMilliseconds;
       return time ? Value(Number{*time, -1}) : Value();
     },
     7, 0, Page::No, "Time that compiling took; empty where it was taken from the cache."},
};

std::span<const Column> measuredColumns() {
  return kColumns;
}

} // namespace kiln::report
