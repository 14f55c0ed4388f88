#include "kiln/trace/capture_writer.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::trace {

namespace capture = schema::capture;

void BlockWriter::write(std::span<const std::byte> data) {
  while (!data.empty() && failure.ok()) {
    const ssize_t count = ::write(file.get(), data.data(), data.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      failure = errnoStatus(count < 0 ? errno : ENOSPC, "cannot go on with the recording");
      return;
    }
    bytes += uint64_t(count);
    data = data.subspan(size_t(count));
  }
}

void BlockWriter::writeBlock(capture::BlockKind kind, uint32_t lane, std::span<const std::byte> data) {
  capture::BlockHeader header{capture::kBlockMagic, kind, lane, uint32_t(data.size()), sequence++, 0};
  buffer.resize(sizeof(header) + data.size());
  std::memcpy(buffer.data(), &header, sizeof(header));
  if (!data.empty())
    std::memcpy(buffer.data() + sizeof(header), data.data(), data.size());
  header.checksum = XXH3_64bits(buffer.data(), buffer.size());
  std::memcpy(buffer.data(), &header, sizeof(header));
  write(buffer);
}

void Definitions::add(capture::DefinitionKind kind, uint32_t number, uint32_t a, uint32_t b, std::string_view text) {
  // What is longer than that is no name.
  text = text.substr(0, capture::kMaxBlockBytes / 4);
  const size_t padded = (text.size() + 7) / 8 * 8;
  if (blocks.empty() || blocks.back().size() + sizeof(capture::Definition) + padded > capture::kMaxBlockBytes)
    blocks.emplace_back();
  std::vector<std::byte> &data = blocks.back();
  const capture::Definition definition{kind, number, a, b, uint32_t(text.size()), 0};
  const size_t at = data.size();
  data.resize(at + sizeof(definition) + padded);
  std::memcpy(data.data() + at, &definition, sizeof(definition));
  std::memcpy(data.data() + at + sizeof(definition), text.data(), text.size());
}

void Definitions::write(BlockWriter &writer) const {
  for (const std::vector<std::byte> &data : blocks)
    writer.writeBlock(capture::BlockKind::Definitions, 0, data);
}

} // namespace kiln::trace
