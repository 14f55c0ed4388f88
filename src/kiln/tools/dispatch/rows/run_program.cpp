#include "kiln/tools/dispatch/rows/run_program.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln/base/exhaustion.h"
#include "kiln/base/file.h"
#include "kiln/runtime/io/file.h"

extern char **environ;

namespace kiln {

// A file in memory: unlike a pipe, it takes all that is written before anything is read.
static Result<io::FileDescriptor> memoryFile(std::string_view content) {
  io::FileDescriptor file(::memfd_create("kiln-stream", MFD_CLOEXEC));
  if (!file)
    return errnoStatus(errno, "cannot make memory for a program's streams");
  KILN_RETURN_IF_ERROR(writeAll(file.get(), "a program's input", std::as_bytes(std::span(content))));
  if (::lseek(file.get(), 0, SEEK_SET) != 0)
    return errnoStatus(errno, "cannot rewind a program's input");
  return file;
}

static Result<std::string> contentOf(const io::FileDescriptor &file, std::string_view name) {
  if (::lseek(file.get(), 0, SEEK_SET) != 0)
    return errnoStatus(errno, fmt::format("cannot read what {} wrote", name));
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> contents, FileContents::read(file.get(), name));
  return std::string(contents->text());
}

Result<ProgramOutput> runProgram(const std::vector<std::string> &command, std::string_view input) {
  KILN_ASSIGN_OR_RETURN(io::FileDescriptor in, memoryFile(input));
  KILN_ASSIGN_OR_RETURN(io::FileDescriptor out, memoryFile({}));
  KILN_ASSIGN_OR_RETURN(io::FileDescriptor error, memoryFile({}));
  std::vector<char *> argv;
  for (const std::string &argument : command)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int failure = posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  if (failure == 0)
    failure = posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  if (failure == 0)
    failure = posix_spawn_file_actions_adddup2(&actions, error.get(), STDERR_FILENO);
  pid_t child = -1;
  if (failure == 0)
    failure = posix_spawn(&child, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return noProcess(command.front(), failure);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return errnoStatus(errno, fmt::format("cannot wait for '{}'", command.front()));
  ProgramOutput result;
  KILN_ASSIGN_OR_RETURN(result.out, contentOf(out, command.front()));
  KILN_ASSIGN_OR_RETURN(result.error, contentOf(error, command.front()));
  if (WIFSIGNALED(status))
    return internalError("signal {} ({}) ended '{}'{}{}", WTERMSIG(status), strsignal(WTERMSIG(status)),
                         command.front(), result.error.empty() ? "" : ": ", result.error);
  result.exitCode = WEXITSTATUS(status);
  return result;
}

Result<std::string> findProgram(const std::vector<std::string> &names, std::string_view package) {
  const char *value = std::getenv("PATH");
  std::string_view folders = value ? value : "";
  for (const std::string &name : names)
    for (size_t at = 0; at <= folders.size();) {
      size_t end = std::min(folders.find(':', at), folders.size());
      std::string path = fmt::format("{}/{}", end > at ? folders.substr(at, end - at) : ".", name);
      if (::access(path.c_str(), X_OK) == 0)
        return path;
      at = end + 1;
    }
  return notFound("'{}' is not on the PATH; it is part of Debian's package {}, which ./setup installs", names.front(),
                  package);
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error)
    return errnoStatus(error.value(), "TMPDIR is no folder for temporary files");
  std::string name = (parent / "kiln-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    return errnoStatus(errno, fmt::format("cannot make a folder in '{}'", parent.string()));
  return TemporaryFolder(std::move(name));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

} // namespace kiln
