#include "kiln/tools/exhaustion.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <initializer_list>
#include <new>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

#include "kiln/base/exhaustion.h"

namespace kiln {

namespace {

const char *toolName = "kiln";

[[noreturn]] void endWith(std::initializer_list<const char *> parts) {
  // Several threads may run out at once; one of them says it.
  static std::atomic_flag isSaid = ATOMIC_FLAG_INIT;
  while (isSaid.test_and_set())
    ::pause();
  for (const char *part : parts)
    (void)!::write(STDERR_FILENO, part, std::strlen(part));
  ::_exit(1);
}

[[noreturn]] void endUncaught() {
  try {
    if (std::exception_ptr exception = std::current_exception())
      std::rethrow_exception(exception);
  } catch (const std::bad_alloc &) {
    endForLackOfMemory();
  } catch (const std::system_error &error) {
    if (error.code() == std::errc::resource_unavailable_try_again)
      endForLackOfThreads(std::strerror(EAGAIN));
    endWith({toolName, ": error: ", error.what(), "\n"});
  } catch (...) {
    std::abort();
  }
  std::abort();
}

} // namespace

void endForLackOfMemory() {
  endWith({toolName, ": error: out of memory", kMoreMemory, "\n"});
}

void endForLackOfThreads(const char *why) {
  endWith({toolName, ": error: cannot start a thread: ", why, kMoreThreads, "\n"});
}

// Less than what the first large frames take; who runs out of it gets a signal and no chance to say why.
static constexpr rlim_t kSmallestStack = rlim_t(512) << 10;

// A standard stream that the caller has closed would be the next file that the tool opens. What takes its place fails
// as a closed one does: what is only read takes no output, and what is only written has no input.
static void reserveStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      (void)!::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void nameWhatIsExhausted(const char *tool) {
  toolName = tool;
  reserveStandardStreams();
  rlimit stack;
  if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kSmallestStack)
    endWith({toolName, ": error: the stack is limited to less than 512 kB; raise the limit of stacks (ulimit -s)\n"});
  std::set_terminate(endUncaught);
  (void)std::signal(SIGXFSZ, SIG_IGN);
}

} // namespace kiln
