#include "kiln/tools/sibling.h"

#include <cerrno>
#include <climits>
#include <unistd.h>

namespace kiln {

std::string ownFolder() {
  char self[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", self, sizeof(self));
  std::string path(self, length < 0 ? 0 : size_t(length));
  return path.substr(0, path.rfind('/') + 1);
}

Result<std::string> siblingTool(std::string_view name) {
  std::string path = ownFolder();
  if (path.empty())
    return errnoStatus(errno, "cannot find the folder of this tool");
  path += name;
  if (::access(path.c_str(), X_OK) == 0)
    return path;
  if (errno == ENOENT)
    return notFound("'{}' does not exist: this build has no {}", path, name);
  return errnoStatus(errno, fmt::format("cannot run '{}'", path));
}

} // namespace kiln
