// What a compiler's tool writes: standard output, or a file that appears only when it is complete.
#ifndef KILN_TOOLS_TOOL_OUTPUT_H
#define KILN_TOOLS_TOOL_OUTPUT_H

#include <optional>
#include <string>
#include <string_view>

#include "kiln/base/file.h"

namespace kiln {

// An OutputFile that is opened by the first write. What has failed once fails again with the same status.
class ToolOutput {
public:
  // "-" is standard output.
  explicit ToolOutput(std::string path) : path(std::move(path)) {}

  // Checks early that the file can be made, so that a long compilation does not end in a misspelt folder.
  Status open();
  Status write(std::string_view bytes);
  // Puts the file in its place.
  Status commit();

  // The first failure.
  const Status &status() const { return failure; }
  bool isStandardOutput() const { return path == "-"; }
  const std::string &name() const { return path; }

private:
  Status note(Status status);

  std::string path;
  std::optional<OutputFile> file;
  Status failure;
};

} // namespace kiln

#endif // KILN_TOOLS_TOOL_OUTPUT_H
