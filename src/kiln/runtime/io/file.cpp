#include "kiln/runtime/io/file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

} // namespace kiln::io
