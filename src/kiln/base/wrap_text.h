// Text in lines that fit.
#ifndef KILN_BASE_WRAP_TEXT_H
#define KILN_BASE_WRAP_TEXT_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Whether a byte of UTF-8 is the first one of a character.
inline bool startsCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}
// Characters on a terminal, of UTF-8 without wide ones; what sets a colour is none.
size_t displayWidth(std::string_view text);
// Of the text what has at most so many characters.
std::string_view firstCharacters(std::string_view text, size_t count);

// What programs wrote, as a terminal may show it: lines stay lines, a tab is a space, and control characters and bytes
// that are no UTF-8 are written out, as in \x1b, and so is what would show the rest of a line in another order or begin
// a new one, as in \u202e.
std::string plainText(std::string_view text);
// The same in one line.
std::string plainLine(std::string_view text);

enum class LongWords {
  Stay,  // names and paths, to be copied
  Break, // what programs wrote
};
// Lines of at most `width` characters, broken at spaces and where the text has lines.
std::vector<std::string> wrapText(std::string_view text, size_t width, LongWords longWords = LongWords::Stay);
// The same as one text: the label, the first line, and further ones that start with `indent` spaces.
std::string hangingText(std::string_view label, std::string_view text, size_t width, size_t indent);

} // namespace kiln

#endif // KILN_BASE_WRAP_TEXT_H
