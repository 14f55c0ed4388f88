// Environment variables of the tools. Nothing below tools/ reads the environment.
#ifndef KILN_TOOLS_ENV_H
#define KILN_TOOLS_ENV_H

#include <cstdlib>
#include <string>

namespace kiln {

// The value of KILN_<name>, else that of IREE_<name>, the documents' spelling; null where neither is set, or is empty.
// Valid until the environment changes.
inline const char *getenvEither(const std::string &name) {
  for (const char *prefix : {"KILN_", "IREE_"})
    if (const char *value = std::getenv((prefix + name).c_str()); value && *value)
      return value;
  return nullptr;
}

} // namespace kiln

#endif // KILN_TOOLS_ENV_H
