#include "kiln/base/exhaustion.h"

#include <cerrno>
#include <cstring>

namespace kiln {

const char *exhaustionAdvice(int error) {
  switch (error) {
  case EMFILE: return "; raise the limit of open files (ulimit -n)";
  case ENFILE: return "; the whole system has no more open files: end programs, or raise its limit (fs.file-max)";
  case EFBIG: return "; raise the limit of the size of files (ulimit -f), which files in memory count for too";
  case ENOMEM: return kMoreMemory;
  default: return "";
  }
}

const char *exhaustionAdvice(std::string_view message) {
  // ENFILE first: its text begins with that of EMFILE.
  for (int error : {ENFILE, EMFILE, EFBIG, ENOMEM})
    if (message.find(std::strerror(error)) != message.npos)
      return exhaustionAdvice(error);
  return "";
}

Status noThread(std::string_view what, const std::system_error &error) {
  return resourceExhausted("cannot start {}: {}{}", what, error.code().message(), kMoreThreads);
}

Status noProcess(std::string_view program, int error) {
  if (error == EAGAIN)
    return resourceExhausted("cannot start '{}': {}; raise the limit of processes (ulimit -u, the container's pids)",
                             program, std::strerror(error));
  return errnoStatus(error, fmt::format("cannot start '{}'", program));
}

} // namespace kiln
