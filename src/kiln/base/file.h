// Whole files: read into memory, written so that no half-written file is ever seen.
#ifndef KILN_BASE_FILE_H
#define KILN_BASE_FILE_H

#include "kiln/base/file_descriptor.h"
#include "kiln/base/ref.h"
#include "kiln/base/status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

// The bytes of a file, read-only, for as long as this lives: a copy, so that nothing that happens to the file later
// matters. They start at a multiple of 16.
class FileContents : public RefCounted {
public:
  static Result<Ref<FileContents>> open(const std::string &path);
  // Reads an open file, such as standard input, to its end; `name` is for messages. Does not close it.
  static Result<Ref<FileContents>> read(int file, std::string_view name);

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte *>(data), length}; }
  std::string_view text() const { return {static_cast<const char *>(data), length}; }

private:
  FileContents(void *data, size_t length) : data(data), length(length) {}
  ~FileContents() override;
  static Result<Ref<FileContents>> read(int file, std::string_view name, size_t expected);

  void *data; // from malloc
  size_t length;
};

// A file that appears, or grows, only once `commit` has succeeded. Destroyed before that, it leaves what was there: a
// new file is written without a name, or beside its place where the file system has no such files, and put there at
// the end; appended bytes are cut off again. So who is killed leaves no file behind. What is not a regular file (a
// pipe, /dev/null) is written directly. A symbolic link is followed. Not thread-safe.
class OutputFile {
public:
  enum class Mode { Replace, Append };
  static Result<OutputFile> open(std::string path, Mode mode = Mode::Replace);
  // Which is written directly.
  static OutputFile standardOutput();
  OutputFile(OutputFile &&) = default;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  Status write(std::span<const std::byte> bytes);
  Status write(std::span<const uint8_t> bytes) { return write(std::as_bytes(bytes)); }
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text.data(), text.size()))); }
  // So many zeros, which take no room on disks that have holes.
  Status writeZeros(uint64_t count);
  Status commit();

private:
  OutputFile(std::string path) : path(std::move(path)), target(this->path) {}
  // Makes the new file; gives an errno.
  int create();
  // Puts it where it is to be; gives an errno.
  int name();
  Status failed(int error) const;

  std::string path;      // as the user wrote it, for messages; empty for standard output
  std::string target;    // where the file is to be; links resolved
  std::string temporary; // where it is until then; empty where it has no name, or `target` is written itself
  FileDescriptor fd;
  std::optional<uint64_t> truncateTo; // the length before an append
  bool created = false;               // an append that made the file
  bool nameless = false;
};

// Writes the parts, one after the other, as the new contents of `path`, as OutputFile does.
Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> parts);
Status writeFile(const std::string &path, std::span<const std::byte> bytes);
Status writeFile(const std::string &path, std::string_view text);

// Whether two paths name one file; not where one of them does not exist.
bool isSameFile(const std::string &path, const std::string &other);

// Writes all of it to an open file, such as standard output; `name` is for messages.
Status writeAll(int file, std::string_view name, std::span<const std::byte> bytes);

} // namespace kiln

#endif // KILN_BASE_FILE_H
