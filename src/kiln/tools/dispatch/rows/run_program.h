// Runs a program to its end and keeps what it says: for tools that are asked once, such as llvm-mca.
#ifndef KILN_TOOLS_DISPATCH_ROWS_RUN_PROGRAM_H
#define KILN_TOOLS_DISPATCH_ROWS_RUN_PROGRAM_H

#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"

namespace kiln {

struct ProgramOutput {
  int exitCode = 0;
  std::string out, error; // its two streams
};

// `command` is a path and its arguments; `input` is its standard input. A program that cannot be started, or that a
// signal ends, is an error; one that ends with another exit code than 0 is not.
Result<ProgramOutput> runProgram(const std::vector<std::string> &command, std::string_view input = {});

// The path of the first of these names that is a program in a folder of PATH. NotFound names `package`.
Result<std::string> findProgram(const std::vector<std::string> &names, std::string_view package);

// A folder for the life of this object, under TMPDIR.
class TemporaryFolder {
public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder &&other) noexcept : folder(std::exchange(other.folder, std::string())) {}
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  const std::string &path() const { return folder; }

private:
  explicit TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_ROWS_RUN_PROGRAM_H
