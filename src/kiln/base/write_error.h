// One wording for all who write files.
#ifndef KILN_BASE_WRITE_ERROR_H
#define KILN_BASE_WRITE_ERROR_H

#include <cerrno>
#include <string>
#include <unistd.h>

#include "kiln/base/status.h"

namespace kiln {

// The status of a file that could not be made or written, with an errno. The usual cause of ENOENT is named: "cannot
// write 'a/x': the folder 'a' does not exist".
inline Status writeError(int error, const std::string &path) {
  size_t slash = path.rfind('/');
  if (error == ENOENT && slash != std::string::npos && slash > 0 && ::access(path.substr(0, slash).c_str(), F_OK) != 0)
    return notFound("cannot write '{}': the folder '{}' does not exist", path, path.substr(0, slash));
  return errnoStatus(error, fmt::format("cannot write '{}'", path));
}

} // namespace kiln

#endif // KILN_BASE_WRITE_ERROR_H
