#include "kiln/report/formats/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kiln::report {

static constexpr int kMostDigits = 6;

std::string roundedText(double value, double error) {
  if (!std::isfinite(value))
    return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
  if (value == 0)
    return "0";
  int first = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  // The last digit that is shown: the first one of the error, and one more where that is a 1.
  int last = first - 2;
  if (error == 0) {
    last = first - kMostDigits + 1;
  } else if (error > 0) {
    last = static_cast<int>(std::floor(std::log10(error)));
    if (error / std::pow(10.0, last) < 2)
      --last;
  }
  last = std::clamp(last, first - kMostDigits + 1, first);
  double unit = std::pow(10.0, last);
  std::string text = fmt::format("{:.{}f}", std::round(value / unit) * unit, std::max(0, -last));
  // An exact number has no digits that say nothing.
  if (error == 0 && text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.'))
      text.pop_back();
  }
  return text;
}

std::string durationText(double nanoseconds, double error) {
  struct Scale {
    double unit;
    const char *name;
  };
  static constexpr Scale kScales[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  for (const Scale &scale : kScales)
    if (std::fabs(nanoseconds) >= scale.unit || scale.unit == 1)
      return fmt::format("{} {}", roundedText(nanoseconds / scale.unit, error > 0 ? error / scale.unit : error),
                         scale.name);
  return {};
}

std::string scaledText(double value) {
  static constexpr const char *kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (std::fabs(value) >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}", roundedText(value, -1), kPrefixes[prefix]);
}

static std::string numberText(const Number &number, Unit unit) {
  switch (unit) {
  case Unit::Nanoseconds: return durationText(number.value, number.error);
  case Unit::Flops:
  case Unit::Bytes: return scaledText(number.value);
  default: break;
  }
  // A part of it, such as an interval of a thousandth: few characters, and never "0".
  if (unit == Unit::Percent && std::fabs(number.value) < 0.1 && number.value != 0)
    return "<0.1";
  // A percentage whose error is not known is shown with few digits.
  if (unit == Unit::Percent && number.error < 0 && number.value >= 1000)
    return ">999";
  if (unit == Unit::Percent && number.error < 0)
    return fmt::format("{:.{}f}", number.value, number.value < 10 ? 1 : 0);
  // One digit after the point tells percents apart well enough.
  if (unit == Unit::Percent && number.error > 0)
    return roundedText(number.value, std::max(number.error, 0.2));
  if (unit == Unit::Ratio && std::fabs(number.value) < 1e-3 && number.value != 0)
    return fmt::format("{:.0e}", number.value);
  return roundedText(number.value, number.error);
}

std::string displayText(const Value &value, Unit unit) {
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  if (const auto *integer = std::get_if<int64_t>(&value))
    return unit == Unit::Time ? timeText(*integer) : std::to_string(*integer);
  if (const auto *natural = std::get_if<uint64_t>(&value))
    return std::to_string(*natural);
  if (const auto *number = std::get_if<Number>(&value))
    return numberText(*number, unit);
  if (const auto *ranking = std::get_if<Ranking>(&value))
    return fmt::format("{}{}{}", ranking->rank, ranking->tied ? "=" : "", ranking->noisy ? "~" : "");
  return {};
}

std::string rawText(const Value &value) {
  if (const auto *number = std::get_if<Number>(&value)) {
    // Counts as large as 2^53 stay readable; others have the digits that they need to come back.
    if (number->value == std::floor(number->value) && std::fabs(number->value) < 9e15)
      return fmt::format("{:.0f}", number->value);
    return fmt::format("{}", number->value);
  }
  return displayText(value, Unit::Count);
}

bool alignsRight(Unit unit) {
  return unit != Unit::Text && unit != Unit::Time;
}

std::string fitText(std::string_view text, size_t width) {
  size_t length = displayWidth(text);
  if (length <= width)
    return std::string(text);
  if (width == 0)
    return {};
  size_t left = (width - 1 + 1) / 2, right = width - 1 - left;
  std::string_view start = firstCharacters(text, left);
  std::string_view rest = text.substr(firstCharacters(text, length - right).size());
  return fmt::format("{}…{}", start, rest);
}

std::string firstPart(std::string_view written, size_t width) {
  const std::string text = plainText(written);
  std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  if (line.size() == text.size() && displayWidth(line) <= width)
    return std::string(line);
  constexpr size_t mark = 2; // " …"
  std::string_view part = firstCharacters(line, width - std::min(mark, width));
  for (size_t end = part.size(); end > part.size() / 2; --end)
    if (part[end - 1] == ' ' && end > 1 && std::string_view(":;,.").find(part[end - 2]) != std::string_view::npos) {
      part = part.substr(0, end - 2);
      break;
    }
  return fmt::format("{} …", part.substr(0, part.find_last_not_of(' ') + 1));
}

std::string padText(std::string_view text, size_t width, bool right) {
  std::string space(width - std::min(width, displayWidth(text)), ' ');
  return right ? space.append(text) : std::string(text) + space;
}

std::string escapedXml(std::string_view text) {
  std::string result;
  for (char c : plainText(text)) {
    switch (c) {
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '&': result += "&amp;"; break;
    case '"': result += "&quot;"; break;
    case '\n': result += "&#10;"; break;
    default: result += c;
    }
  }
  return result;
}

static bool isNumber(std::string_view text) {
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Whether a spreadsheet would compute the cell, and maybe run a program or send the table away. Flags (--opt-level=O2)
// only look like it: without parentheses and the marks of other programs and tables there is nothing to run.
static bool isFormula(std::string_view cell) {
  if (cell.empty() || std::string_view("=+-@").find(cell.front()) == std::string_view::npos || isNumber(cell))
    return false;
  return !cell.starts_with("--") || cell.find_first_of("(|!") != std::string_view::npos;
}

std::string quotedCsv(std::string_view written) {
  std::string cell = plainText(written);
  if (isFormula(cell))
    cell.insert(cell.begin(), '\'');
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos)
    return cell;
  std::string text = "\"";
  for (char c : cell) {
    if (c == '"')
      text += '"';
    text += c;
  }
  return text + '"';
}

std::string escapedMarkdown(std::string_view text) {
  std::string result;
  for (char c : plainLine(text)) {
    if (std::string_view("|*_`<>[]\\").find(c) != std::string_view::npos)
      result += '\\';
    result += c;
  }
  return result;
}

} // namespace kiln::report
