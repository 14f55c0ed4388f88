// The parts of a text.
#ifndef KILN_BASE_SPLIT_H
#define KILN_BASE_SPLIT_H

#include <algorithm>
#include <string_view>
#include <vector>

namespace kiln {

// Between separators, all of them: "a,,b" has three, and "" one, which is empty.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size())
      return parts;
    text.remove_prefix(end + 1);
  }
}

} // namespace kiln

#endif // KILN_BASE_SPLIT_H
