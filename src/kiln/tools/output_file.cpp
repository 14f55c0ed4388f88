#include "kiln/tools/output_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/base/write_error.h"

namespace kiln {

OutputFile::~OutputFile() {
  if (descriptor >= 0 && descriptor != STDOUT_FILENO)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Status OutputFile::fail(int error) {
  failure = isStandardOutput() ? errnoStatus(error, "cannot write to standard output") : writeError(error, path);
  return failure;
}

Status OutputFile::open() {
  if (descriptor >= 0 || !failure.ok())
    return failure;
  if (isStandardOutput()) {
    isStream = true;
    descriptor = STDOUT_FILENO;
    return okStatus();
  }
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    isStream = true;
    descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return descriptor >= 0 ? okStatus() : fail(errno);
  }
  // Beside its target, so that putting it there is one rename.
  temporary = path + ".XXXXXX";
  descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) {
    temporary.clear();
    return fail(errno);
  }
  // As an ordinary new file would have.
  mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);
  return okStatus();
}

Status OutputFile::write(std::string_view bytes) {
  KILN_RETURN_IF_ERROR(open());
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail(errno);
    bytes.remove_prefix(written);
  }
  return failure;
}

Status OutputFile::commit() {
  KILN_RETURN_IF_ERROR(open());
  if (isStream)
    return failure;
  int result = ::close(descriptor);
  descriptor = -1;
  if (result != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(errno);
  temporary.clear();
  return okStatus();
}

} // namespace kiln
