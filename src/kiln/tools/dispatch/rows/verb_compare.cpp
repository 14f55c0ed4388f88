// `kiln-dispatch compare`: two stored runs, or two compilers measured against each other in common rounds.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "kiln/base/file.h"
#include "kiln/measure/statistics/run_changes.h"
#include "kiln/report/formats/comparisons.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/runs.h"
#include "kiln/report/model/compare.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/rows/recompile.h"
#include "kiln/tools/dispatch/rows/stored_row.h"
#include "kiln/tools/dispatch/say.h"
#include "kiln/tools/dispatch/sweep/compiler_check.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/printing.h"

namespace kiln {

void CompareFlags::add(FlagParser &parser) {
  parser.group("What to compare");
  parser.add({"compilers", "FILE_A,FILE_B",
              "Two programs kiln-compile: all that the selection takes is compiled with both and measured now, each "
              "dispatch of A and of B in the same rounds. Else two stored runs are compared, of which --dispatches "
              "selects."},
             compilers);
  parser.add({"flags-a", "FLAGS", "More flags for compiler A, or for the one beside this tool."}, flagsA);
  parser.add({"flags-b", "FLAGS", "Likewise for B."}, flagsB);
  parser.add({"threshold", "PERCENT",
              "A regression is slower by more than this, for certain: with 95 % for all dispatches together."},
             threshold);
  parser.add({"dry-run", "", "Says what would be compiled and measured, and does nothing."}, dryRun);
  parser.add({"force", "", "Runs that were made in different ways are no failure by themselves."}, force);
}

// Logarithms of a row's medians, by round.
static Result<std::map<uint64_t, double>> locationsOf(store::Reader &reader, const report::Row &row) {
  KILN_ASSIGN_OR_RETURN(std::vector<store::Round> rounds, reader.rounds(row.groupKey, row.candidateKey));
  std::map<uint64_t, double> locations;
  for (const store::Round &round : rounds) {
    std::vector<double> times(round.samples.call.begin(), round.samples.call.end());
    double median = measure::percentile(times, 0.5) / static_cast<double>(std::max<uint64_t>(round.batch, 1));
    if (median > 0)
      locations[round.index] = std::log(median);
  }
  return locations;
}

// What slows the machine slows both times of a round, and cancels in their ratio.
static Result<std::optional<measure::Change>> pairedChange(store::Reader &reader, const report::Row &before,
                                                           const report::Row &after) {
  if (before.groupKey != after.groupKey)
    return std::optional<measure::Change>();
  KILN_ASSIGN_OR_RETURN(auto a, locationsOf(reader, before));
  KILN_ASSIGN_OR_RETURN(auto b, locationsOf(reader, after));
  std::vector<double> ratios;
  for (const auto &[round, location] : a)
    if (auto other = b.find(round); other != b.end())
      ratios.push_back(other->second - location);
  return std::optional(measure::changeInCommonRounds(ratios));
}

// `failure` gets what goes wrong with the store meanwhile.
static report::CompareOptions optionsOf(const ReportFlags &flags, store::Reader &reader, Status &failure) {
  report::CompareOptions options;
  options.threshold = flags.compare.threshold / 100.0;
  options.paired = [&](const report::Row &before, const report::Row &after) -> std::optional<measure::Change> {
    Result<std::optional<measure::Change>> change = pairedChange(reader, before, after);
    if (change.ok())
      return *change;
    failure = change.status();
    return std::nullopt;
  };
  return options;
}

static Result<report::Table> loadRun(store::Reader &reader, const std::string &run) {
  report::Filter filter;
  filter.runs = {run};
  return report::loadTable(reader, filter);
}

// The rows that --dispatches selects alone.
static Result<report::Table> loadSelected(store::Reader &reader, const Lab &lab, const std::string &run) {
  KILN_ASSIGN_OR_RETURN(report::Table table, loadRun(reader, run));
  KILN_ASSIGN_OR_RETURN(NamePatterns patterns, NamePatterns::parse(lab.flags.dispatches));
  if (!patterns.all())
    std::erase_if(table.rows, [&](const report::Row &row) { return !patterns.matches(row.dispatch()); });
  return table;
}

static report::NamedComparison named(std::string before, std::string after, report::CompareReport compared,
                                     const CompareFlags &flags) {
  return {std::move(before), std::move(after), {}, std::move(compared), flags.threshold / 100.0, flags.force};
}

// Whether what was asked for can be written, before anything is measured.
static Status checkFormats(const ReportFlags &flags, bool measures) {
  for (const std::string &path : flags.outputs) {
    KILN_ASSIGN_OR_RETURN(const report::Format *format, report::formatFor(path, flags.format));
    KILN_RETURN_IF_ERROR(report::checkComparisonFormat(format->name).withContext(fmt::format("--output={}", path)));
  }
  KILN_RETURN_IF_ERROR(report::checkComparisonFormat(flags.shownFormat()));
  if (measures && flags.outputs.empty() && flags.shownFormat() != "console")
    return invalidArgument("--format={}: what is measured now has its progress on standard output; name a file with "
                           "--output",
                           flags.format);
  return okStatus();
}

// Writes what --output names, and prints: the console's text with what is to be said below it, or else the format that
// was asked for and nothing that does not belong to it.
static Status tell(const ReportFlags &flags, const std::vector<report::NamedComparison> &comparisons,
                   std::string_view below) {
  std::string_view shown = flags.outputs.empty() ? flags.shownFormat() : "console";
  KILN_ASSIGN_OR_RETURN(std::string text, report::formatComparisons(comparisons, shown, consoleWidth()));
  print(text);
  if (shown == "console" && !below.empty())
    sayLines("{}", below);
  for (const std::string &path : flags.outputs) {
    KILN_ASSIGN_OR_RETURN(const report::Format *format, report::formatFor(path, flags.format));
    KILN_ASSIGN_OR_RETURN(text, report::formatComparisons(comparisons, format->name, consoleWidth()));
    KILN_RETURN_IF_ERROR(writeFile(path, text));
    print(fmt::format("Writing comparison to {}\n", path));
  }
  return okStatus();
}

//===--- Stored runs ---------------------------------------------------------------------------------------------===//

// The runs of one side.
struct LoadedRuns {
  std::vector<std::unique_ptr<report::Table>> owned;
  std::vector<const report::Table *> tables; // oldest first
  std::string text() const {
    std::string text;
    for (const report::Table *table : tables)
      text += (text.empty() ? "" : "; ") + report::runText(table->runs.front());
    return text;
  }
};

// `names` are "RUN,RUN,...".
static Result<LoadedRuns> loadRuns(store::Reader &reader, const std::string &names) {
  LoadedRuns loaded;
  for (size_t at = 0; at <= names.size();) {
    size_t comma = std::min(names.find(',', at), names.size());
    KILN_ASSIGN_OR_RETURN(report::Table table, loadRun(reader, names.substr(at, comma - at)));
    loaded.owned.push_back(std::make_unique<report::Table>(std::move(table)));
    loaded.tables.push_back(loaded.owned.back().get());
    at = comma + 1;
  }
  std::ranges::sort(loaded.tables, {}, [](const report::Table *table) { return table->runs.front().started; });
  return loaded;
}

// A run that is taken twice would count as two that agree, and one is always the same as itself.
static Status checkDistinct(const LoadedRuns &before, const LoadedRuns &after) {
  std::set<std::string> seen;
  for (const LoadedRuns *side : {&before, &after})
    for (const report::Table *table : side->tables)
      if (std::string key = table->runs.front().key(); !seen.insert(key).second)
        return invalidArgument("run {} is named twice, and each run counts once; name others, as in `compare latest~1 "
                               "latest`",
                               key.substr(0, 8));
  return okStatus();
}

static Result<int> compareStored(const Lab &lab, const ReportFlags &flags) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, openStore(lab, flags));
  KILN_ASSIGN_OR_RETURN(NamePatterns patterns, NamePatterns::parse(lab.flags.dispatches));
  KILN_ASSIGN_OR_RETURN(LoadedRuns before, loadRuns(*reader, flags.arguments[0]));
  KILN_ASSIGN_OR_RETURN(LoadedRuns after, loadRuns(*reader, flags.arguments[1]));
  KILN_RETURN_IF_ERROR(checkDistinct(before, after));
  std::vector<NamedProblem> names;
  for (const LoadedRuns *side : {&before, &after})
    for (const report::Table *table : side->tables)
      std::ranges::move(namesOf(*table), std::back_inserter(names));
  KILN_RETURN_IF_ERROR(checkPatterns(lab.flags.dispatches, names));
  Status failure;
  report::CompareOptions options = optionsOf(flags, *reader, failure);
  if (!patterns.all())
    options.takes = [&](const report::Row &row) { return patterns.matches(row.dispatch()); };
  report::CompareReport compared = report::compareRuns(before.tables, after.tables, options);
  KILN_RETURN_IF_ERROR(failure);
  bool excused = compared.warnings.empty() || flags.compare.force;
  bool failed = compared.regressions || !excused || !compared.nothing.empty();
  report::NamedComparison comparison = named(before.text(), after.text(), std::move(compared), flags.compare);
  comparison.heading = fmt::format("before: {}\nafter:  {}\n", comparison.before, comparison.after);
  KILN_RETURN_IF_ERROR(tell(flags, {comparison},
                            excused ? ""
                                    : "the runs were not made in the same way, so that this is no proof of anything: "
                                      "exit code 1. --force takes it for one"));
  return failed ? 1 : 0;
}

// One run with variants: each against the plain one.
static Result<int> compareWithin(const Lab &lab, const ReportFlags &flags) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, openStore(lab, flags));
  KILN_ASSIGN_OR_RETURN(report::Table table, loadSelected(*reader, lab, flags.arguments[0]));
  std::set<std::string> variants;
  for (const report::Row &row : table.rows)
    if (row.candidate->provider == "kiln")
      variants.insert(row.candidate->variant);
  if (variants.size() < 2)
    return failedPrecondition("run '{}' has Kiln in one variant only: name two runs, as in `compare latest~1 latest`",
                              flags.arguments[0]);
  std::erase_if(table.rows, [](const report::Row &row) { return row.candidate->provider != "kiln"; });
  Status failure;
  bool hasFailed = false;
  std::vector<report::NamedComparison> comparisons;
  std::string first = *variants.begin();
  variants.erase(first);
  report::CompareOptions options = optionsOf(flags, *reader, failure);
  options.together = variants.size();
  for (const std::string &variant : variants) {
    report::CompareReport compared = report::compareVariants(table, first, variant, options);
    KILN_RETURN_IF_ERROR(failure);
    hasFailed |= compared.regressions || !compared.nothing.empty();
    report::NamedComparison &one =
        comparisons.emplace_back(named(first.empty() ? "plain" : first, variant, std::move(compared), flags.compare));
    one.heading = fmt::format("before: {}, after: {}; ratios are from common rounds\n", one.before, one.after);
  }
  KILN_RETURN_IF_ERROR(tell(flags, comparisons, ""));
  return hasFailed ? 1 : 0;
}

//===--- Two compilers -------------------------------------------------------------------------------------------===//

static Result<std::vector<CompilerBuild>> buildsOf(const Lab &lab, const CompareFlags &flags) {
  std::vector<CompilerBuild> builds(2, lab.flags.plainBuild());
  builds[0].variant = "a";
  builds[1].variant = "b";
  if (!flags.compilers.empty()) {
    size_t comma = flags.compilers.find(',');
    if (comma == std::string::npos || flags.compilers.find(',', comma + 1) != std::string::npos)
      return invalidArgument("--compilers={}: write two paths, FILE_A,FILE_B", flags.compilers);
    builds[0].compiler = flags.compilers.substr(0, comma);
    builds[1].compiler = flags.compilers.substr(comma + 1);
    for (const CompilerBuild &build : builds)
      KILN_RETURN_IF_ERROR(checkCompiler("--compilers", build.compiler));
  }
  appendFlags(flags.flagsA, builds[0].flags);
  appendFlags(flags.flagsB, builds[1].flags);
  return builds;
}

static std::string compilerText(const CompilerBuild &build) {
  return build.compiler.empty() ? "kiln-compile " + recordedFlags("", build.flags)
                                : recordedFlags(build.compiler, build.flags);
}

static Result<int> compareBuilds(const Lab &lab, const ReportFlags &flags) {
  if (!flags.database.empty())
    return invalidArgument("--db belongs to stored runs; what is measured now goes to --generated-dir");
  KILN_ASSIGN_OR_RETURN(std::vector<CompilerBuild> builds, buildsOf(lab, flags.compare));
  KILN_ASSIGN_OR_RETURN(std::optional<std::string> run, measureBuilds(lab, builds, flags.compare.dryRun));
  if (!run)
    return flags.compare.dryRun ? 0 : interruptedExitCode();
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(lab.folder.database()));
  KILN_ASSIGN_OR_RETURN(report::Table table, loadSelected(*reader, lab, *run));
  Status failure;
  report::CompareReport compared = report::compareVariants(table, "a", "b", optionsOf(flags, *reader, failure));
  KILN_RETURN_IF_ERROR(failure);
  bool hasFailed = compared.regressions || !compared.nothing.empty();
  size_t failed = std::ranges::count_if(table.rows, [](const report::Row &row) { return row.failed(); });
  report::NamedComparison comparison =
      named(compilerText(builds[0]), compilerText(builds[1]), std::move(compared), flags.compare);
  comparison.heading = fmt::format("before (a): {}\nafter (b): {}\n", comparison.before, comparison.after);
  std::string below;
  if (failed)
    below = fmt::format("{} rows failed; `kiln-dispatch report --run={}` says why\n", failed, run->substr(0, 8));
  below += fmt::format("stored in {} as run {}", lab.folder.database(), run->substr(0, 8));
  KILN_RETURN_IF_ERROR(tell(flags, {comparison}, below));
  return hasFailed || failed ? 1 : 0;
}

Result<int> verbs::compare(const Lab &lab, const ReportFlags &flags) {
  const CompareFlags &wanted = flags.compare;
  bool measures = !wanted.compilers.empty() || !wanted.flagsA.empty() || !wanted.flagsB.empty();
  if (measures && !flags.arguments.empty())
    return invalidArgument("name two runs, or compilers to measure now; not both");
  KILN_RETURN_IF_ERROR(checkFormats(flags, measures));
  if (wanted.dryRun && !measures)
    return invalidArgument("--dry-run is about what would be measured with --compilers or their flags; stored runs are "
                           "only read");
  if (measures)
    return compareBuilds(lab, flags);
  if (flags.arguments.size() == 1)
    return compareWithin(lab, flags);
  if (flags.arguments.size() != 2)
    return invalidArgument(
        "name two runs, as in `kiln-dispatch compare latest~1 latest`, or several of each side, as in "
        "`compare A1,A2,A3 B1,B2,B3`; or two compilers, "
        "--compilers=A,B, or their flags, --flags-b=...");
  return compareStored(lab, flags);
}

} // namespace kiln
