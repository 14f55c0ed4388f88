// Modules without the padding between their sections, which is most of a small one: what the corpus holds, and what a
// fuzzer can change without moving sections off their places.
#ifndef KILN_TESTS_FUZZ_PACKED_MODULE_H
#define KILN_TESTS_FUZZ_PACKED_MODULE_H

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/schema/container.h"

namespace kiln::fuzz {

// Header and table of a module; nothing where they are not whole.
struct ModuleFront {
  explicit ModuleFront(std::string_view bytes) {
    if (bytes.size() < sizeof(header))
      return;
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.section_count == 0 || header.section_count > (bytes.size() - sizeof(header)) / sizeof(sections[0]))
      return;
    sections.resize(header.section_count);
    std::memcpy(sections.data(), bytes.data() + sizeof(header), sections.size() * sizeof(sections[0]));
  }
  size_t size() const { return sizeof(header) + sections.size() * sizeof(sections[0]); }
  std::string text() const {
    std::string text(reinterpret_cast<const char *>(&header), sizeof(header));
    return text.append(reinterpret_cast<const char *>(sections.data()), sections.size() * sizeof(sections[0]));
  }

  schema::ContainerHeader header = {};
  std::vector<schema::SectionEntry> sections;
};

// Of a module that is as it was written.
inline std::string packModule(std::string_view bytes) {
  const ModuleFront front(bytes);
  std::string packed = front.text();
  for (const schema::SectionEntry &entry : front.sections)
    packed += bytes.substr(entry.offset, entry.length);
  return packed;
}

// Sections get places one after the other. The first one gets the bytes that the others leave, so that it may grow; the
// others have the lengths of the table, with zeros where bytes are missing. Checksums are left for repairChecksums.
inline std::string unpackModule(std::string_view packed) {
  constexpr uint64_t kLongest = uint64_t(4) << 20;
  ModuleFront front(packed);
  if (front.sections.empty())
    return std::string(packed);
  std::string_view rest = packed.substr(front.size());
  uint64_t others = 0;
  for (size_t i = 1; i < front.sections.size(); ++i)
    others += front.sections[i].length %= kLongest;
  front.sections[0].length = rest.size() - std::min<uint64_t>(others, rest.size());
  std::string bytes(front.size(), '\0');
  for (schema::SectionEntry &entry : front.sections) {
    bytes.resize((bytes.size() + schema::kSectionAlignment - 1) / schema::kSectionAlignment *
                 schema::kSectionAlignment);
    entry.offset = bytes.size();
    const std::string_view content = rest.substr(0, entry.length);
    rest.remove_prefix(content.size());
    bytes += content;
    bytes.resize(entry.offset + entry.length);
    if (bytes.size() > 4 * kLongest)
      break;
  }
  return bytes.replace(0, front.size(), front.text());
}

} // namespace kiln::fuzz

#endif // KILN_TESTS_FUZZ_PACKED_MODULE_H
