// What a module file may call its functions, its executables and itself.
#ifndef KILN_SCHEMA_NAME_H
#define KILN_SCHEMA_NAME_H

#include <algorithm>
#include <string_view>

namespace kiln::schema {

// Names are printed, so they hold no control characters; an empty one names nothing.
inline bool isName(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

} // namespace kiln::schema

#endif // KILN_SCHEMA_NAME_H
