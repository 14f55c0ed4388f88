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
// Lines of at most `width` characters, broken at spaces; a word that is longer is not broken.
std::vector<std::string> wrapText(std::string_view text, size_t width);
// The same as one text: the label, the first line, and further ones that start with `indent` spaces.
std::string hangingText(std::string_view label, std::string_view text, size_t width, size_t indent);

} // namespace kiln

#endif // KILN_BASE_WRAP_TEXT_H
