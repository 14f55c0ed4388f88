#include "kiln/report/formats/history.h"

#include <algorithm>

#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/report/formats/runs.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/notes.h"
#include "kiln/report/model/suggestion.h"

namespace kiln::report {

namespace {

// What CSV and JSON have; declared once, as the columns of tables are, and formats switch on units.
struct HistoryColumn {
  std::string_view name;
  Unit unit;
  Value (*value)(const HistoryEntry &entry);
};

Value median(const HistoryEntry &entry) {
  if (!entry.row->estimate)
    return {};
  const Estimate &estimate = *entry.row->estimate;
  return Number{estimate.median, estimate.median * relativeError(estimate)};
}

Value interval(const HistoryEntry &entry) {
  return entry.row->estimate ? Value(Number{relativeError(*entry.row->estimate) * 100, -1}) : Value();
}

Value change(const HistoryEntry &entry) {
  std::optional<TimeRatio> ratio = entry.ratio();
  return ratio ? Value(Number{(ratio->ratio - 1) * 100, (ratio->high - ratio->low) / 2 * 100}) : Value();
}

template <double TimeRatio::*member> Value changeEnd(const HistoryEntry &entry) {
  std::optional<TimeRatio> ratio = entry.ratio();
  return ratio ? Value(Number{((*ratio).*member - 1) * 100, -1}) : Value();
}

Value smallestChange(const HistoryEntry &entry) {
  return entry.change ? Value(Number{smallestOf(*entry.change) * 100, -1}) : Value();
}

Value noiseFrom(const HistoryEntry &entry) {
  if (!entry.change)
    return {};
  return entry.control ? std::string("is a control") : std::string(measure::noiseSourceName(entry.change->source));
}

// In words, whether the change is more than noise.
Value verdict(const HistoryEntry &entry) {
  if (!entry.difference.empty())
    return entry.difference;
  if (!isSuccess(entry.row->result->outcome))
    return std::string(outcomeName(entry.row->result->outcome));
  if (entry.control)
    return "same code";
  if (!entry.change)
    return {};
  return std::string(entry.verdict == Verdict::Same ? "within noise" : verdictName(entry.verdict));
}

// "2.6.3", without what else a version says of itself.
Value providerVersion(const HistoryEntry &entry) {
  const std::string &version = entry.row->candidate->providerVersion;
  return textOrNothing(version.substr(0, version.find(' ')));
}

Value tags(const HistoryEntry &entry) {
  std::string text;
  for (const auto &[name, value] : entry.row->run->tags)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", name, value);
  return textOrNothing(text);
}

constexpr HistoryColumn kColumns[] = {
    {"date", Unit::Time, [](const HistoryEntry &e) -> Value { return e.row->group->started; }},
    {"run", Unit::Text, [](const HistoryEntry &e) -> Value { return shortKey(*e.row->run); }},
    {"kiln_version", Unit::Text, [](const HistoryEntry &e) { return textOrNothing(e.row->run->kilnVersion); }},
    {"provider", Unit::Text, [](const HistoryEntry &e) -> Value { return e.row->provider(); }},
    {"provider_version", Unit::Text, providerVersion},
    {"device", Unit::Text, [](const HistoryEntry &e) { return textOrNothing(e.row->device); }},
    {"call_median_ns", Unit::Nanoseconds, median},
    {"interval_percent", Unit::Percent, interval},
    {"change_percent", Unit::Percent, change},
    {"change_low_percent", Unit::Percent, changeEnd<&TimeRatio::low>},
    {"change_high_percent", Unit::Percent, changeEnd<&TimeRatio::high>},
    {"smallest_change_percent", Unit::Percent, smallestChange},
    {"noise_from", Unit::Text, noiseFrom},
    {"verdict", Unit::Text, verdict},
    {"tags", Unit::Text, tags},
};

//===--- For readers ---------------------------------------------------------------------------------------------===//

// "+8.0 (+7.2 … +8.8)": of a change of noise no digits are to be told, so one is enough.
std::string changeText(const HistoryEntry &entry) {
  std::optional<TimeRatio> found = entry.ratio();
  if (!found)
    return {};
  auto percent = [](double ratio) { return fmt::format("{:+.1f}", (ratio - 1) * 100); };
  return fmt::format("{} ({} … {})", percent(found->ratio), percent(found->low), percent(found->high));
}

// Without seconds: the run tells those of one minute apart.
std::string minuteText(const HistoryEntry &entry) {
  std::string text = timeText(entry.row->group->started);
  return text.substr(0, text.rfind(':'));
}

std::string shortVerdict(const HistoryEntry &entry) {
  return entry.difference.empty() ? displayText(verdict(entry), Unit::Text) : "not comparable";
}

// What readers see. A fact is said once where all runs have the same. Where a line is too wide, columns go below it,
// that of the lowest number above 0 first.
struct ShownColumn {
  std::string_view header;
  bool right, fact;
  int folds;
  std::string (*text)(const HistoryEntry &entry);
};

constexpr ShownColumn kShown[] = {
    {"Date (UTC)", false, false, 0, minuteText},
    {"Run", false, false, 6, [](const HistoryEntry &e) { return shortKey(*e.row->run); }},
    {"Kiln", false, true, 3, [](const HistoryEntry &e) { return e.row->run->kilnVersion; }},
    {"Provider", false, true, 4, [](const HistoryEntry &e) { return e.row->provider(); }},
    {"Version", false, true, 2, [](const HistoryEntry &e) { return displayText(providerVersion(e), Unit::Text); }},
    {"Device", false, true, 8, [](const HistoryEntry &e) { return e.row->device; }},
    {"Time", true, false, 0, [](const HistoryEntry &e) { return displayText(median(e), Unit::Nanoseconds); }},
    {"±%", true, false, 5, [](const HistoryEntry &e) { return displayText(interval(e), Unit::Percent); }},
    {"Change % (interval)", true, false, 0, changeText},
    {"Verdict", false, false, 7, shortVerdict},
    {"Tags", false, true, 1, [](const HistoryEntry &e) { return tagsText(*e.row->run); }},
};

struct PrintedColumn {
  const ShownColumn *column;
  std::vector<std::string> cells; // of each run
  size_t width = 0;
};

// A history as readers see it: columns that have cells, and what is the same in all runs.
struct Printed {
  std::vector<PrintedColumn> columns;
  std::string facts;
};

Printed print(const History &history) {
  Printed printed;
  for (const ShownColumn &column : kShown) {
    PrintedColumn result{&column, {}, displayWidth(column.header)};
    for (const HistoryEntry &entry : history.entries) {
      result.cells.push_back(plainLine(column.text(entry)));
      result.width = std::max(result.width, displayWidth(result.cells.back()));
    }
    const std::string &first = result.cells.front();
    bool same = std::ranges::all_of(result.cells, [&](const std::string &cell) { return cell == first; });
    if (same && column.fact && !first.empty())
      printed.facts += fmt::format("{}{} {}", printed.facts.empty() ? "" : ", ", column.header, first);
    else if (!same || !first.empty())
      printed.columns.push_back(std::move(result));
  }
  return printed;
}

// Takes the columns out that do not fit, and gives them back.
std::vector<PrintedColumn> fold(std::vector<PrintedColumn> &columns, size_t width) {
  std::vector<PrintedColumn> folded;
  while (true) {
    size_t total = 0;
    auto next = columns.end();
    for (auto column = columns.begin(); column != columns.end(); ++column) {
      total += column->width + 2;
      if (column->column->folds > 0 && (next == columns.end() || column->column->folds < next->column->folds))
        next = column;
    }
    if (total <= width || next == columns.end())
      return folded;
    folded.push_back(std::move(*next));
    columns.erase(next);
  }
}

std::string lineOf(const std::vector<PrintedColumn> &columns, const auto &cellOf) {
  std::string line;
  for (const PrintedColumn &column : columns)
    line += "  " + padText(cellOf(column), column.width, column.column->right);
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

void indent(std::string &text, std::string_view line, size_t width, size_t spaces) {
  constexpr size_t least = 20;
  for (const std::string &part : wrapText(plainText(line), width > spaces + least ? width - spaces : least))
    text.append(spaces, ' ').append(part).append("\n");
}

// What verdicts can be relied on for; empty where there are none.
std::string smallestSentence(const History &history) {
  std::vector<double> smallest;
  for (const HistoryEntry &entry : history.entries)
    if (entry.change && !entry.control)
      smallest.push_back(smallestOf(*entry.change) * 100);
  if (smallest.empty())
    return {};
  std::ranges::sort(smallest);
  auto text = [](double percent) { return displayText(Number{percent, -1}, Unit::Percent); };
  return fmt::format(
      "smallest change that a run could have shown: {} % of half of them, {} % of any; where nothing changed, "
      "at most 1 run of 20 is called faster or slower",
      text(smallest[smallest.size() / 2]), text(smallest.back()));
}

std::string consoleText(const History &history, size_t width) {
  constexpr size_t below = 6;
  Printed printed = print(history);
  std::vector<PrintedColumn> folded = fold(printed.columns, width);
  std::string text = history.entries.front().row->dispatch() + "\n";
  if (!printed.facts.empty())
    indent(text, printed.facts, width, 2);
  text += lineOf(printed.columns, [](const PrintedColumn &column) { return column.column->header; });
  for (size_t i = 0; i < history.entries.size(); ++i) {
    text += lineOf(printed.columns, [&](const PrintedColumn &column) -> std::string_view { return column.cells[i]; });
    std::string rest;
    for (const PrintedColumn &column : folded)
      if (!column.cells[i].empty())
        rest += fmt::format("{}{} {}", rest.empty() ? "" : ", ", column.column->header, column.cells[i]);
    if (!rest.empty())
      indent(text, rest, width, below);
    if (const std::string &difference = history.entries[i].difference; !difference.empty())
      indent(text, difference, width, below);
  }
  if (std::string sentence = smallestSentence(history); !sentence.empty())
    indent(text, sentence, width, 2);
  return plainText(text); // names, too, are what a store says
}

std::string csvText(const History &history) {
  std::string text;
  for (const HistoryColumn &column : kColumns)
    text += (text.empty() ? "" : ",") + std::string(column.name);
  text += "\n";
  for (const HistoryEntry &entry : history.entries) {
    std::string line;
    for (const HistoryColumn &column : kColumns) {
      Value value = column.value(entry);
      line += (&column == kColumns ? "" : ",") +
              quotedCsv(column.unit == Unit::Time ? displayText(value, column.unit) : rawText(value));
    }
    text += line + "\n";
  }
  return text;
}

std::string jsonText(const History &history) {
  Json json = {{"dispatch", history.entries.front().row->dispatch()}, {"runs", Json::array()}};
  for (const HistoryEntry &entry : history.entries) {
    Json one = Json::object();
    for (const HistoryColumn &column : kColumns)
      if (Value value = column.value(entry); column.unit == Unit::Time)
        one[std::string(column.name)] = displayText(value, column.unit);
      else if (Json json = jsonOf(value); !json.is_null())
        one[std::string(column.name)] = std::move(json);
    json["runs"].push_back(std::move(one));
  }
  return dumpJson(json, 1) + "\n";
}

std::string markdownText(const History &history) {
  Printed printed = print(history);
  std::string text = fmt::format("## {}\n\n", escapedMarkdown(history.entries.front().row->dispatch()));
  if (!printed.facts.empty())
    text += escapedMarkdown(printed.facts) + "\n\n";
  std::string header = "|", rule = "|";
  for (const PrintedColumn &column : printed.columns) {
    header += fmt::format(" {} |", column.column->header);
    rule += column.column->right ? " ---: |" : " --- |";
  }
  text += header + "\n" + rule + "\n";
  for (size_t i = 0; i < history.entries.size(); ++i) {
    text += "|";
    const std::string &difference = history.entries[i].difference;
    for (const PrintedColumn &column : printed.columns) {
      bool tells = column.column->text == shortVerdict && !difference.empty();
      text += fmt::format(" {} |", escapedMarkdown(tells ? column.cells[i] + ": " + difference : column.cells[i]));
    }
    text += "\n";
  }
  if (std::string sentence = smallestSentence(history); !sentence.empty())
    text += "\n" + escapedMarkdown(sentence) + "\n";
  return text;
}

} // namespace

Result<std::string> formatHistory(const History &history, std::string_view format, size_t width) {
  if (format == "console")
    return consoleText(history, width);
  if (format == "csv")
    return csvText(history);
  if (format == "json")
    return jsonText(history);
  if (format == "markdown")
    return markdownText(history);
  static const std::vector<std::string> kNames = {"console", "csv", "json", "markdown"};
  return notFound("a history has no format '{}'; there are: console, csv, json, markdown{}", format,
                  suggestion(format, kNames));
}

} // namespace kiln::report
