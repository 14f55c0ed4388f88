#include "kiln/tools/help_text.h"

#include <algorithm>

namespace kiln {

static constexpr size_t kColumns = 80;
static constexpr size_t kItemColumn = 30;

// The first line goes on at `column`, further ones start at `indent`.
static void appendWrapped(std::string &out, std::string_view text, size_t column, size_t indent) {
  bool lineEmpty = true;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::erase(word, '`');
    if (!lineEmpty && column + 1 + word.size() > kColumns) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
      lineEmpty = true;
    }
    if (!lineEmpty) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    lineEmpty = false;
  }
  out += '\n';
}

void HelpText::paragraph(std::string_view text) {
  appendWrapped(out, text, 0, 0);
}

void HelpText::heading(std::string_view title) {
  out += '\n';
  out += title;
  out += ":\n";
}

void HelpText::item(std::string_view left, std::string_view right) {
  out += "  ";
  out += left;
  size_t column = 2 + left.size();
  if (column + 2 > kItemColumn) {
    out += '\n';
    column = 0;
  }
  out.append(kItemColumn - column, ' ');
  appendWrapped(out, right, kItemColumn, kItemColumn);
}

void HelpText::line(std::string_view text) {
  out += "  ";
  out += text;
  out += '\n';
}

} // namespace kiln
