// Little-endian numbers and ranges of a file, none of which is beyond its end.
#ifndef KILN_SCHEMA_PARAMETERS_BYTE_READER_H
#define KILN_SCHEMA_PARAMETERS_BYTE_READER_H

#include "kiln/base/status.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace kiln {

// The part [offset, offset + length) of the bytes, or DataLoss that names `what`.
inline Result<std::span<const std::byte>> rangeOf(std::span<const std::byte> bytes, uint64_t offset, uint64_t length,
                                                  std::string_view what) {
  if (offset > bytes.size() || length > bytes.size() - offset)
    return dataLoss("{} lies at {} and has {} bytes, but there are only {} bytes", what, offset, length, bytes.size());
  return bytes.subspan(offset, length);
}

// Reads one thing behind the other.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes, uint64_t position = 0) : bytes(bytes), at(position) {}

  uint64_t position() const { return at; }
  uint64_t remaining() const { return at < bytes.size() ? bytes.size() - at : 0; }

  template <typename T> Result<T> number(std::string_view what) {
    KILN_ASSIGN_OR_RETURN(std::span<const std::byte> from, take(sizeof(T), what));
    T value;
    std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  Result<std::span<const std::byte>> take(uint64_t length, std::string_view what) {
    KILN_ASSIGN_OR_RETURN(std::span<const std::byte> part, rangeOf(bytes, at, length, what));
    at += length;
    return part;
  }

private:
  std::span<const std::byte> bytes;
  uint64_t at;
};

inline std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace kiln

#endif // KILN_SCHEMA_PARAMETERS_BYTE_READER_H
