// Whole files: read into memory, written so that no half-written file is ever seen.
#ifndef KILN_BASE_FILE_H
#define KILN_BASE_FILE_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"

#include <cstddef>
#include <cstdint>
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

// Writes the parts, one after the other, as the new contents of `path`. They appear at once, under that name, when all
// is written; on failure an older file of that name stays as it was, and nothing new stays behind. What is not a
// regular file (a pipe, /dev/null) is written directly. A symbolic link is followed.
Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> parts);
Status writeFile(const std::string &path, std::span<const std::byte> bytes);
Status writeFile(const std::string &path, std::string_view text);

// Writes all of it to an open file, such as standard output; `name` is for messages.
Status writeAll(int file, std::string_view name, std::span<const std::byte> bytes);

} // namespace kiln

#endif // KILN_BASE_FILE_H
