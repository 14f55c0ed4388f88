// Owns a file descriptor.
#ifndef KILN_BASE_FILE_DESCRIPTOR_H
#define KILN_BASE_FILE_DESCRIPTOR_H

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace kiln {

class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd(fd) {}
  FileDescriptor(FileDescriptor &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~FileDescriptor() { (void)close(); }

  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }
  // The caller closes it.
  int leak() { return std::exchange(fd, -1); }
  // 0, or the errno of close: where a network file system reports a full disk.
  int close() {
    if (fd < 0)
      return 0;
    return ::close(std::exchange(fd, -1)) == 0 ? 0 : errno;
  }

private:
  int fd = -1;
};

} // namespace kiln

#endif // KILN_BASE_FILE_DESCRIPTOR_H
