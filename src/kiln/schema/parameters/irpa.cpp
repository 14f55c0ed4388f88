#include "kiln/schema/parameters/irpa.h"

#include "kiln/schema/parameters/byte_reader.h"
#include "kiln/schema/parameters/parameter_file.h"

namespace kiln {

using namespace irpa;

namespace {

// One archive of the file, which starts with its header.
class ArchiveReader {
public:
  ArchiveReader(std::span<const std::byte> bytes, uint64_t start) : bytes(bytes), start(start) {}

  Status read(std::vector<Parameter> &into) {
    KILN_ASSIGN_OR_RETURN(auto entries, rangeOf(bytes, header.entries.offset, header.entries.length, "its table"));
    KILN_ASSIGN_OR_RETURN(names, rangeOf(bytes, header.names.offset, header.names.length, "its segment of names"));
    KILN_ASSIGN_OR_RETURN(data, rangeOf(bytes, header.data.offset, header.data.length, "its segment of data"));
    uint64_t at = 0;
    for (uint64_t i = 0; i < header.entryCount; ++i) {
      const std::string what = fmt::format("entry {} of {}", i + 1, header.entryCount);
      KILN_ASSIGN_OR_RETURN(auto entry, ByteReader(entries, at).number<Entry>(what));
      if (entry.bytes < sizeof(Entry))
        return dataLoss("{} says that it has {} bytes, and has {} at least", what, entry.bytes, sizeof(Entry));
      KILN_ASSIGN_OR_RETURN(auto whole, rangeOf(entries, at, entry.bytes, what));
      Status status = readEntry(whole, entry, into);
      if (!status.ok())
        return std::move(status).withContext(what);
      at = (at + entry.bytes + kEntryAlignment - 1) / kEntryAlignment * kEntryAlignment;
    }
    return okStatus();
  }

  // Where the next archive starts in the file; 0 behind the last one.
  Result<uint64_t> readHeader() {
    // Versions to come may have another header behind the first fields, but have these.
    KILN_ASSIGN_OR_RETURN(header, ByteReader(bytes).number<Header>("the header of the archive"));
    if (textOf(std::as_bytes(std::span(header.magic))) != kIrpaMagic)
      return dataLoss("at {} there is no archive, which starts with IRPA", start);
    if (header.major != 0)
      return unimplemented("the archive is of version {}.{}; version 0 is known", header.major, header.minor);
    if (header.nextHeader == 0)
      return 0;
    if (header.nextHeader % kHeaderAlignment != 0 || header.nextHeader >= bytes.size())
      return dataLoss("the next archive is said to start {} bytes behind the one at {}", header.nextHeader, start);
    return start + header.nextHeader;
  }

private:
  Status readEntry(std::span<const std::byte> whole, const Entry &entry, std::vector<Parameter> &into) {
    if (entry.type == EntryType::Skip)
      return okStatus();
    Parameter parameter;
    KILN_ASSIGN_OR_RETURN(auto name, rangeOf(names, entry.name.offset, entry.name.length, "its name"));
    KILN_ASSIGN_OR_RETURN(auto metadata, rangeOf(names, entry.metadata.offset, entry.metadata.length, "its metadata"));
    parameter.key = textOf(name);
    parameter.metadata = textOf(metadata);
    if (entry.type == EntryType::Splat) {
      KILN_ASSIGN_OR_RETURN(auto splat, ByteReader(whole).number<SplatEntry>("it"));
      const uint64_t width = splat.patternLength;
      if (width == 0 || width > sizeof(splat.pattern) || (width & (width - 1)) != 0 || splat.length % width != 0)
        return dataLoss("'{}' repeats {} bytes to fill {}; 1, 2, 4, 8 or 16 bytes that divide the length can be "
                        "repeated",
                        parameter.key, width, splat.length);
      parameter.length = splat.length;
      auto pattern = std::as_bytes(std::span(splat.pattern)).first(width);
      parameter.splat.assign(pattern.begin(), pattern.end());
    } else if (entry.type == EntryType::Data) {
      KILN_ASSIGN_OR_RETURN(auto stored, ByteReader(whole).number<DataEntry>("it"));
      KILN_ASSIGN_OR_RETURN(auto range, rangeOf(data, stored.data.offset, stored.data.length,
                                                fmt::format("the data of '{}'", parameter.key)));
      parameter.length = range.size();
      parameter.offset = start + uint64_t(range.data() - bytes.data());
    } else if (entry.type == EntryType::External) {
      return unimplemented("'{}' is in another file; kiln-convert-parameters of that file makes one archive of all",
                           parameter.key);
    } else {
      return unimplemented("'{}' is of type {}, which is not known", parameter.key, uint32_t(entry.type));
    }
    into.push_back(std::move(parameter));
    return okStatus();
  }

  std::span<const std::byte> bytes; // of the file, from the header on
  uint64_t start;                   // of the header in the file
  Header header = {};
  std::span<const std::byte> names, data;
};

} // namespace

Result<std::vector<Parameter>> readIrpa(std::span<const std::byte> file) {
  std::vector<Parameter> parameters;
  uint64_t start = 0;
  do {
    ArchiveReader archive(file.subspan(start), start);
    // Always behind this one, so that the chain ends.
    KILN_ASSIGN_OR_RETURN(uint64_t next, archive.readHeader());
    KILN_RETURN_IF_ERROR(archive.read(parameters));
    start = next;
  } while (start != 0);
  return parameters;
}

} // namespace kiln
