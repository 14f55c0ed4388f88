#include "kiln/tools/compile_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln/base/exhaustion.h"
#include "kiln/runtime/io/file.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/sibling.h"

extern char **environ;

namespace kiln {

// Waits for the end of a child, which is told to end where this tool is interrupted. Returns what waitpid says of it.
static Result<int> awaitChild(pid_t child) {
  constexpr int kAskMilliseconds = 50;
  // Readable when the child has ended. Where there is none, the child is awaited as it is.
  io::FileDescriptor ended(int(::syscall(SYS_pidfd_open, child, 0)));
  pollfd waited = {ended.get(), POLLIN, 0};
  while (ended && !isInterrupted() && ::poll(&waited, 1, kAskMilliseconds) <= 0)
    ;
  if (isInterrupted())
    (void)::kill(child, SIGTERM);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return errnoStatus(errno, "cannot wait for kiln-compile");
  return status;
}

// Starts the program with its standard output on `output`, and waits for it.
static Status runWithOutput(const std::string &path, const std::vector<std::string> &arguments, int output) {
  std::vector<char *> argv = {const_cast<char *>(path.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = -1;
  if (error == 0)
    error = posix_spawn(&child, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return noProcess(path, error);

  KILN_ASSIGN_OR_RETURN(int status, awaitChild(child));
  if (isInterrupted())
    return cancelled("interrupted");
  if (WIFSIGNALED(status))
    return internalError("kiln-compile was ended by {}", strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return invalidArgument("kiln-compile failed with exit code {}", WEXITSTATUS(status));
  return okStatus();
}

Result<Ref<vm::Module>> compileModule(const std::vector<std::string> &arguments, const std::string &name) {
  KILN_ASSIGN_OR_RETURN(std::string compiler, siblingTool("kiln-compile"));
  // Memory with a file's face: it needs no disk, and is mapped rather than copied.
  io::FileDescriptor file(::memfd_create("kiln-module", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file)
    return errnoStatus(errno, "cannot create memory for the compiled module");
  KILN_RETURN_IF_ERROR(runWithOutput(compiler, arguments, file.get()));
  // The compiler has ended, but what it started may hold the file still.
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return errnoStatus(errno, "cannot seal the compiled module");
  struct stat info;
  if (::fstat(file.get(), &info) != 0)
    return errnoStatus(errno, "cannot read the compiled module");
  if (info.st_size == 0)
    return invalidArgument("kiln-compile wrote no module to standard output; leave -o out of its flags");
  size_t size = info.st_size;
  void *bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED)
    return errnoStatus(errno, "cannot map the compiled module");
  return vm::Module::loadMemory(
      {static_cast<const char *>(bytes), size}, [bytes, size] { ::munmap(bytes, size); }, name);
}

} // namespace kiln
