// Words of shell commands that are written for users to run.
#ifndef KILN_TOOLS_DISPATCH_SHELL_WORD_H
#define KILN_TOOLS_DISPATCH_SHELL_WORD_H

#include <string>

namespace kiln {

// The word in single quotes, whatever is in it.
inline std::string shellWord(const std::string &word) {
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// The same, without quotes where a shell reads the word as it is.
inline std::string plainShellWord(const std::string &word) {
  constexpr const char *kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  return word.empty() || word.find_first_not_of(kPlain) != std::string::npos ? shellWord(word) : word;
}

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SHELL_WORD_H
