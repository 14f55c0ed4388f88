#include "tests/tools/tool_process.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "kiln/base/clock.h"

namespace kiln::testing {

Folder::Folder() {
  path = (std::filesystem::temp_directory_path() / "kiln-tools-XXXXXX").string();
  if (!mkdtemp(path.data()))
    std::abort();
}

Folder::~Folder() {
  std::filesystem::remove_all(path);
}

std::string Folder::write(std::string_view name, std::string_view bytes) const {
  std::string file = *this / name;
  FILE *stream = std::fopen(file.c_str(), "wb");
  if (!stream || std::fwrite(bytes.data(), 1, bytes.size(), stream) != bytes.size() || std::fclose(stream) != 0)
    std::abort();
  return file;
}

std::vector<std::string> Folder::files() const {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename());
  return names;
}

std::string readFile(const std::string &path) {
  std::string bytes;
  if (FILE *stream = std::fopen(path.c_str(), "rb")) {
    char chunk[4096];
    while (size_t count = std::fread(chunk, 1, sizeof(chunk), stream))
      bytes.append(chunk, count);
    std::fclose(stream);
  }
  return bytes;
}

std::string toolPath(const std::string &tool) {
  return std::string(KILN_TOOLS) + "/" + tool;
}

// In the child: the descriptor becomes the file. Ends the child where it cannot.
static void redirect(int target, const std::string &path, int flags) {
  int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0 || ::dup2(fd, target) < 0)
    ::_exit(126);
  ::close(fd);
}

// Of all its threads.
static double cpuSeconds(pid_t process) {
  clockid_t clock;
  timespec time = {};
  if (::clock_getcpuclockid(process, &clock) == 0)
    ::clock_gettime(clock, &time);
  return double(time.tv_sec) + double(time.tv_nsec) / 1e9;
}

// Returns at the moment that the options name, or when it has ended.
static void awaitMoment(pid_t child, const std::string &out, const ProcessOptions &options) {
  auto runs = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    siginfo_t info = {};
    return ::waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  };
  while (readFile(out).find(options.whenPrinted) == std::string::npos && runs()) {
  }
  for (double begin = cpuSeconds(child); cpuSeconds(child) - begin < options.whenCpuSeconds && runs();) {
  }
}

ProcessResult runTool(const std::string &tool, const std::vector<std::string> &arguments,
                      const ProcessOptions &options) {
  Folder scratch;
  std::string in = scratch.write("in", options.input);
  std::string out = options.outputPath.empty() ? scratch / "out" : options.outputPath;
  std::string error = scratch / "error";
  std::string path = toolPath(tool);
  std::vector<char *> argv = {path.data()};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);

  bool hasMoment = !options.whenPrinted.empty() || options.whenCpuSeconds > 0;
  pid_t child = ::fork();
  if (child == 0) {
    redirect(0, in, O_RDONLY);
    redirect(1, out, O_WRONLY | O_CREAT);
    redirect(2, error, O_WRONLY | O_CREAT);
    if (!options.workingFolder.empty() && ::chdir(options.workingFolder.c_str()) != 0)
      ::_exit(126);
    // Whoever started this may ignore it.
    if (hasMoment)
      std::signal(SIGINT, SIG_DFL);
    for (auto [resource, value] : options.limits) {
      rlimit limit = {value, value};
      if (::setrlimit(static_cast<decltype(RLIMIT_AS)>(resource), &limit) != 0)
        ::_exit(126);
    }
    ::execv(path.c_str(), argv.data());
    ::_exit(127);
  }
  ProcessResult result;
  int status = 0;
  rusage usage = {};
  uint64_t interrupted = 0;
  if (child > 0 && hasMoment)
    awaitMoment(child, out, options);
  if (child > 0 && options.meanwhile) {
    options.meanwhile();
  } else if (child > 0 && hasMoment) {
    interrupted = monotonicNanoseconds();
    ::kill(child, SIGINT);
  }
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child)
    return result;
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (interrupted)
    result.secondsAfterInterrupt = double(monotonicNanoseconds() - interrupted) / 1e9;
  result.peakMemoryBytes = uint64_t(usage.ru_maxrss) * 1024;
  if (options.outputPath.empty())
    result.out = readFile(out);
  result.error = readFile(error);
  return result;
}

} // namespace kiln::testing
