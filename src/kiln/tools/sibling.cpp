#include "kiln/tools/sibling.h"

#include <cerrno>
#include <climits>
#include <unistd.h>

namespace kiln {

Result<std::string> siblingTool(std::string_view name) {
  char self[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", self, sizeof(self));
  if (length < 0)
    return errnoStatus(errno, "cannot find the folder of this tool");
  std::string path(self, length);
  path = path.substr(0, path.rfind('/') + 1) + std::string(name);
  if (::access(path.c_str(), X_OK) == 0)
    return path;
  if (errno == ENOENT)
    return notFound("'{}' does not exist: this build has no {}", path, name);
  return errnoStatus(errno, fmt::format("cannot run '{}'", path));
}

} // namespace kiln
