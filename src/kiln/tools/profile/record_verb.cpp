#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kiln/tools/cli.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/profile/profile_verbs.h"

namespace kiln {

// Whatever of Kiln runs below the command records itself, each process to a file of its own.
int profileRecord(int argc, const char *const *argv) {
  FlagParser parser("kiln-profile record", "Runs a command, and records each process of Kiln below it to a file of its "
                                           "own: kiln-profile record -- COMMAND, or kiln-profile -- COMMAND.");
  std::string folder = "kiln-traces";
  std::vector<std::string> command;
  parser.group("Flags");
  parser.add({"output", "FOLDER", "Where the files go; made where it is missing."}, folder);
  parser.addPositional({"command", "COMMAND", "After --: what to run, with its arguments."}, command);
  parser.example("kiln-profile -- kiln-run-module --module=m.vmfb --function=main");
  // Flags of the command are its own, also without -- before it.
  std::vector<const char *> words(argv, argv + argc);
  const auto first = std::find_if(words.begin() + 1, words.end(), [](const char *word) { return word[0] != '-'; });
  if (std::none_of(words.begin() + 1, first, [](std::string_view word) { return word == "--"; }) &&
      first != words.end())
    words.insert(first, "--");
  if (std::optional<int> code = parser.parse(int(words.size()), words.data()))
    return *code;
  if (command.empty())
    return reportFailure(kProfileTool, invalidArgument("no command is named; it stands after --"));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return reportFailure(kProfileTool, errnoStatus(error.value(), fmt::format("cannot make folder '{}'", folder)));
  const std::string root = std::filesystem::absolute(folder).string();
  const auto tracesIn = [&] {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(root, error))
      if (entry.path().extension() == ".trace")
        found.push_back(entry.path().string());
    std::ranges::sort(found);
    return found;
  };
  const std::vector<std::string> before = tracesIn();
  const pid_t child = ::fork();
  if (child < 0)
    return reportFailure(kProfileTool, errnoStatus(errno, "cannot start a process"));
  if (child == 0) {
    ::setenv("KILN_TRACE", (root + "/%p.trace").c_str(), 1);
    std::vector<char *> arguments;
    for (std::string &word : command)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    std::fprintf(stderr, "%s: error: cannot run '%s': %s\n", kProfileTool, arguments[0], std::strerror(errno));
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  size_t recorded = 0;
  for (const std::string &path : tracesIn())
    if (!std::ranges::binary_search(before, path)) {
      ++recorded;
      fmt::print(stderr, "{}: {}\n", kProfileTool, path);
    }
  if (recorded == 0)
    reportWarning(kProfileTool,
                  "nothing below the command was a tool of Kiln that runs programs: nothing was recorded");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace kiln
