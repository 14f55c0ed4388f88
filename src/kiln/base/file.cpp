#include "kiln/base/file.h"

#include "kiln/base/clock.h"
#include "kiln/base/file_descriptor.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln {

namespace {

// The kernel refuses to transfer more at once.
constexpr size_t kMaxTransfer = size_t(1) << 30;

} // namespace

FileContents::~FileContents() {
  std::free(data);
}

Result<Ref<FileContents>> FileContents::open(const std::string &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return errnoStatus(errno, fmt::format("cannot open '{}'", path));
  struct stat info;
  if (fstat(file.get(), &info) != 0)
    return errnoStatus(errno, fmt::format("cannot read '{}'", path));
  if (S_ISDIR(info.st_mode))
    return errnoStatus(EISDIR, fmt::format("cannot read '{}'", path));
  return read(file.get(), path, S_ISREG(info.st_mode) ? size_t(info.st_size) : 0);
}

Result<Ref<FileContents>> FileContents::read(int file, std::string_view name) {
  return read(file, name, 0);
}

// Reads to the end, whatever size was expected: files of /proc say that they are empty and are not, and others grow.
Result<Ref<FileContents>> FileContents::read(int file, std::string_view name, size_t expected) {
  // With room for one byte more, the end is found without more memory.
  size_t length = 0, capacity = std::max<size_t>(expected + 1, 64 * 1024);
  char *data = static_cast<char *>(std::malloc(capacity));
  while (data) {
    ssize_t count = ::read(file, data + length, std::min(capacity - length, kMaxTransfer));
    if (count == 0)
      return Ref<FileContents>::adopt(new FileContents(data, length));
    if (count < 0) {
      if (errno == EINTR)
        continue;
      int error = errno;
      std::free(data);
      return errnoStatus(error, fmt::format("cannot read '{}'", name));
    }
    length += size_t(count);
    if (length == capacity) {
      capacity *= 2;
      char *larger = static_cast<char *>(std::realloc(data, capacity));
      if (!larger)
        std::free(data);
      data = larger;
    }
  }
  return resourceExhausted("cannot read '{}': out of memory after {} bytes", name, length);
}

Status writeAll(int file, std::string_view name, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(file, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return errnoStatus(errno, fmt::format("cannot write '{}'", name));
    }
    bytes = bytes.subspan(size_t(count));
  }
  return okStatus();
}

// Writes the parts and closes the file, so that every error of the disk is seen.
static Status writeAndClose(FileDescriptor &file, const std::string &path,
                            std::span<const std::span<const std::byte>> parts) {
  for (std::span<const std::byte> part : parts)
    KILN_RETURN_IF_ERROR(writeAll(file.get(), path, part));
  if (int error = file.close())
    return errnoStatus(error, fmt::format("cannot write '{}'", path));
  return okStatus();
}

Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> parts) {
  // The new file is made beside the final one: a rename works only inside a file system.
  std::string target = path;
  if (char *resolved = realpath(path.c_str(), nullptr)) {
    target = resolved;
    std::free(resolved);
  }
  struct stat info;
  bool exists = stat(target.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    FileDescriptor file(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file)
      return errnoStatus(errno, fmt::format("cannot write '{}'", path));
    return writeAndClose(file, path, parts);
  }
  // Replacing a file needs no right to write it; whoever write-protected it wants to keep it.
  if (exists && access(target.c_str(), W_OK) != 0)
    return errnoStatus(errno, fmt::format("cannot write '{}'", path));

  std::string temporary;
  int descriptor = -1;
  for (int attempt = 0; descriptor < 0 && attempt < 100; ++attempt) {
    temporary = fmt::format("{}.{:x}.{:x}.tmp", target, uint32_t(getpid()), monotonicNanoseconds());
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST)
      break;
  }
  FileDescriptor file(descriptor);
  if (descriptor < 0)
    return errnoStatus(errno, fmt::format("cannot write '{}'", path));
  Status status = okStatus();
  if (exists && fchmod(descriptor, info.st_mode & 07777) != 0)
    status = errnoStatus(errno, fmt::format("cannot write '{}'", path));
  if (status.ok())
    status = writeAndClose(file, path, parts);
  if (status.ok() && rename(temporary.c_str(), target.c_str()) != 0)
    status = errnoStatus(errno, fmt::format("cannot write '{}'", path));
  if (!status.ok())
    unlink(temporary.c_str());
  return status;
}

Status writeFile(const std::string &path, std::span<const std::byte> bytes) {
  return writeFile(path, std::span<const std::span<const std::byte>>(&bytes, 1));
}

Status writeFile(const std::string &path, std::string_view text) {
  return writeFile(path, std::as_bytes(std::span<const char>(text.data(), text.size())));
}

} // namespace kiln
