// Files as the tools read and write them: whole reads with errors that name the file, and writes that leave either the
// whole file or none. Not thread-safe.
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

// A file that appears, or grows, only once `commit` has succeeded. Destroyed before that, it leaves what was there: a
// new file is written beside its place and renamed; appended bytes are cut off again. A device or a pipe is written
// directly.
class OutputFile {
public:
  enum class Mode { Replace, Append };
  static Result<OutputFile> open(std::string path, Mode mode);
  OutputFile(OutputFile &&) = default;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  Status write(std::span<const uint8_t> bytes);
  Status commit();

private:
  OutputFile(std::string path) : path(std::move(path)) {}
  Status failed(int error) const;

  std::string path;      // as the user wrote it, for messages
  std::string target;    // where the file is to be; links resolved
  std::string temporary; // what is written instead; empty where `target` is written itself
  FileDescriptor fd;
  std::optional<uint64_t> truncateTo; // the length before an append
  bool created = false;               // an append that made the file
};

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_FILE_H
