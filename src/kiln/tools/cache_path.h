// Where tools keep what they can make again.
#ifndef KILN_TOOLS_CACHE_PATH_H
#define KILN_TOOLS_CACHE_PATH_H

#include <cstdlib>
#include <string>

#include "fmt/core.h"

namespace kiln {

// $XDG_CACHE_HOME/kiln/<name>, else $HOME/.cache/kiln/<name>; empty where neither folder is given by an absolute path.
inline std::string userCachePath(std::string_view name) {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return fmt::format("{}/kiln/{}", cache, name);
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return fmt::format("{}/.cache/kiln/{}", home, name);
  return "";
}

} // namespace kiln

#endif // KILN_TOOLS_CACHE_PATH_H
