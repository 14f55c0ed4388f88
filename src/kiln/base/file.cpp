#include "kiln/base/file.h"

#include "kiln/base/exhaustion.h"
#include "kiln/base/write_error.h"

#include <algorithm>
#include <array>
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
  return resourceExhausted("cannot read '{}': out of memory after {} bytes{}", name, length, kMoreMemory);
}

// 0, or an errno.
static int writeBytes(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(file, bytes.data(), std::min(bytes.size(), kMaxTransfer));
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return errno;
    }
    bytes = bytes.subspan(size_t(count));
  }
  return 0;
}

Status writeAll(int file, std::string_view name, std::span<const std::byte> bytes) {
  if (int error = writeBytes(file, bytes))
    return errnoStatus(error, fmt::format("cannot write '{}'", name));
  return okStatus();
}

Result<OutputFile> OutputFile::open(std::string path, Mode mode) {
  OutputFile file(std::move(path));
  struct stat info;
  bool exists = ::stat(file.path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return file.failed(EISDIR);
  bool regular = !exists || S_ISREG(info.st_mode);

  if (!regular || mode == Mode::Append) {
    int create = exists ? 0 : O_CREAT | O_EXCL;
    file.fd = FileDescriptor(::open(file.path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | create, 0666));
    if (!file.fd)
      return file.failed(errno);
    file.created = !exists;
    if (exists && regular)
      file.truncateTo = info.st_size;
    return file;
  }
  // Replacing a file needs no right to write it; whoever write-protected it wants to keep it.
  if (exists && ::access(file.path.c_str(), W_OK) != 0)
    return file.failed(errno);
  // The link stays a link, and what it points to is replaced.
  if (exists)
    if (char *resolved = ::realpath(file.path.c_str(), nullptr)) {
      file.target = resolved;
      std::free(resolved);
    }
  if (int error = file.create())
    return file.failed(error);
  if (exists)
    (void)::fchmod(file.fd.get(), info.st_mode & 07777); // best effort: not every file system has modes
  return file;
}

OutputFile OutputFile::standardOutput() {
  OutputFile file("");
  file.fd = FileDescriptor(::dup(STDOUT_FILENO));
  return file;
}

// A name beside `target`, in the same folder since a rename cannot leave a file system, with which `make` succeeds. A
// thousand left-over files of this process's id are not to be expected.
template <typename Make> static int findFreeName(const std::string &target, std::string &name, const Make &make) {
  for (unsigned attempt = 0;; ++attempt) {
    name = fmt::format("{}.{}-{}.tmp", target, ::getpid(), attempt);
    if (make(name.c_str()))
      return 0;
    int error = errno;
    if (error != EEXIST || attempt == 1000) {
      name.clear();
      return error;
    }
  }
}

// Of an open file, which gives it a name.
static std::string linkOf(const FileDescriptor &fd) {
  return fmt::format("/proc/self/fd/{}", fd.get());
}

int OutputFile::create() {
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  fd = FileDescriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  nameless = fd && ::access(linkOf(fd).c_str(), F_OK) == 0;
  if (nameless)
    return 0;
  return findFreeName(target, temporary, [&](const char *name) {
    fd = FileDescriptor(::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    return bool(fd);
  });
}

int OutputFile::name() {
  if (nameless) {
    auto link = [&](const char *name) {
      return ::linkat(AT_FDCWD, linkOf(fd).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    };
    if (link(target.c_str()))
      return 0;
    if (errno != EEXIST)
      return errno;
    if (int error = findFreeName(target, temporary, link))
      return error;
  }
  return temporary.empty() || ::rename(temporary.c_str(), target.c_str()) == 0 ? 0 : errno;
}

OutputFile::~OutputFile() {
  if (!fd)
    return;
  if (!temporary.empty())
    ::unlink(temporary.c_str());
  else if (created)
    ::unlink(target.c_str());
  else if (truncateTo && ::ftruncate(fd.get(), *truncateTo) != 0)
    return; // nothing left to try
}

Status OutputFile::failed(int error) const {
  return path.empty() ? errnoStatus(error, "cannot write to standard output") : writeError(error, path);
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  int error = writeBytes(fd.get(), bytes);
  return error ? failed(error) : okStatus();
}

Status OutputFile::writeZeros(uint64_t count) {
  // A new file is as long as it is told to be; all others are written.
  if (nameless || !temporary.empty()) {
    off_t end = ::lseek(fd.get(), 0, SEEK_CUR);
    if (end < 0 || __builtin_add_overflow(end, count, &end))
      return failed(EFBIG);
    if (::ftruncate(fd.get(), end) != 0 || ::lseek(fd.get(), end, SEEK_SET) < 0)
      return failed(errno);
    return okStatus();
  }
  static constexpr std::array<std::byte, 4096> zeros = {};
  for (; count > 0; count -= std::min<uint64_t>(count, zeros.size()))
    KILN_RETURN_IF_ERROR(write(std::span<const std::byte>(zeros).first(std::min<uint64_t>(count, zeros.size()))));
  return okStatus();
}

Status OutputFile::commit() {
  // What has no name yet, and an append that may be cut off again, need the descriptor: a failure of close is found on
  // a duplicate first.
  FileDescriptor duplicate(::dup(fd.get()));
  if (!duplicate)
    return failed(errno);
  if (int error = duplicate.close())
    return failed(error);
  if (int error = name())
    return failed(error);
  (void)fd.close();
  return okStatus();
}

Status writeFile(const std::string &path, std::span<const std::span<const std::byte>> parts) {
  KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(path));
  for (std::span<const std::byte> part : parts)
    KILN_RETURN_IF_ERROR(file.write(part));
  return file.commit();
}

Status writeFile(const std::string &path, std::span<const std::byte> bytes) {
  return writeFile(path, std::span<const std::span<const std::byte>>(&bytes, 1));
}

Status writeFile(const std::string &path, std::string_view text) {
  return writeFile(path, std::as_bytes(std::span<const char>(text.data(), text.size())));
}

bool isSameFile(const std::string &path, const std::string &other) {
  struct stat info, otherInfo;
  return ::stat(path.c_str(), &info) == 0 && ::stat(other.c_str(), &otherInfo) == 0 &&
         info.st_dev == otherInfo.st_dev && info.st_ino == otherInfo.st_ino;
}

} // namespace kiln
