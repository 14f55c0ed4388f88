// How .irpa files are laid out: archives, each a header, a table of entries, a segment of names and one of data.
// Numbers are little-endian and not aligned; offsets of segments are from the archive's header on.
#ifndef KILN_SCHEMA_PARAMETERS_IRPA_H
#define KILN_SCHEMA_PARAMETERS_IRPA_H

#include <cstdint>

namespace kiln::irpa {

inline constexpr uint64_t kHeaderAlignment = 16, kEntryAlignment = 16, kDataAlignment = 64, kFileAlignment = 4096;

enum class EntryType : uint32_t { Skip = 0, Splat = 1, Data = 2, External = 3 };

#pragma pack(push, 1)
struct Range {
  uint64_t offset, length;
};
struct Header {
  char magic[4];
  uint16_t major, minor;
  uint64_t headerBytes;
  uint64_t nextHeader; // from this one on; 0: it is the last
  uint64_t flags;
  uint64_t entryCount;
  Range entries, names, data;
};
struct Entry {
  uint64_t bytes; // of the entry; the next one follows at the next multiple of 16
  EntryType type;
  uint64_t flags;
  Range name, metadata; // in the segment of names
  uint64_t alignment;
};
struct SplatEntry {
  Entry entry;
  uint64_t length;
  uint8_t pattern[16];
  uint8_t patternLength;
};
struct DataEntry {
  Entry entry;
  Range data; // in the segment of data
};
#pragma pack(pop)
static_assert(sizeof(Header) == 88 && sizeof(Entry) == 60 && sizeof(SplatEntry) == 85 && sizeof(DataEntry) == 76);

} // namespace kiln::irpa

#endif // KILN_SCHEMA_PARAMETERS_IRPA_H
