// Who may write a store: one process at a time. The kernel lets go of the lock when its holder dies, however it dies.
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
