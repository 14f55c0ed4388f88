#include "kiln/base/mapped_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/base/file_descriptor.h"

namespace kiln {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info = {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0)
    return errnoStatus(errno, fmt::format("cannot open '{}'", path));
  if (!S_ISREG(info.st_mode))
    return invalidArgument("'{}' is no file, and only files can be mapped", path);
  auto mapped = std::shared_ptr<MappedFile>(new MappedFile());
  if (info.st_size == 0)
    return std::shared_ptr<const MappedFile>(mapped);
  const auto length = static_cast<size_t>(info.st_size);
  void *data = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED)
    return errnoStatus(errno, fmt::format("cannot map '{}'", path));
  mapped->data = data, mapped->length = length;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  mapped->watched = std::make_unique<WatchedPages>(data, (length + page - 1) / page * page);
  return std::shared_ptr<const MappedFile>(mapped);
}

MappedFile::~MappedFile() {
  watched.reset();
  if (data)
    ::munmap(data, length);
}

} // namespace kiln
