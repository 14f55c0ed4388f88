// The module file: a fixed header, a table of sections, and the sections in the table's order, each at the next offset
// that is a multiple of kSectionAlignment, so that code and constants can be mapped and used in place; what lies
// between is zero, and the file ends with the last section. All numbers are little-endian; offsets and lengths are
// 64-bit, so that a section may exceed 2 GiB.
#ifndef KILN_SCHEMA_CONTAINER_H
#define KILN_SCHEMA_CONTAINER_H

#include <cstdint>

namespace kiln::schema {

inline constexpr char kContainerMagic[8] = {'K', 'I', 'L', 'N', 'M', 'O', 'D', '\n'};
inline constexpr uint32_t kContainerVersion = 1;
inline constexpr uint64_t kSectionAlignment = 4096;

enum class SectionKind : uint32_t {
  Metadata = 1,   // the FlatBuffer of module.fbs; exactly one
  Code = 2,       // VM code of all functions, 16-bit units; exactly one
  Constants = 3,  // bytes of constants, each constant aligned to 64
  Executable = 4, // an executable's bytes for one target
};

// At offset 0 of the file; the section table follows at once.
struct ContainerHeader {
  char magic[8];
  uint32_t version;
  uint32_t section_count;
  uint64_t file_size;      // a file of another size is truncated or padded, and is rejected
  uint64_t table_checksum; // XXH3-64 of this header with table_checksum = 0, followed by the section table
};
static_assert(sizeof(ContainerHeader) == 32);

struct SectionEntry {
  SectionKind kind;
  uint32_t reserved; // zero
  uint64_t offset;   // from the start of the file
  uint64_t length;   // without padding
  uint64_t checksum; // XXH3-64 of the `length` bytes
};
static_assert(sizeof(SectionEntry) == 32);

} // namespace kiln::schema

#endif // KILN_SCHEMA_CONTAINER_H
