// The lock of a store, which one process at a time may write. The kernel releases it when that process ends, however it
// ends.
#ifndef KILN_STORE_LOCK_H
#define KILN_STORE_LOCK_H

#include <string>
#include <utility>

#include "kiln/base/status.h"

namespace kiln::store {

class FileLock {
public:
  // Makes the file where there is none, and waits. Unavailable, with the holder's process number, where the wait ends.
  static Result<FileLock> acquire(const std::string &path, int waitMilliseconds);
  FileLock(FileLock &&other) noexcept : file(std::exchange(other.file, -1)) {}
  FileLock &operator=(FileLock &&) = delete;
  ~FileLock();

private:
  explicit FileLock(int file) : file(file) {}
  int file;
};

} // namespace kiln::store

#endif // KILN_STORE_LOCK_H
