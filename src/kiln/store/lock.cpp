#include "kiln/store/lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "kiln/base/clock.h"

namespace kiln::store {

static constexpr useconds_t kPollMicroseconds = 20'000;

// What a process was started as: " (kiln-dispatch sweep ...)"; nothing where that cannot be seen from here.
static std::string commandOf(long long pid) {
  constexpr size_t shown = 100;
  char text[shown] = {};
  int file = ::open(fmt::format("/proc/{}/cmdline", pid).c_str(), O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : ::read(file, text, sizeof text);
  if (file >= 0)
    ::close(file);
  if (length <= 0)
    return {};
  std::string command(text, static_cast<size_t>(length));
  for (char &c : command)
    if (c == '\0')
      c = ' ';
  command.erase(command.find_last_not_of(' ') + 1);
  return fmt::format(" ({}{})", command, length == shown ? "..." : "");
}

// "process 123 (its command)", or what can be said where the file does not tell.
static std::string holderOf(int file) {
  char text[32] = {};
  ssize_t length = pread(file, text, sizeof text - 1, 0);
  if (length <= 0 || text[0] < '1' || text[0] > '9')
    return "another process";
  long long pid = std::strtoll(text, nullptr, 10);
  return fmt::format("process {}{}", pid, commandOf(pid));
}

Result<FileLock> FileLock::acquire(const std::string &path, int waitMilliseconds) {
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    return errnoStatus(errno, fmt::format("cannot open '{}'", path));
  FileLock lock(file);
  Deadline deadline = Deadline::after(static_cast<uint64_t>(waitMilliseconds) * 1'000'000);
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return errnoStatus(errno, fmt::format("cannot lock '{}'", path));
    if (deadline.remaining() == 0)
      return unavailable(
          "{} is writing this store ('{}' is locked): wait for it, or use another file. Nothing was lost",
          holderOf(file), path);
    usleep(kPollMicroseconds);
  }
  // The file's text only serves the message above: where it cannot be written, the lock holds all the same.
  std::string holder = fmt::format("{}\n", getpid());
  if (ftruncate(file, 0) != 0 || pwrite(file, holder.data(), holder.size(), 0) < 0)
    return lock;
  return lock;
}

FileLock::~FileLock() {
  if (file >= 0)
    close(file);
}

} // namespace kiln::store
