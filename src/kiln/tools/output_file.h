// What a compiler's tool writes: standard output, or a file that appears only when it is complete.
#ifndef KILN_TOOLS_OUTPUT_FILE_H
#define KILN_TOOLS_OUTPUT_FILE_H

#include <string>
#include <string_view>

#include "kiln/base/status.h"

namespace kiln {

// Nothing half-written stays. What has failed once fails again with the same status.
class OutputFile {
public:
  // "-" is standard output.
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  // Checks early that the file can be made, so that a long compilation does not end in a misspelt folder. Otherwise
  // the first write opens it.
  Status open();
  Status write(std::string_view bytes);
  // Puts the file in its place.
  Status commit();

  // The first failure.
  const Status &status() const { return failure; }
  bool isStandardOutput() const { return path == "-"; }
  const std::string &name() const { return path; }

private:
  Status fail(int error);

  std::string path, temporary;
  int descriptor = -1;
  bool isStream = false; // standard output, a pipe or a device: written in place
  Status failure;
};

} // namespace kiln

#endif // KILN_TOOLS_OUTPUT_FILE_H
