#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/runs.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/method.h"

namespace kiln::report {

// Wrong results are failures; what kept a candidate from giving results is an error.
static std::string verdictOf(const Row &row) {
  const store::CandidateResult &result = *row.result;
  const char *outcome = store::outcomeName(result.outcome);
  switch (result.outcome) {
  case store::Outcome::Ok:
  case store::Outcome::NotVerified:
    return result.verification.selfComparison().empty()
               ? std::string()
               : fmt::format("      <system-out>{}</system-out>\n", escapedXml(methodText(result.verification)));
  case store::Outcome::Unsupported:
  case store::Outcome::NotProfiled:
    return fmt::format("      <skipped message=\"{}\"/>\n",
                       escapedXml(result.error.empty() ? outcome : fmt::format("{}: {}", outcome, result.error)));
  case store::Outcome::Incorrect: {
    std::string cause = result.verification.cause.empty() ? "wrong results" : result.verification.cause;
    return fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", outcome, escapedXml(cause),
                       escapedXml(result.verification.explanation));
  }
  case store::Outcome::Failed:
  case store::Outcome::Crashed:
  case store::Outcome::Timeout:
  case store::Outcome::Implausible: break;
  }
  return fmt::format("      <error type=\"{}\" message=\"{}\"/>\n", outcome, escapedXml(result.error));
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

// As the schema of JUnit's files wants it: ISO 8601 without a zone, which is UTC.
static std::string stamp(int64_t nanoseconds) {
  std::string text = timeText(nanoseconds);
  if (size_t space = text.find(' '); space != std::string::npos)
    text[space] = 'T';
  return text;
}

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
    suites += fmt::format("  <testsuite name=\"{}{}\" timestamp=\"{}\" {}>\n{}{}  </testsuite>\n",
                          escapedXml(first.problem->name),
                          severalRuns(table) ? fmt::format(" ({})", escapedXml(runText(*first.run))) : "",
                          stamp(first.run->started), counts.text(), propertiesOf(*first.run), cases);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n{}</testsuites>\n",
                     escapedXml(options.title), all.text(), suites);
}

} // namespace kiln::report
