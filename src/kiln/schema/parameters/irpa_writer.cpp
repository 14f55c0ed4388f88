#include "kiln/schema/parameters/irpa_writer.h"

#include "kiln/base/file.h"
#include "kiln/schema/parameters/irpa.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace kiln {

using namespace irpa;

namespace {

uint64_t roundUp(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

template <typename T> void append(std::vector<std::byte> &bytes, const T &value) {
  auto from = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), from.begin(), from.end());
}

Status check(std::span<const ParameterContents> parameters) {
  std::unordered_set<std::string_view> keys;
  for (const ParameterContents &parameter : parameters) {
    if (!keys.insert(parameter.key).second)
      return alreadyExists("the parameter '{}' is given twice", parameter.key);
    const uint64_t width = parameter.pattern.size();
    if (parameter.bytes.data() || parameter.length == 0)
      continue;
    if (width == 0 || width > 16 || (width & (width - 1)) != 0 || parameter.length % width != 0)
      return invalidArgument("'{}' of {} bytes cannot be filled with {} bytes", parameter.key, parameter.length, width);
  }
  return okStatus();
}

bool isZero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte(0); });
}

// Header, table and names, up to where data starts.
class Layout {
public:
  Layout(std::span<const ParameterContents> parameters, uint64_t alignment) {
    Header header = {};
    std::memcpy(header.magic, "IRPA", 4);
    header.headerBytes = sizeof(Header);
    header.entryCount = parameters.size();
    header.entries.offset = roundUp(sizeof(Header), kEntryAlignment);
    for (bool splats : {true, false})
      for (const ParameterContents &parameter : parameters)
        if (isSplat(parameter) == splats)
          addEntry(parameter, alignment);
    header.entries.length = entries.size();
    header.names = {header.entries.offset + entries.size(), names.size()};
    header.data = {roundUp(header.names.offset + names.size(), std::max(alignment, kDataAlignment)), dataBytes};
    append(head, header);
    head.resize(header.entries.offset);
    head.insert(head.end(), entries.begin(), entries.end());
    head.insert(head.end(), names.begin(), names.end());
    head.resize(header.data.offset);
  }

  static bool isSplat(const ParameterContents &parameter) { return !parameter.bytes.data() && !parameter.isStored; }

  std::vector<std::byte> head;
  uint64_t dataBytes = 0;

private:
  void addEntry(const ParameterContents &parameter, uint64_t alignment) {
    entries.resize(roundUp(entries.size(), kEntryAlignment));
    Entry entry = {};
    entry.name = addName(parameter.key);
    entry.metadata = addName(parameter.metadata);
    entry.alignment = alignment;
    if (isSplat(parameter)) {
      entry.bytes = sizeof(SplatEntry);
      entry.type = EntryType::Splat;
      SplatEntry splat = {entry, parameter.length, {}, uint8_t(std::max<size_t>(parameter.pattern.size(), 1))};
      std::memcpy(splat.pattern, parameter.pattern.data(), parameter.pattern.size());
      append(entries, splat);
    } else {
      entry.bytes = sizeof(DataEntry);
      entry.type = EntryType::Data;
      dataBytes = roundUp(dataBytes, alignment);
      append(entries, DataEntry{entry, {dataBytes, parameter.length}});
      dataBytes += parameter.length;
    }
  }

  Range addName(const std::string &name) {
    Range range = {name.empty() ? 0 : names.size(), name.size()};
    auto bytes = std::as_bytes(std::span(name));
    names.insert(names.end(), bytes.begin(), bytes.end());
    return range;
  }

  std::vector<std::byte> entries, names;
};

} // namespace

Status writeIrpa(const std::string &path, std::span<const ParameterContents> parameters, ArchiveLayout layout,
                 const std::function<Status(uint64_t)> &progress) {
  KILN_RETURN_IF_ERROR(check(parameters));
  constexpr uint64_t piece = uint64_t(1) << 24;
  const Layout made(parameters, layout.alignment);
  KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(path));
  KILN_RETURN_IF_ERROR(file.write(made.head));
  uint64_t at = 0;
  for (const ParameterContents &parameter : parameters) {
    if (Layout::isSplat(parameter))
      continue;
    KILN_RETURN_IF_ERROR(file.writeZeros(roundUp(at, layout.alignment) - at));
    at = roundUp(at, layout.alignment);
    std::vector<std::byte> filled;
    if (!parameter.bytes.data() && !isZero(parameter.pattern))
      while (filled.size() < std::min(piece, parameter.length))
        filled.insert(filled.end(), parameter.pattern.begin(), parameter.pattern.end());
    for (uint64_t done = 0; done < parameter.length;) {
      const uint64_t count = std::min(piece, parameter.length - done);
      if (parameter.bytes.data())
        KILN_RETURN_IF_ERROR(file.write(parameter.bytes.subspan(done, count)));
      else if (filled.empty())
        KILN_RETURN_IF_ERROR(file.writeZeros(count));
      else
        KILN_RETURN_IF_ERROR(file.write(std::span<const std::byte>(filled).first(count)));
      done += count;
      if (progress)
        KILN_RETURN_IF_ERROR(progress(at + done));
    }
    at += parameter.length;
  }
  // Whole pages can be mapped also where the system counts in them.
  const uint64_t total = made.head.size() + at;
  KILN_RETURN_IF_ERROR(file.writeZeros(roundUp(total, kFileAlignment) - total));
  return file.commit();
}

} // namespace kiln
