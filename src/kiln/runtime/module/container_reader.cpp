#include "kiln/runtime/module/container_reader.h"

#include <cstring>

#include "kiln/schema/module_writer.h"

namespace kiln::vm {

using schema::ContainerHeader;
using schema::SectionEntry;
using schema::SectionKind;

const char *sectionKindName(SectionKind kind) {
  switch (kind) {
  case SectionKind::Metadata: return "metadata";
  case SectionKind::Code: return "code";
  case SectionKind::Constants: return "constants";
  case SectionKind::Executable: return "executable";
  }
  return "unknown";
}

namespace {

// Checks one container; problems are collected in order, so that the first says most.
class ContainerChecker {
public:
  ContainerChecker(Container &container, std::vector<Status> &problems)
      : container(container), bytes(container.file->bytes()), problems(problems) {}

  void run() {
    if (!readHeader() || !readTable())
      return;
    checkKinds();
    uint64_t end = sizeof(ContainerHeader) + container.sections.size() * sizeof(SectionEntry);
    for (size_t i = 0; i < container.sections.size(); ++i)
      end = checkSection(i, end);
    if (end != container.header.file_size && !isTruncated())
      problem("the last section ends at byte {}, but the file is {} bytes long", end, container.header.file_size);
  }

private:
  template <typename... Args> Status damage(fmt::format_string<Args...> format, Args &&...args) const {
    return dataLoss("module '{}' is damaged: {}", container.name, fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename... Args> const Status &problem(fmt::format_string<Args...> format, Args &&...args) {
    problems.push_back(damage(format, std::forward<Args>(args)...));
    return problems.back();
  }

  // Said once, of the whole file.
  bool isTruncated() const { return container.header.file_size > bytes.size(); }

  bool readHeader() {
    ContainerHeader &header = container.header;
    if (bytes.substr(0, sizeof(header.magic)) != std::string_view(schema::kContainerMagic, sizeof(header.magic))) {
      if (bytes.empty())
        problems.push_back(dataLoss("module '{}' is empty", container.name));
      else
        problems.push_back(
            invalidArgument("'{}' is not a Kiln module: it does not start with the bytes of one", container.name));
      return false;
    }
    if (bytes.size() < sizeof(header)) {
      problem("it is truncated to {} bytes, less than its header", bytes.size());
      return false;
    }
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.version != schema::kContainerVersion) {
      problems.push_back(failedPrecondition("module '{}' has format version {}; this runtime reads version {}: compile "
                                            "it with the compiler of this runtime",
                                            container.name, header.version, schema::kContainerVersion));
      return false;
    }
    if (isTruncated())
      problem("it is truncated: {} bytes of {}", bytes.size(), header.file_size);
    else if (header.file_size < bytes.size())
      problem("{} bytes follow its end at byte {}", bytes.size() - header.file_size, header.file_size);
    return true;
  }

  bool readTable() {
    ContainerHeader header = container.header;
    uint64_t available = (bytes.size() - sizeof(header)) / sizeof(SectionEntry);
    if (header.section_count > available) {
      problem("its table has {} sections, of which {} lie within the file", header.section_count, available);
      return false;
    }
    size_t tableBytes = header.section_count * sizeof(SectionEntry);
    std::string front(bytes.substr(0, sizeof(header) + tableBytes));
    header.table_checksum = 0;
    std::memcpy(front.data(), &header, sizeof(header));
    if (schema::checksumBytes(front) != container.header.table_checksum)
      problem("the checksum of its header and section table does not match");
    container.sections.resize(header.section_count);
    for (size_t i = 0; i < container.sections.size(); ++i)
      std::memcpy(&container.sections[i].entry, bytes.data() + sizeof(header) + i * sizeof(SectionEntry),
                  sizeof(SectionEntry));
    return true;
  }

  void checkKinds() {
    size_t metadata = 0, code = 0;
    for (const SectionInfo &section : container.sections) {
      metadata += section.entry.kind == SectionKind::Metadata;
      code += section.entry.kind == SectionKind::Code;
    }
    if (metadata != 1 || container.sections[0].entry.kind != SectionKind::Metadata)
      problem("it needs exactly one metadata section, the first; {} of {} sections are metadata", metadata,
              container.sections.size());
    if (code != 1)
      problem("it needs exactly one code section; it has {}", code);
  }

  // Returns where the section ends: where the next may start.
  uint64_t checkSection(size_t index, uint64_t previousEnd) {
    SectionInfo &section = container.sections[index];
    const SectionEntry &entry = section.entry;
    const char *kind = sectionKindName(entry.kind);
    if (entry.kind < SectionKind::Metadata || entry.kind > SectionKind::Executable || entry.reserved != 0) {
      section.status = problem("section {} is of unknown kind {}", index, static_cast<uint32_t>(entry.kind));
      return previousEnd;
    }
    if (entry.offset > bytes.size() || entry.length > bytes.size() - entry.offset) {
      section.status = damage("section {} ({}), {} bytes from byte {}, does not lie within the file's {} bytes", index,
                              kind, entry.length, entry.offset, bytes.size());
      const uint64_t size = container.header.file_size;
      if (!isTruncated() || entry.offset > size || entry.length > size - entry.offset)
        problems.push_back(section.status);
      return previousEnd;
    }
    if (entry.offset % schema::kSectionAlignment != 0 || entry.offset < previousEnd) {
      section.status = problem("section {} ({}) starts at byte {}; it needs a multiple of {} from byte {} on", index,
                               kind, entry.offset, schema::kSectionAlignment, previousEnd);
      return previousEnd;
    }
    section.bytes = bytes.substr(entry.offset, entry.length);
    if (entry.offset - previousEnd >= schema::kSectionAlignment ||
        bytes.substr(previousEnd, entry.offset - previousEnd).find_first_not_of('\0') != std::string_view::npos)
      section.status =
          problem("the padding before section {} ({}) at byte {} is not as written", index, kind, entry.offset);
    section.checksumChecked = true;
    if (schema::checksumBytes(section.bytes) != entry.checksum)
      section.status = problem("the checksum of section {} ({}, {} bytes from byte {}) does not match", index, kind,
                               entry.length, entry.offset);
    return entry.offset + entry.length;
  }

  Container &container;
  std::string_view bytes;
  std::vector<Status> &problems;
};

} // namespace

Container readContainer(std::string name, Ref<FileBytes> file, std::vector<Status> &problems) {
  Container container;
  container.name = std::move(name);
  container.file = std::move(file);
  ContainerChecker(container, problems).run();
  return container;
}

} // namespace kiln::vm
