// Writes the blocks of a capture (schema/capture.h).
#ifndef KILN_TRACE_CAPTURE_WRITER_H
#define KILN_TRACE_CAPTURE_WRITER_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/base/file_descriptor.h"
#include "kiln/base/status.h"
#include "kiln/schema/capture.h"

namespace kiln::trace {

// What has failed once writes nothing more.
class BlockWriter {
public:
  explicit BlockWriter(FileDescriptor file) : file(std::move(file)) {}

  void write(std::span<const std::byte> data);
  // With one call of the system, so that a process that is killed meanwhile leaves whole blocks as far as that allows.
  void writeBlock(schema::capture::BlockKind kind, uint32_t lane, std::span<const std::byte> data);
  template <typename T> void writeBlock(schema::capture::BlockKind kind, uint32_t lane, const std::vector<T> &data) {
    writeBlock(kind, lane, std::as_bytes(std::span(data)));
  }

  const Status &status() const { return failure; }
  uint64_t byteCount() const { return bytes; }

private:
  FileDescriptor file;
  Status failure;
  uint64_t bytes = 0, sequence = 0;
  std::vector<std::byte> buffer;
};

// Collected first, and written when no lock is held any more.
class Definitions {
public:
  void add(schema::capture::DefinitionKind kind, uint32_t number, uint32_t a, uint32_t b, std::string_view text);
  void write(BlockWriter &writer) const;

private:
  std::vector<std::vector<std::byte>> blocks;
};

} // namespace kiln::trace

#endif // KILN_TRACE_CAPTURE_WRITER_H
