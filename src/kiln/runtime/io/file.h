// Files as the tools read them, piece by piece, with errors that name the file. Not thread-safe.
#ifndef KILN_RUNTIME_IO_FILE_H
#define KILN_RUNTIME_IO_FILE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kiln/base/file_descriptor.h"
#include "kiln/base/status.h"

namespace kiln::io {

using kiln::FileDescriptor;

// A file that is read from its start on.
class InputFile {
public:
  static Result<InputFile> open(std::string path);

  const std::string &path() const { return name; }
  // Fills `bytes`, or fails: a file that ends earlier is DataLoss, with how many bytes it had.
  Status read(std::span<uint8_t> bytes);
  // Bytes after the position; nothing where the file is no regular one (a pipe).
  std::optional<uint64_t> remaining() const;
  // Whether all has been read.
  Result<bool> atEnd();

private:
  InputFile(FileDescriptor fd, std::string name) : fd(std::move(fd)), name(std::move(name)) {}
  // Reads at most bytes.size(); fewer only at the end.
  Result<uint64_t> readSome(std::span<uint8_t> bytes);

  FileDescriptor fd;
  std::string name;
  std::optional<uint64_t> size; // of a regular file
  uint64_t position = 0;
  std::optional<uint8_t> ahead; // read by atEnd, not yet handed out
};

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_FILE_H
