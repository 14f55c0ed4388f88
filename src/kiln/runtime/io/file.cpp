#include "kiln/runtime/io/file.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/base/write_error.h"

namespace kiln::io {

Result<InputFile> InputFile::open(std::string path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd)
    return errnoStatus(errno, fmt::format("cannot open '{}'", path));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0)
    return errnoStatus(errno, fmt::format("cannot read '{}'", path));
  if (S_ISDIR(info.st_mode))
    return errnoStatus(EISDIR, fmt::format("cannot read '{}'", path));
  InputFile file(std::move(fd), std::move(path));
  if (S_ISREG(info.st_mode))
    file.size = info.st_size;
  return file;
}

Result<uint64_t> InputFile::readSome(std::span<uint8_t> bytes) {
  uint64_t done = 0;
  if (ahead && !bytes.empty()) {
    bytes[done++] = *ahead;
    ahead.reset();
  }
  while (done < bytes.size()) {
    ssize_t count = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errnoStatus(errno, fmt::format("cannot read '{}'", name));
    if (count == 0)
      break;
    done += count;
  }
  position += done;
  return done;
}

Status InputFile::read(std::span<uint8_t> bytes) {
  uint64_t start = position;
  KILN_ASSIGN_OR_RETURN(uint64_t count, readSome(bytes));
  if (count == bytes.size())
    return okStatus();
  return dataLoss("'{}' ends early: {} bytes are needed from byte {} on, and {} are there", name, bytes.size(), start,
                  count);
}

std::optional<uint64_t> InputFile::remaining() const {
  if (!size)
    return std::nullopt;
  return *size > position ? *size - position : 0;
}

Result<bool> InputFile::atEnd() {
  if (ahead)
    return false;
  uint8_t byte;
  KILN_ASSIGN_OR_RETURN(uint64_t count, readSome({&byte, 1}));
  if (count == 0)
    return true;
  ahead = byte;
  --position;
  return false;
}

Result<OutputFile> OutputFile::open(std::string path, Mode mode) {
  OutputFile file(std::move(path));
  file.target = file.path;
  struct stat info;
  bool exists = ::stat(file.path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return errnoStatus(EISDIR, fmt::format("cannot write '{}'", file.path));
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

  // The link stays a link, and what it points to is replaced.
  if (exists)
    if (char *resolved = ::realpath(file.path.c_str(), nullptr)) {
      file.target = resolved;
      std::free(resolved);
    }
  // The same folder, since a rename cannot leave a file system. O_EXCL finds a free name; a thousand left-over files of
  // this process's id are not to be expected.
  for (unsigned attempt = 0; !file.fd; ++attempt) {
    file.temporary = fmt::format("{}.{}-{}.tmp", file.target, ::getpid(), attempt);
    file.fd = FileDescriptor(::open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.fd)
      break;
    int error = errno;
    if (error != EEXIST || attempt == 1000) {
      file.temporary.clear();
      return file.failed(error);
    }
  }
  if (exists)
    (void)::fchmod(file.fd.get(), info.st_mode & 07777); // best effort: the owner may be another
  return file;
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
  return writeError(error, path);
}

Status OutputFile::write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failed(errno);
    bytes = bytes.subspan(count);
  }
  return okStatus();
}

Status OutputFile::commit() {
  // Cutting an append off again needs the descriptor, so a failure of close is found on a duplicate first.
  FileDescriptor duplicate(::dup(fd.get()));
  if (!duplicate)
    return failed(errno);
  if (int error = duplicate.close())
    return failed(error);
  if (!temporary.empty() && ::rename(temporary.c_str(), target.c_str()) != 0)
    return failed(errno);
  (void)fd.close();
  return okStatus();
}

} // namespace kiln::io
