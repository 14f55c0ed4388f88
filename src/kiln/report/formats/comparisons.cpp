#include "kiln/report/formats/comparisons.h"

#include <fmt/ranges.h>

#include "kiln/base/split.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/suggestion.h"

namespace kiln::report {

namespace {

const Row &anyOf(const Comparison &c) {
  return c.before ? *c.before : *c.after;
}

template <double Estimate::*member> Value timeOf(const Row *row) {
  if (!row || !row->estimate)
    return {};
  return Number{row->estimate->*member, (row->estimate->high - row->estimate->low) / 2};
}

Value outcomeOf(const Row *row) {
  return row ? Value(std::string(outcomeName(row->result->outcome))) : Value();
}

template <double TimeRatio::*member> Value ratio(const Comparison &c) {
  return c.ratio > 0 ? Value(Number{c.*member, (c.high - c.low) / 2}) : Value();
}

Value smallestChange(const Comparison &c) {
  return c.ratio > 0 ? Value(Number{c.smallest * 100, -1}) : Value();
}

// From what it is known how large noise is. A control is what that is known from for others.
Value noiseFrom(const Comparison &c) {
  if (c.ratio <= 0)
    return {};
  return c.control ? std::string("is a control") : std::string(measure::noiseSourceName(c.noise));
}

// Of a dispatch, in CSV and JSON.
struct CompareColumn {
  std::string_view name;
  Value (*value)(const Comparison &c);
};

constexpr CompareColumn kColumns[] = {
    {"dispatch", [](const Comparison &c) -> Value { return anyOf(c).dispatch(); }},
    {"provider", [](const Comparison &c) -> Value { return anyOf(c).provider(); }},
    {"verdict", [](const Comparison &c) -> Value { return std::string(verdictText(c)); }},
    {"regression", [](const Comparison &c) -> Value { return std::string(c.regression ? "yes" : "no"); }},
    {"ratio", ratio<&Comparison::ratio>},
    {"ratio_low", ratio<&Comparison::low>},
    {"ratio_high", ratio<&Comparison::high>},
    {"smallest_change_percent", smallestChange},
    {"noise_from", noiseFrom},
    {"before_outcome", [](const Comparison &c) { return outcomeOf(c.before); }},
    {"before_median_ns", [](const Comparison &c) { return timeOf<&Estimate::median>(c.before); }},
    {"before_low_ns", [](const Comparison &c) { return timeOf<&Estimate::low>(c.before); }},
    {"before_high_ns", [](const Comparison &c) { return timeOf<&Estimate::high>(c.before); }},
    {"after_outcome", [](const Comparison &c) { return outcomeOf(c.after); }},
    {"after_median_ns", [](const Comparison &c) { return timeOf<&Estimate::median>(c.after); }},
    {"after_low_ns", [](const Comparison &c) { return timeOf<&Estimate::low>(c.after); }},
    {"after_high_ns", [](const Comparison &c) { return timeOf<&Estimate::high>(c.after); }},
};

using Comparisons = std::span<const NamedComparison>;

std::string consoleText(Comparisons comparisons, size_t width) {
  std::string text;
  for (const NamedComparison &one : comparisons) {
    for (std::string_view line : split(one.heading, '\n'))
      if (!line.empty())
        text += hangingText("", plainText(line), width, 2) + "\n";
    text += formatComparison(one.report, width);
  }
  return plainText(text); // names, too, are what a store says
}

std::string csvText(Comparisons comparisons, size_t /*width*/) {
  std::string text = "before,after";
  for (const CompareColumn &column : kColumns)
    text += fmt::format(",{}", column.name);
  text += "\n";
  for (const NamedComparison &one : comparisons)
    for (const Comparison &c : one.report.comparisons) {
      text += quotedCsv(one.before) + "," + quotedCsv(one.after);
      for (const CompareColumn &column : kColumns)
        text += "," + quotedCsv(rawText(column.value(c)));
      text += "\n";
    }
  return text;
}

Json jsonOf(const std::optional<TimeRatio> &mean) {
  return mean ? Json{{"ratio", mean->ratio}, {"low", mean->low}, {"high", mean->high}} : Json();
}

Json jsonOf(const std::optional<SmallestChange> &smallest) {
  return smallest ? Json{{"middle_percent", smallest->middle * 100},
                         {"worst_percent", smallest->worst * 100},
                         {"regression_percent", smallest->regression * 100}}
                  : Json();
}

std::string jsonText(Comparisons comparisons, size_t /*width*/) {
  Json json = {{"regressions", 0}, {"comparisons", Json::array()}};
  size_t regressions = 0;
  for (const NamedComparison &one : comparisons) {
    regressions += one.report.regressions;
    Json dispatches = Json::array();
    for (const Comparison &c : one.report.comparisons) {
      Json row = Json::object();
      for (const CompareColumn &column : kColumns)
        if (Json value = jsonOf(column.value(c)); !value.is_null())
          row[std::string(column.name)] = std::move(value);
      row["regression"] = c.regression;
      dispatches.push_back(std::move(row));
    }
    json["comparisons"].push_back({{"before", one.before},
                                   {"after", one.after},
                                   {"threshold_percent", one.threshold * 100},
                                   {"warnings", one.report.warnings},
                                   {"notes", one.report.notes},
                                   {"nothing_compared", one.report.nothing},
                                   {"excused", one.excused},
                                   {"regressions", one.report.regressions},
                                   {"mean", jsonOf(one.report.mean)},
                                   {"controls", jsonOf(one.report.unchanged)},
                                   {"smallest_change", jsonOf(one.report.smallest)},
                                   {"dispatches", std::move(dispatches)}});
  }
  json["regressions"] = regressions;
  return dumpJson(json, 1) + "\n";
}

std::string shownTime(const Row *row) {
  Value time = timeOf<&Estimate::median>(row);
  return std::holds_alternative<std::monostate>(time) ? displayText(outcomeOf(row), Unit::Text)
                                                      : displayText(time, Unit::Nanoseconds);
}

std::string intervalText(const Comparison &c) {
  double error = (c.high - c.low) / 2;
  return c.ratio > 0 ? fmt::format("{} to {}", roundedText(c.low, error), roundedText(c.high, error)) : std::string();
}

std::string markdownText(Comparisons comparisons, size_t /*width*/) {
  std::string text;
  for (const NamedComparison &one : comparisons) {
    text += fmt::format("{}## Before: {}; after: {}\n\n", text.empty() ? "" : "\n", escapedMarkdown(one.before),
                        escapedMarkdown(one.after));
    for (const std::string &warning : one.report.warnings)
      text += escapedMarkdown(warningText(one.report, warning)) + "\n\n";
    for (const std::string &note : one.report.notes)
      text += fmt::format("note: {}\n\n", escapedMarkdown(note));
    text += "| Before | After | Ratio | Interval | Smallest change % | Verdict | Regression | Dispatch |\n"
            "| ---: | ---: | ---: | --- | ---: | --- | --- | --- |\n";
    for (const Comparison *c : slowestFirst(one.report))
      text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", shownTime(c->before), shownTime(c->after),
                          displayText(ratio<&Comparison::ratio>(*c), Unit::Ratio), intervalText(*c), smallestText(*c),
                          verdictText(*c), c->regression ? "yes" : "", escapedMarkdown(anyOf(*c).dispatch()));
    std::string summary = summaryOf(one.report);
    for (size_t at = 0; at < summary.size(); at = summary.find('\n', at) + 1)
      text += "\n" + escapedMarkdown(summary.substr(at, summary.find('\n', at) - at)) + "\n";
  }
  return text;
}

std::string junitCase(const Comparison &c) {
  std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escapedXml(anyOf(c).provider()),
                                 escapedXml(anyOf(c).dispatch()));
  std::string said =
      c.ratio > 0 ? fmt::format("{}: {} of the time before ({}); smallest change that could have been shown: {} %",
                                verdictText(c), displayText(ratio<&Comparison::ratio>(c), Unit::Ratio), intervalText(c),
                                smallestText(c))
                  : verdictText(c);
  if (c.regression)
    return fmt::format("{}>\n      <failure type=\"regression\" message=\"{}\"/>\n    </testcase>\n", head,
                       escapedXml(said));
  if (!c.before || !c.after)
    return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head, escapedXml(said));
  return fmt::format("{}>\n      <system-out>{}</system-out>\n    </testcase>\n", head, escapedXml(said));
}

// A failure of the comparison as a whole.
std::string junitFailure(std::string_view name, std::string_view type, std::string_view message) {
  return fmt::format("    <testcase classname=\"runs\" name=\"{}\">\n      <failure type=\"{}\" message=\"{}\"/>\n"
                     "    </testcase>\n",
                     name, type, escapedXml(message));
}

std::string junitText(Comparisons comparisons, size_t /*width*/) {
  std::string suites;
  size_t tests = 0, failures = 0;
  for (const NamedComparison &one : comparisons) {
    size_t missing = 0, failed = one.report.regressions;
    std::string cases;
    for (const Comparison &c : one.report.comparisons) {
      cases += junitCase(c);
      missing += !c.before || !c.after;
    }
    size_t count = one.report.comparisons.size();
    // Runs that were made in different ways are a failure, as they are for the exit code.
    if (!one.report.warnings.empty() && !one.excused) {
      cases += junitFailure("made in the same way", "not comparable",
                            fmt::format("{}", fmt::join(one.report.warnings, "; ")));
      ++count;
      ++failed;
    }
    if (!one.report.nothing.empty()) {
      cases += junitFailure("something is compared", "nothing compared", one.report.nothing);
      ++count;
      ++failed;
    }
    for (const std::string &sentence : {controlsSentence(one.report), smallestSentence(one.report)})
      if (!sentence.empty())
        cases += fmt::format("    <system-out>{}</system-out>\n", escapedXml(sentence));
    suites += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}"
                          "  </testsuite>\n",
                          escapedXml(fmt::format("before: {}, after: {}", one.before, one.after)), count, failed,
                          missing, cases);
    tests += count;
    failures += failed;
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"Kiln\" tests=\"{}\" "
                     "failures=\"{}\">\n{}</testsuites>\n",
                     tests, failures, suites);
}

struct ComparisonFormat {
  std::string_view name;
  std::string (*write)(Comparisons comparisons, size_t width);
};

constexpr ComparisonFormat kFormats[] = {
    {"console", consoleText}, {"csv", csvText}, {"json", jsonText}, {"markdown", markdownText}, {"junit", junitText}};

Result<const ComparisonFormat *> find(std::string_view name) {
  std::vector<std::string> names;
  for (const ComparisonFormat &format : kFormats) {
    if (format.name == name)
      return &format;
    names.emplace_back(format.name);
  }
  return notFound("a comparison has no format '{}'; there are: {}{}", name, fmt::join(names, ", "),
                  suggestion(name, names));
}

} // namespace

Status checkComparisonFormat(std::string_view format) {
  return find(format).status();
}

Result<std::string> formatComparisons(std::span<const NamedComparison> comparisons, std::string_view format,
                                      size_t width) {
  KILN_ASSIGN_OR_RETURN(const ComparisonFormat *found, find(format));
  return found->write(comparisons, width);
}

} // namespace kiln::report
