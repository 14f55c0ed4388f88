// Writes .irpa files.
#ifndef KILN_SCHEMA_PARAMETERS_IRPA_WRITER_H
#define KILN_SCHEMA_PARAMETERS_IRPA_WRITER_H

#include "kiln/base/status.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kiln {

// One parameter that is to be written.
struct ParameterContents {
  std::string key;
  uint64_t length = 0; // in bytes
  // What is repeated: 1, 2, 4, 8 or 16 bytes. With `isStored` it is written as often as it fits, and zeros take no room
  // on disk; otherwise the archive has it once, and programs get as many of it.
  std::vector<std::byte> pattern = {};
  bool isStored = true;
  // Instead of a pattern: the bytes.
  std::span<const std::byte> bytes = {};
  std::string metadata = {};
};

struct ArchiveLayout {
  uint64_t alignment = 64; // of the data of each, in the file; a power of two
};

// Splats first, then the others in their order. The file is there when all of it is written, and not before. Told,
// where it is given, how many bytes of data have been written, now and then.
Status writeIrpa(const std::string &path, std::span<const ParameterContents> parameters, ArchiveLayout layout = {},
                 const std::function<Status(uint64_t)> &progress = nullptr);

} // namespace kiln

#endif // KILN_SCHEMA_PARAMETERS_IRPA_WRITER_H
