#include "kiln/compiler/Codegen/MemoryFile.h"

#include "kiln/base/exhaustion.h"

#include <cerrno>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace kiln {

static llvm::Error systemError(const char *what, const char *name) {
  std::error_code error(errno, std::generic_category());
  return llvm::createStringError(error, "cannot %s the file '%s' in memory: %s%s", what, name, error.message().c_str(),
                                 exhaustionAdvice(error.value()));
}

llvm::Expected<MemoryFile> MemoryFile::create(const char *name, llvm::StringRef bytes) {
  MemoryFile file(FileDescriptor(memfd_create(name, MFD_CLOEXEC)));
  if (!file.descriptor)
    return systemError("make", name);
  while (!bytes.empty()) {
    ssize_t count = ::write(file.descriptor.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return systemError("write", name);
    bytes = bytes.drop_front(count);
  }
  return file;
}

std::string MemoryFile::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor.get());
}

llvm::Expected<llvm::SmallString<0>> MemoryFile::read() const {
  llvm::SmallString<0> bytes;
  char block[65536];
  for (;;) {
    ssize_t count = pread(descriptor.get(), block, sizeof(block), static_cast<off_t>(bytes.size()));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError("read", path().c_str());
    if (count == 0)
      return bytes;
    bytes.append(block, block + count);
  }
}

} // namespace kiln
