#include "kiln/report/formats/history.h"

#include <algorithm>

#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/suggestion.h"

namespace kiln::report {

namespace {

// Declared once, as the columns of tables are; formats switch on units.
struct HistoryColumn {
  std::string_view name, header;
  Unit unit;
  Value (*value)(const HistoryEntry &entry);
};

Value median(const HistoryEntry &entry) {
  if (!entry.row->estimate)
    return {};
  const store::Estimate &estimate = *entry.row->estimate;
  return Number{estimate.median, estimate.median * relativeError(estimate)};
}

Value interval(const HistoryEntry &entry) {
  return entry.row->estimate ? Value(Number{relativeError(*entry.row->estimate) * 100, -1}) : Value();
}

Value change(const HistoryEntry &entry) {
  if (!entry.change)
    return {};
  return Number{(entry.change->ratio - 1) * 100, (entry.change->high - entry.change->low) / 2 * 100};
}

template <double TimeRatio::*member> Value changeEnd(const HistoryEntry &entry) {
  return entry.change ? Value(Number{((*entry.change).*member - 1) * 100, -1}) : Value();
}

// In words, whether the change is more than noise.
Value verdict(const HistoryEntry &entry) {
  if (!entry.difference.empty())
    return entry.difference;
  if (!store::isSuccess(entry.row->result->outcome))
    return std::string(store::outcomeName(entry.row->result->outcome));
  if (!entry.change)
    return {};
  return std::string(entry.verdict == Verdict::Same ? "within noise" : verdictName(entry.verdict));
}

Value tags(const HistoryEntry &entry) {
  std::string text;
  for (const auto &[name, value] : entry.row->run->tags)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", name, value);
  return textOrNothing(text);
}

constexpr HistoryColumn kColumns[] = {
    {"date", "Date (UTC)", Unit::Time, [](const HistoryEntry &e) -> Value { return e.row->group->started; }},
    {"run", "Run", Unit::Text, [](const HistoryEntry &e) -> Value { return e.row->run->key().substr(0, 8); }},
    {"kiln_version", "Kiln", Unit::Text, [](const HistoryEntry &e) { return textOrNothing(e.row->run->kilnVersion); }},
    {"provider", "Provider", Unit::Text, [](const HistoryEntry &e) -> Value { return e.row->provider(); }},
    {"provider_version", "Version", Unit::Text,
     [](const HistoryEntry &e) {
       return textOrNothing(e.row->candidate->providerVersion.substr(0, e.row->candidate->providerVersion.find(' ')));
     }},
    {"call_median_ns", "Time", Unit::Nanoseconds, median},
    {"interval_percent", "±%", Unit::Percent, interval},
    {"change_percent", "Change %", Unit::Percent, change},
    {"change_low_percent", "from", Unit::Percent, changeEnd<&TimeRatio::low>},
    {"change_high_percent", "to", Unit::Percent, changeEnd<&TimeRatio::high>},
    {"verdict", "Beyond noise?", Unit::Text, verdict},
    {"tags", "Tags", Unit::Text, tags},
};

// Cells of all columns that have any, with the headers before them.
std::vector<std::vector<std::string>> cellsOf(const History &history) {
  std::vector<std::vector<std::string>> lines(history.entries.size() + 1);
  for (const HistoryColumn &column : kColumns) {
    std::vector<std::string> cells = {std::string(column.header)};
    bool any = false;
    for (const HistoryEntry &entry : history.entries) {
      Value value = column.value(entry);
      std::string cell = displayText(value, column.unit);
      // A change has a sign, and one of noise has no digits to tell.
      if (const auto *number = std::get_if<Number>(&value);
          number && column.unit == Unit::Percent && column.name.starts_with("change"))
        cell = fmt::format("{:+.1f}", number->value);
      any |= !cell.empty();
      cells.push_back(std::move(cell));
    }
    for (size_t i = 0; any && i < cells.size(); ++i)
      lines[i].push_back((alignsRight(column.unit) ? ">" : "<") + cells[i]);
  }
  return lines;
}

std::string consoleText(const History &history, size_t width) {
  std::vector<std::vector<std::string>> lines = cellsOf(history);
  std::vector<size_t> widths(lines.front().size());
  for (const std::vector<std::string> &line : lines)
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], displayWidth(line[i]) - 1);
  std::string text = history.entries.front().row->dispatch() + "\n";
  for (const std::vector<std::string> &line : lines) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i)
      row += "  " + padText(std::string_view(line[i]).substr(1), widths[i], line[i].front() == '>');
    row.erase(row.find_last_not_of(' ') + 1);
    // What does not fit goes on below, where it is told from the next run by its indentation.
    std::vector<std::string> parts = {row};
    if (displayWidth(row) > width)
      parts = wrapText(row, width > 20 ? width - 6 : 20);
    for (size_t i = 0; i < parts.size(); ++i)
      text += (i ? "      " : parts.size() > 1 ? "  " : "") + parts[i] + "\n";
  }
  return text;
}

std::string csvText(const History &history) {
  auto quoted = [](const std::string &cell) {
    if (cell.find_first_of(",\"\r\n") == std::string::npos)
      return cell;
    std::string text = "\"";
    for (char c : cell)
      text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
  };
  std::string text;
  for (const HistoryColumn &column : kColumns)
    text += (text.empty() ? "" : ",") + std::string(column.name);
  text += "\n";
  for (const HistoryEntry &entry : history.entries) {
    std::string line;
    for (const HistoryColumn &column : kColumns) {
      Value value = column.value(entry);
      line += (&column == kColumns ? "" : ",") +
              quoted(column.unit == Unit::Time ? displayText(value, column.unit) : rawText(value));
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
  std::string text = fmt::format("## {}\n\n", history.entries.front().row->dispatch());
  std::vector<std::vector<std::string>> lines = cellsOf(history);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string rule = "|";
    text += "|";
    for (const std::string &cell : lines[i]) {
      text += " ";
      for (char c : cell.substr(1))
        text += c == '|' || c == '_' || c == '*' || c == '<' || c == '`' ? fmt::format("\\{}", c) : std::string(1, c);
      text += " |";
      rule += cell.front() == '>' ? " ---: |" : " --- |";
    }
    text += "\n" + (i == 0 ? rule + "\n" : std::string());
  }
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
