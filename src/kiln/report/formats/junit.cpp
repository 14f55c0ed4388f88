#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/runs.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/method.h"

namespace kiln::report {

// Wrong results are failures; what kept a candidate from giving results is an error.
static std::string verdictOf(const Row &row) {
  const store::CandidateResult &result = *row.result;
  const char *outcome = outcomeName(result.outcome);
  switch (result.outcome) {
  case Outcome::Ok:
  case Outcome::NotVerified:
    return result.verification.selfComparison().empty()
               ? std::string()
               : fmt::format("      <system-out>{}</system-out>\n", escapedXml(methodText(result.verification)));
  case Outcome::Unsupported:
  case Outcome::NotProfiled:
    return fmt::format("      <skipped message=\"{}\"/>\n",
                       escapedXml(result.error.empty() ? outcome : fmt::format("{}: {}", outcome, result.error)));
  case Outcome::Wrong: {
    std::string cause = result.verification.cause.empty() ? "wrong results" : result.verification.cause;
    return fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", outcome, escapedXml(cause),
                       escapedXml(result.verification.explanation));
  }
  default: return fmt::format("      <error type=\"{}\" message=\"{}\"/>\n", outcome, escapedXml(result.error));
  }
}

namespace {
struct Counts {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(std::string_view verdict) {
    ++tests;
    failures += verdict.find("<failure") != std::string_view::npos;
    errors += verdict.find("<error") != std::string_view::npos;
    skipped += verdict.find("<skipped") != std::string_view::npos;
  }
  std::string text() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures, errors, skipped);
  }
};
} // namespace

static std::string propertiesOf(const store::StoredRun &run) {
  std::string text = fmt::format("      <property name=\"run\" value=\"{}\"/>\n", run.key());
  for (const auto &[name, value] : run.tags)
    text += fmt::format("      <property name=\"tag:{}\" value=\"{}\"/>\n", escapedXml(name), escapedXml(value));
  return fmt::format("    <properties>\n{}    </properties>\n", text);
}

Result<std::string> formatJunit(const Table &table, const FormatOptions &options) {
  std::string suites;
  Counts all;
  for (const ProblemRows &problem : byProblem(table)) {
    std::string cases;
    Counts counts;
    for (const Row *row = problem.begin; row != problem.end; ++row) {
      std::string verdict = verdictOf(*row);
      counts.add(verdict);
      all.add(verdict);
      std::string time = row->estimate ? fmt::format(" time=\"{:.9f}\"", row->estimate->median / 1e9) : "";
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"{}", escapedXml(row->provider()),
                           escapedXml(row->dispatch()), time);
      cases += verdict.empty() ? "/>\n" : fmt::format(">\n{}    </testcase>\n", verdict);
    }
    const Row &first = problem.front();
    suites += fmt::format(
        "  <testsuite name=\"{}{}\" timestamp=\"{}\" {}>\n{}{}  </testsuite>\n", escapedXml(first.problem->title()),
        severalRuns(table) ? fmt::format(" ({})", escapedXml(runText(*first.run))) : "",
        timeText(first.run->started, "%Y-%m-%dT%H:%M:%S"), counts.text(), propertiesOf(*first.run), cases);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n{}</testsuites>\n",
                     escapedXml(options.title), all.text(), suites);
}

} // namespace kiln::report
