// What a compiler's tool writes: standard output, or a file that appears only when it is complete.
#ifndef KILN_TOOLS_OUTPUT_FILE_H
#define KILN_TOOLS_OUTPUT_FILE_H

#include <string>
#include <string_view>

#include "kiln/base/status.h"

#include "llvm/Support/LogicalResult.h"

namespace kiln {

// Errors are printed to standard error when they happen; nothing half-written stays.
class OutputFile {
public:
  explicit OutputFile(std::string path) : path(std::move(path)) {}
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  // Checks early that the file can be made, so that a long compilation does not end in a misspelt folder.
  bool open();

  Status append(std::string_view bytes);
  // The same, reporting the error.
  llvm::LogicalResult write(std::string_view bytes);
  // Puts the file in its place.
  llvm::LogicalResult commit();

  // Where the committed bytes are; "-" for standard output.
  const std::string &name() const { return path; }

private:
  llvm::LogicalResult report(const Status &status);

  std::string path, temporary;
  int descriptor = -1;
  bool isStream = false; // standard output, a pipe or a device: written in place
};

} // namespace kiln

#endif // KILN_TOOLS_OUTPUT_FILE_H
