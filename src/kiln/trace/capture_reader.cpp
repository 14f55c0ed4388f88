#include "kiln/trace/capture_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::trace {

namespace capture = schema::capture;

static Result<size_t> readSome(int file, uint64_t offset, std::span<std::byte> into) {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::pread(file, into.data() + done, into.size() - done, off_t(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errnoStatus(errno, "cannot read the capture");
    if (count == 0)
      break;
    done += size_t(count);
  }
  return done;
}

// Copies whole records; what is left over at the end is none.
template <typename T> static std::vector<T> recordsOf(std::span<const std::byte> data) {
  std::vector<T> records(data.size() / sizeof(T));
  if (!records.empty())
    std::memcpy(records.data(), data.data(), records.size() * sizeof(T));
  return records;
}

//===--- Blocks ---------------------------------------------------------------------------------------------------===//

// Whether there is a whole block.
Result<bool> BlockReader::readAt(uint64_t offset, Block &block) {
  if (size - offset < sizeof(capture::BlockHeader))
    return false;
  buffer.resize(sizeof(capture::BlockHeader));
  KILN_ASSIGN_OR_RETURN(size_t count, readSome(file, offset, buffer));
  if (count != buffer.size())
    return false;
  std::memcpy(&block.header, buffer.data(), sizeof(block.header));
  if (block.header.magic != capture::kBlockMagic || block.header.byteCount > capture::kMaxBlockBytes ||
      size - offset - sizeof(block.header) < block.header.byteCount)
    return false;
  buffer.resize(sizeof(block.header) + block.header.byteCount);
  KILN_ASSIGN_OR_RETURN(count,
                        readSome(file, offset + sizeof(block.header), std::span(buffer).subspan(sizeof(block.header))));
  if (count != block.header.byteCount)
    return false;
  capture::BlockHeader unsummed = block.header;
  unsummed.checksum = 0;
  std::memcpy(buffer.data(), &unsummed, sizeof(unsummed));
  if (XXH3_64bits(buffer.data(), buffer.size()) != block.header.checksum)
    return false;
  block.data = std::span(buffer).subspan(sizeof(block.header));
  return true;
}

// Where the next block may begin.
Result<uint64_t> BlockReader::findBlock(uint64_t from) {
  std::byte magic[sizeof(capture::kBlockMagic)];
  std::memcpy(magic, &capture::kBlockMagic, sizeof(magic));
  std::vector<std::byte> window(size_t(1) << 16);
  for (uint64_t offset = from; offset < size;) {
    KILN_ASSIGN_OR_RETURN(size_t count, readSome(file, offset, window));
    if (count < sizeof(magic))
      break;
    auto end = window.begin() + ptrdiff_t(count);
    if (auto hit = std::search(window.begin(), end, std::begin(magic), std::end(magic)); hit != end)
      return offset + uint64_t(hit - window.begin());
    offset += count - (sizeof(magic) - 1);
  }
  return size;
}

Result<bool> BlockReader::next(Block &block) {
  const uint64_t begin = at;
  while (at < size) {
    KILN_ASSIGN_OR_RETURN(bool isBlock, readAt(at, block));
    if (isBlock)
      break;
    KILN_ASSIGN_OR_RETURN(at, findBlock(at + 1));
  }
  if (at != begin) {
    if (found.places++ == 0)
      found.firstPlace = begin;
    found.bytes += at - begin;
  }
  if (at >= size)
    return false;
  at += sizeof(block.header) + block.header.byteCount;
  if (block.header.sequence > expected)
    found.blocks += block.header.sequence - expected;
  expected = block.header.sequence + 1;
  return true;
}

//===--- Captures -------------------------------------------------------------------------------------------------===//

Result<Capture> Capture::open(const std::string &path) {
  Capture result;
  result.fileName = path;
  result.file = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!result.file || ::fstat(result.file.get(), &info) != 0)
    return errnoStatus(errno, fmt::format("cannot open '{}'", path));
  if (!S_ISREG(info.st_mode))
    return invalidArgument("'{}' is no file", path);
  result.size = uint64_t(info.st_size);
  capture::FileHeader &header = result.fileHeader;
  KILN_ASSIGN_OR_RETURN(size_t count, readSome(result.file.get(), 0, std::as_writable_bytes(std::span(&header, 1))));
  if (count != sizeof(header) || std::memcmp(header.magic, capture::kMagic, sizeof(header.magic)) != 0)
    return invalidArgument("'{}' is no capture: record one with --trace=FILE, or KILN_TRACE=FILE", path);
  if (header.version != capture::kVersion)
    return invalidArgument("'{}' is a capture of version {}; this kiln-profile reads version {}", path, header.version,
                           capture::kVersion);

  BlockReader reader(result.file.get(), result.size, sizeof(header));
  BlockReader::Block block;
  for (;;) {
    KILN_ASSIGN_OR_RETURN(bool more, reader.next(block));
    if (!more)
      break;
    CapturedLane *lane = nullptr;
    switch (block.header.kind) {
    case capture::BlockKind::Definitions: result.define(block.data); break;
    case capture::BlockKind::Events:
      lane = &result.laneTable[block.header.lane];
      lane->events += block.data.size() / sizeof(capture::Event);
      result.events += block.data.size() / sizeof(capture::Event);
      break;
    case capture::BlockKind::ClockSamples: result.addSamples(block.data); break;
    case capture::BlockKind::Losses:
      for (const capture::Loss &loss : recordsOf<capture::Loss>(block.data)) {
        result.laneTable[loss.lane].lost += loss.count;
        result.lost += loss.count;
      }
      break;
    case capture::BlockKind::OpenZones:
      result.laneTable[block.header.lane].open = recordsOf<capture::OpenZone>(block.data);
      break;
    case capture::BlockKind::End: result.complete = true; break;
    }
  }
  result.found = reader.damage();
  for (auto &[number, clock] : result.clockTable) {
    if (clock.isMonotonic)
      continue;
    Result<ClockFit> fit = ClockFit::of(clock.samples);
    if (fit.ok())
      clock.fit = *fit;
    else
      clock.fault = fit.status().message();
  }
  return result;
}

void Capture::define(std::span<const std::byte> data) {
  while (data.size() >= sizeof(capture::Definition)) {
    capture::Definition definition;
    std::memcpy(&definition, data.data(), sizeof(definition));
    data = data.subspan(sizeof(definition));
    if (definition.byteCount > data.size())
      return;
    std::string text(reinterpret_cast<const char *>(data.data()), definition.byteCount);
    data = data.subspan(std::min<size_t>(data.size(), (size_t(definition.byteCount) + 7) / 8 * 8));
    switch (definition.kind) {
    case capture::DefinitionKind::Name: names[definition.number] = std::move(text); break;
    case capture::DefinitionKind::Facts: facts[definition.number] = std::move(text); break;
    case capture::DefinitionKind::Clock:
      clockTable[definition.number].name = std::move(text);
      clockTable[definition.number].isMonotonic = definition.a != 0;
      break;
    case capture::DefinitionKind::Lane: {
      CapturedLane &lane = laneTable[definition.number];
      lane.kind = capture::LaneKind(definition.a);
      lane.clock = definition.b;
      lane.name = std::move(text);
      break;
    }
    }
  }
}

void Capture::addSamples(std::span<const std::byte> data) {
  for (const capture::ClockReading &reading : recordsOf<capture::ClockReading>(data))
    clockTable[reading.clock].samples.push_back({reading.before, reading.ticks, reading.after});
}

std::string Capture::nameOf(uint32_t number) const {
  auto found = names.find(number);
  return found == names.end() ? fmt::format("(name {} is missing)", number) : found->second;
}

std::string_view Capture::factsOf(uint32_t name) const {
  auto found = facts.find(name);
  return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

double Capture::toNanoseconds(const CapturedLane &lane, uint64_t ticks) const {
  auto found = clockTable.find(lane.clock);
  const bool isFitted = found != clockTable.end() && !found->second.isMonotonic && found->second.fault.empty();
  const uint64_t host = isFitted ? found->second.fit.toHost(ticks) : ticks;
  return double(int64_t(host - fileHeader.startedNanoseconds));
}

Status Capture::forEach(const std::function<void(uint32_t, std::span<const capture::Event>)> &visit) const {
  BlockReader reader(file.get(), size, sizeof(fileHeader));
  BlockReader::Block block;
  for (;;) {
    KILN_ASSIGN_OR_RETURN(bool more, reader.next(block));
    if (!more)
      return okStatus();
    // A file that is written meanwhile may have others by now.
    if (block.header.kind == capture::BlockKind::Events && laneTable.contains(block.header.lane))
      visit(block.header.lane, recordsOf<capture::Event>(block.data));
  }
}

} // namespace kiln::trace
