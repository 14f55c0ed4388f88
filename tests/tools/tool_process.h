// Runs a tool of this build as a process, and says what it printed.
#ifndef KILN_TESTS_TOOLS_TOOL_PROCESS_H
#define KILN_TESTS_TOOLS_TOOL_PROCESS_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::testing {

// A folder that goes away with the test.
class Folder {
public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string operator/(std::string_view name) const { return path + "/" + std::string(name); }
  // Returns the path.
  std::string write(std::string_view name, std::string_view bytes) const;
  std::vector<std::string> files() const;

  std::string path;
};

std::string readFile(const std::string &path);

struct ProcessOptions {
  std::string input;                            // on standard input
  std::string outputPath;                       // where standard output goes; empty: it is captured
  std::vector<std::pair<int, uint64_t>> limits; // RLIMIT_AS and the like, and their values
  std::string workingFolder;                    // empty: this process's
  // The moment when it is sent SIGINT, or `meanwhile` is called instead: once it has printed this on standard output,
  // and has then had so much processor time, which takes the longer the busier the machine is. Never where neither is
  // given.
  std::string whenPrinted;
  double whenCpuSeconds = 0;
  std::function<void()> meanwhile;
};

struct ProcessResult {
  int exitCode = -1; // 128 + the signal where one ended it
  std::string out, error;
  double secondsAfterInterrupt = 0;
  uint64_t peakMemoryBytes = 0;
};

// "kiln-run-module", or a path below the folder of the tools, "compat/iree-run-module".
ProcessResult runTool(const std::string &tool, const std::vector<std::string> &arguments,
                      const ProcessOptions &options = {});
std::string toolPath(const std::string &tool);

} // namespace kiln::testing

#define EXPECT_CONTAINS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)
#define EXPECT_LACKS(text, part) EXPECT_EQ(std::string(text).find(part), std::string::npos) << (text)

#endif // KILN_TESTS_TOOLS_TOOL_PROCESS_H
