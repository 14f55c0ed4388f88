#include "kiln/tools/help_text.h"

#include <algorithm>
#include <utility>

#include "kiln/base/wrap_text.h"

namespace kiln {

static constexpr size_t kColumns = 80;
static constexpr size_t kItemColumn = 30;

static std::string withoutBackquotes(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '`');
  return plain;
}

void HelpText::paragraph(std::string_view text) {
  out += hangingText("", withoutBackquotes(text), kColumns, 0) + "\n";
}

void HelpText::heading(std::string_view title) {
  out += '\n';
  out += title;
  out += ":\n";
}

void HelpText::item(std::string_view left, std::string_view right) {
  std::string label = "  " + std::string(left);
  if (label.size() + 2 > kItemColumn) {
    out += label + "\n";
    label.clear();
  }
  label.resize(kItemColumn, ' ');
  out += hangingText(label, withoutBackquotes(right), kColumns, kItemColumn) + "\n";
}

// Up to the next blank that is not in quotes.
static size_t shellWordEnd(std::string_view text) {
  char quote = 0;
  for (size_t end = 0; end < text.size(); ++end) {
    if (quote ? text[end] == quote : text[end] == '\'' || text[end] == '"')
      quote = quote ? 0 : text[end];
    else if (text[end] == ' ' && !quote)
      return end;
  }
  return text.size();
}

void HelpText::command(std::string_view text) {
  constexpr std::string_view kIndent = "  ", kMore = " \\";
  std::string line(kIndent);
  bool isFirst = true;
  while (!text.empty()) {
    std::string_view word = text.substr(0, shellWordEnd(text));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    size_t after = text.empty() ? 0 : kMore.size();
    if (!isFirst && line.size() + 1 + word.size() + after > kColumns) {
      out.append(line).append(kMore) += '\n';
      line.assign(3 * kIndent.size(), ' ');
      isFirst = true;
    }
    line.append(std::exchange(isFirst, false) ? "" : " ").append(word);
  }
  out += line + "\n";
}

} // namespace kiln
