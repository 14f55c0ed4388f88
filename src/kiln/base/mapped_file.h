// A file of any size as bytes in memory, of which the system reads what is looked at.
#ifndef KILN_BASE_MAPPED_FILE_H
#define KILN_BASE_MAPPED_FILE_H

#include "kiln/base/status.h"
#include "kiln/base/watched_pages.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace kiln {

// Read-only, for as long as this lives. The file is not to change meanwhile: what is cut off of it reads as zeros where
// `installPageLossHandler` was called, and `isWhole` is false from then on.
class MappedFile {
public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte *>(data), length}; }
  bool isWhole() const { return !watched || !watched->lost(); }

private:
  MappedFile() = default;

  void *data = nullptr;
  size_t length = 0;
  std::unique_ptr<WatchedPages> watched; // none of an empty file
};

} // namespace kiln

#endif // KILN_BASE_MAPPED_FILE_H
