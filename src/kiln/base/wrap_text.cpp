#include "kiln/base/wrap_text.h"

#include <algorithm>
#include <utility>

namespace kiln {

size_t displayWidth(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (text.substr(i).starts_with("\033["))
      i = std::min(text.find('m', i), text.size());
    else
      width += startsCharacter(text[i]);
  return width;
}

std::vector<std::string> wrapText(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of(" \n"), text.size());
    std::string_view word = text.substr(0, end);
    bool newline = end < text.size() && text[end] == '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && displayWidth(line) + 1 + displayWidth(word) > width)
      lines.push_back(std::exchange(line, {}));
    if (!word.empty())
      line += (line.empty() ? "" : " ") + std::string(word);
    if (newline)
      lines.push_back(std::exchange(line, {}));
  }
  if (!line.empty() || lines.empty())
    lines.push_back(std::move(line));
  return lines;
}

std::string hangingText(std::string_view label, std::string_view text, size_t width, size_t indent) {
  constexpr size_t least = 20;
  std::string result(label);
  bool first = true;
  for (const std::string &line : wrapText(text, width > indent + least ? width - indent : least))
    result.append(std::exchange(first, false) ? "" : "\n" + std::string(indent, ' ')).append(line);
  return result;
}

} // namespace kiln
