#include "kiln/base/wrap_text.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"

namespace kiln {

// The width where it is at most `most`, else something that is more.
static size_t widthUpTo(std::string_view text, size_t most) {
  size_t width = 0;
  for (size_t i = 0; i < text.size() && width <= most; ++i)
    if (text.substr(i).starts_with("\033["))
      i = std::min(text.find('m', i), text.size());
    else
      width += startsCharacter(text[i]);
  return width;
}

size_t displayWidth(std::string_view text) {
  return widthUpTo(text, std::string_view::npos - 1);
}

// The bytes of the first `count` characters.
std::string_view firstCharacters(std::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end)
    if (startsCharacter(text[end]) && count-- == 0)
      break;
  return text.substr(0, end);
}

// Of the character at the start, in UTF-8; 0 where there is none.
static size_t characterBytes(std::string_view text) {
  auto lead = static_cast<unsigned char>(text[0]);
  size_t bytes = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : (lead & 0xF0) == 0xE0 ? 3 : 4;
  if (lead >= 0xF5 || (lead >= 0x80 && lead < 0xC2) || text.size() < bytes)
    return 0;
  for (size_t i = 1; i < bytes; ++i)
    if (startsCharacter(text[i]))
      return 0;
  // Longer than it needs to be, half of a pair of UTF-16, or beyond the last one.
  auto second = static_cast<unsigned char>(bytes > 1 ? text[1] : 0);
  bool none = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) || (lead == 0xF0 && second < 0x90) ||
              (lead == 0xF4 && second >= 0x90);
  return none ? 0 : bytes;
}

// The code of a character of two or three bytes.
static unsigned codeOf(std::string_view character) {
  unsigned code = static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 0x1F : 0x0F);
  for (char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
  return code;
}

// Unicode's marks of direction, which can turn round what follows them, and its separators of lines.
static bool changesOrder(std::string_view character) {
  if (character.size() != 2 && character.size() != 3)
    return false;
  const unsigned code = codeOf(character);
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string plainText(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c < 0x7F); }))
    return std::string(text);
  std::string plain;
  while (!text.empty()) {
    size_t bytes = characterBytes(text);
    auto first = static_cast<unsigned char>(text[0]);
    // The second half of Latin-1's control characters is C2 80 to C2 9F.
    bool control = bytes == 1   ? first < ' ' || first == 0x7F
                   : bytes == 2 ? first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0
                                : bytes == 0;
    if (first == '\n' || first == '\r')
      plain += text.starts_with("\r\n") ? "" : "\n";
    else if (first == '\t')
      plain += ' ';
    else if (control)
      plain += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes == 2 ? text[1] : text[0]));
    else if (changesOrder(text.substr(0, bytes)))
      plain += fmt::format("\\u{:04x}", codeOf(text.substr(0, bytes)));
    else
      plain += text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return plain;
}

std::string plainLine(std::string_view text) {
  std::string line = plainText(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

static bool isBlank(std::string_view line) {
  return line.find_first_not_of(' ') == std::string_view::npos;
}

std::vector<std::string> wrapText(std::string_view text, size_t width, LongWords longWords) {
  std::vector<std::string> lines;
  std::string line;
  bool isStart = true; // of a line of the text, whose indentation stays, as that of a traceback
  while (!text.empty()) {
    if (std::exchange(isStart, false)) {
      size_t spaces = std::min(text.find_first_not_of(' '), text.size());
      line.assign(std::min(spaces, width / 2), ' ');
      text.remove_prefix(spaces);
    }
    size_t end = std::min(text.find_first_of(" \n"), text.size());
    std::string_view word = text.substr(0, end);
    bool newline = end < text.size() && text[end] == '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!isBlank(line) && displayWidth(line) + 1 + widthUpTo(word, width) > width)
      lines.push_back(std::exchange(line, {}));
    while (longWords == LongWords::Break && width > 0 && widthUpTo(word, width) > width) {
      std::string_view part = firstCharacters(word, width);
      lines.emplace_back(part);
      word.remove_prefix(part.size());
    }
    if (!word.empty())
      line += (isBlank(line) ? "" : " ") + std::string(word);
    if (newline && isBlank(line))
      line.clear();
    if (newline)
      lines.push_back(std::exchange(line, {}));
    isStart = newline;
  }
  if (!isBlank(line) || lines.empty())
    lines.push_back(isBlank(line) ? "" : std::move(line));
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
