#include "kiln/tools/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln {

OutputFile::~OutputFile() {
  if (descriptor >= 0 && descriptor != STDOUT_FILENO)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

llvm::LogicalResult OutputFile::report(const Status &status) {
  std::fprintf(stderr, "error: %s\n", status.toString().c_str());
  return llvm::failure();
}

bool OutputFile::open() {
  if (descriptor >= 0)
    return true;
  if (path == "-") {
    isStream = true;
    descriptor = STDOUT_FILENO;
    return true;
  }
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    isStream = true;
    descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // Beside its target, so that putting it there is one rename.
    temporary = path + ".XXXXXX";
    descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (descriptor < 0)
      temporary.clear();
    else {
      // As an ordinary new file would have.
      mode_t mask = ::umask(0);
      ::umask(mask);
      ::fchmod(descriptor, 0666 & ~mask);
    }
  }
  if (descriptor >= 0)
    return true;
  (void)report(errnoStatus(errno, fmt::format("cannot write '{}'", path)));
  return false;
}

Status OutputFile::append(std::string_view bytes) {
  if (!open())
    return unavailable("cannot write '{}'", path);
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errnoStatus(errno, fmt::format("cannot write '{}'", path));
    bytes.remove_prefix(written);
  }
  return okStatus();
}

llvm::LogicalResult OutputFile::write(std::string_view bytes) {
  Status status = append(bytes);
  return status.ok() ? llvm::success() : report(status);
}

llvm::LogicalResult OutputFile::commit() {
  if (!open())
    return llvm::failure();
  if (isStream)
    return llvm::success();
  int result = ::close(descriptor);
  descriptor = -1;
  if (result != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
    return report(errnoStatus(errno, fmt::format("cannot write '{}'", path)));
  temporary.clear();
  return llvm::success();
}

} // namespace kiln
