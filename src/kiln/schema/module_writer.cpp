#include "kiln/schema/module_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kiln/schema/container.h"
#include "kiln/schema/module_generated.h"
#include "kiln/schema/vm_code.h"

static_assert(std::endian::native == std::endian::little, "sections are written as they lie in memory");

namespace kiln::schema {

uint64_t checksumBytes(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

namespace {

constexpr uint64_t kConstantAlignment = 64;
// Splats and padding go to the sink in pieces of about this size.
constexpr size_t kPieceBytes = 1 << 16;

uint64_t alignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

Status writeZeros(uint64_t count, const ByteSink &sink) {
  static constexpr char zeros[4096] = {};
  while (count > 0) {
    size_t piece = std::min<uint64_t>(count, sizeof(zeros));
    KILN_RETURN_IF_ERROR(sink({zeros, piece}));
    count -= piece;
  }
  return okStatus();
}

Status writeBytes(const Bytes &bytes, const ByteSink &sink) {
  std::string_view unit = bytes.unit();
  if (bytes.repetitions() == 1)
    return unit.empty() ? okStatus() : sink(unit);
  if (unit.empty())
    return okStatus();
  uint64_t left = bytes.repetitions();
  uint64_t perPiece = std::clamp<uint64_t>(kPieceBytes / unit.size(), 1, left ? left : 1);
  std::string piece;
  piece.reserve(perPiece * unit.size());
  for (uint64_t i = 0; i < perPiece; ++i)
    piece += unit;
  while (left > 0) {
    uint64_t now = std::min(left, perPiece);
    KILN_RETURN_IF_ERROR(sink(std::string_view(piece).substr(0, now * unit.size())));
    left -= now;
  }
  return okStatus();
}

// A section: what it is, how long, and the pieces that it is made of, each aligned to `alignment` within the section.
struct Section {
  explicit Section(SectionKind kind, uint64_t alignment = 1) : kind(kind), alignment(alignment) {}

  SectionKind kind;
  uint64_t alignment;
  std::vector<const Bytes *> pieces;
  std::vector<uint64_t> offsets; // of each piece
  uint64_t length = 0;

  void add(const Bytes &bytes) {
    length = alignUp(length, alignment);
    offsets.push_back(length);
    pieces.push_back(&bytes);
    length += bytes.size();
  }

  Status write(const ByteSink &sink) const {
    uint64_t position = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      KILN_RETURN_IF_ERROR(writeZeros(offsets[i] - position, sink));
      KILN_RETURN_IF_ERROR(writeBytes(*pieces[i], sink));
      position = offsets[i] + pieces[i]->size();
    }
    return okStatus();
  }
};

class ModuleWriter {
public:
  explicit ModuleWriter(const ModuleDesc &module) : module(module) {}

  Status write(const ByteSink &sink) {
    KILN_RETURN_IF_ERROR(check());
    layOutCode();
    layOutConstants();
    layOutExecutables();
    KILN_RETURN_IF_ERROR(buildMetadata());
    return writeContainer(sink);
  }

private:
  Status check() const {
    for (const FunctionDesc &function : module.functions)
      if (function.valueRegisters > kMaxRegisters || function.refRegisters > kMaxRegisters)
        return outOfRange("function '{}' needs {} value and {} reference registers; a function has at most {} of each",
                          function.name, function.valueRegisters, function.refRegisters, kMaxRegisters);
    for (const ExportDesc &entry : module.exports)
      if (entry.function >= module.functions.size())
        return internalError("export '{}' names function {} of {}", entry.name, entry.function,
                             module.functions.size());
    if (module.initializer >= static_cast<int64_t>(module.functions.size()))
      return internalError("the initializer is function {} of {}", module.initializer, module.functions.size());
    for (size_t count : {module.functions.size(), module.imports.size(), module.rodata.size(),
                         module.executables.size(), size_t(module.valueGlobals), size_t(module.refGlobals)})
      if (count > 0x10000)
        return outOfRange("module '{}' has {} functions, imports, constants, executables or globals of one kind; "
                          "code can name at most 65536",
                          module.name, count);
    uint64_t units = 0;
    for (const FunctionDesc &function : module.functions)
      units += function.code.size();
    if (units > UINT32_MAX)
      return outOfRange("module '{}' has {} units of code; the format holds 2^32 - 1", module.name, units);
    return okStatus();
  }

  // Metadata is section 0 and is built last, when the numbers of the others are known.
  void layOutCode() {
    sections.emplace_back(SectionKind::Metadata);
    std::string units;
    for (const FunctionDesc &function : module.functions)
      units.append(reinterpret_cast<const char *>(function.code.data()), function.code.size() * sizeof(uint16_t));
    code = Bytes::own(std::move(units));
    sections.emplace_back(SectionKind::Code);
    sections.back().add(code);
  }

  void layOutConstants() {
    if (module.rodata.empty())
      return;
    constantSection = static_cast<uint32_t>(sections.size());
    sections.emplace_back(SectionKind::Constants, kConstantAlignment);
    Section &section = sections.back();
    for (const RodataDesc &rodata : module.rodata) {
      section.add(rodata.bytes);
      uint64_t start = section.offsets.back();
      for (const Bytes &bytes : rodata.rest)
        section.add(bytes);
      rodataRanges.push_back({start, section.length - start});
    }
  }

  void layOutExecutables() {
    std::map<std::pair<uint64_t, uint64_t>, std::vector<uint32_t>> byContent;
    for (const ExecutableDesc &executable : module.executables)
      for (const VariantDesc &variant : executable.variants) {
        auto &sameHash = byContent[{variant.bytes.size(), checksumBytes(variant.bytes.unit())}];
        auto same = std::find_if(sameHash.begin(), sameHash.end(), [&](uint32_t section) {
          return sections[section].pieces[0]->unit() == variant.bytes.unit();
        });
        if (same != sameHash.end()) {
          variantSections.push_back(*same);
          continue;
        }
        uint32_t index = static_cast<uint32_t>(sections.size());
        sameHash.push_back(index);
        variantSections.push_back(index);
        sections.emplace_back(SectionKind::Executable);
        sections.back().add(variant.bytes);
      }
  }

  using Builder = flatbuffers::FlatBufferBuilder;
  template <typename T> using Offset = flatbuffers::Offset<T>;

  static auto attributes(Builder &builder, const std::vector<AttributeDesc> &list) {
    std::vector<Offset<Attribute>> offsets;
    for (const AttributeDesc &attribute : list)
      offsets.push_back(
          CreateAttribute(builder, builder.CreateString(attribute.key), builder.CreateString(attribute.value)));
    return builder.CreateVector(offsets);
  }

  // Roughly how many bytes of strings the metadata will hold; FlatBuffers aborts above 2 GiB, so it is asked first.
  uint64_t metadataEstimate() const {
    uint64_t bytes = 1024;
    auto text = [&](const std::string &string) { bytes += string.size() + 64; };
    auto texts = [&](const std::vector<AttributeDesc> &list) {
      for (const AttributeDesc &attribute : list) {
        text(attribute.key);
        text(attribute.value);
      }
    };
    for (const FunctionDesc &function : module.functions) {
      text(function.name);
      text(function.signature);
    }
    for (const ExportDesc &entry : module.exports) {
      text(entry.name);
      texts(entry.attributes);
    }
    for (const ImportDesc &import : module.imports) {
      text(import.name);
      text(import.signature);
    }
    for (const RequirementDesc &requirement : module.requirements)
      text(requirement.name);
    for (const RodataDesc &rodata : module.rodata)
      text(rodata.name);
    for (const ExecutableDesc &executable : module.executables)
      for (const VariantDesc &variant : executable.variants) {
        for (const std::string *string :
             {&executable.name, &variant.target, &variant.format, &variant.cpu, &variant.cpuFeatures})
          text(*string);
        for (const ExecutableExportDesc &entry : variant.exports) {
          text(entry.name);
          for (const std::string &node : entry.nodes)
            text(node);
        }
      }
    texts(module.attributes);
    return bytes;
  }

  Status buildMetadata() {
    if (metadataEstimate() > (uint64_t(1) << 30))
      return outOfRange("the names and attributes of module '{}' exceed 1 GiB", module.name);
    Builder builder;
    std::vector<Offset<Function>> functions;
    uint32_t codeOffset = 0;
    for (const FunctionDesc &function : module.functions) {
      uint32_t units = static_cast<uint32_t>(function.code.size());
      functions.push_back(CreateFunction(builder, builder.CreateString(function.name),
                                         builder.CreateString(function.signature),
                                         static_cast<uint16_t>(function.valueRegisters),
                                         static_cast<uint16_t>(function.refRegisters), codeOffset, units));
      codeOffset += units;
    }
    std::vector<Offset<Export>> exports;
    for (const ExportDesc &entry : module.exports)
      exports.push_back(CreateExport(builder, builder.CreateString(entry.name), entry.function,
                                     attributes(builder, entry.attributes)));
    std::vector<Offset<Import>> imports;
    for (const ImportDesc &import : module.imports)
      imports.push_back(
          CreateImport(builder, builder.CreateString(import.name), builder.CreateString(import.signature)));
    std::vector<Offset<Requirement>> requirements;
    for (const RequirementDesc &requirement : module.requirements)
      requirements.push_back(CreateRequirement(builder, builder.CreateString(requirement.name),
                                               requirement.version.major, requirement.version.minor));
    std::vector<Offset<Rodata>> rodata;
    for (size_t i = 0; i < module.rodata.size(); ++i)
      rodata.push_back(CreateRodata(builder, builder.CreateString(module.rodata[i].name), constantSection,
                                    rodataRanges[i].first, rodataRanges[i].second));
    std::vector<Offset<Executable>> executables;
    size_t variantIndex = 0;
    for (const ExecutableDesc &executable : module.executables)
      executables.push_back(buildExecutable(builder, executable, variantIndex));
    builder.Finish(CreateModule(builder, builder.CreateString(module.name), builder.CreateString(module.producer),
                                builder.CreateVector(functions), builder.CreateVector(exports),
                                builder.CreateVector(imports), builder.CreateVector(rodata),
                                builder.CreateVector(executables), module.valueGlobals, module.refGlobals,
                                module.initializer, attributes(builder, module.attributes),
                                builder.CreateVector(requirements)),
                   ModuleIdentifier());
    metadata =
        Bytes::own(std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()), size_t(builder.GetSize())));
    sections[0].add(metadata);
    return okStatus();
  }

  Offset<Executable> buildExecutable(Builder &builder, const ExecutableDesc &executable, size_t &variantIndex) {
    std::vector<Offset<ExecutableVariant>> variants;
    for (const VariantDesc &variant : executable.variants) {
      std::vector<Offset<ExecutableExport>> exports;
      for (const ExecutableExportDesc &entry : variant.exports)
        exports.push_back(
            CreateExecutableExport(builder, builder.CreateString(entry.name), entry.bindingCount, entry.constantCount,
                                   entry.access.empty() ? 0 : builder.CreateVector(entry.access), entry.operations,
                                   entry.bytes, entry.nodes.empty() ? 0 : builder.CreateVectorOfStrings(entry.nodes),
                                   entry.elementType.empty() ? 0 : builder.CreateString(entry.elementType)));
      variants.push_back(
          CreateExecutableVariant(builder, builder.CreateString(variant.target), builder.CreateString(variant.format),
                                  variantSections[variantIndex++], builder.CreateString(variant.cpu),
                                  builder.CreateString(variant.cpuFeatures), builder.CreateVector(exports)));
    }
    return CreateExecutable(builder, builder.CreateString(executable.name), builder.CreateVector(variants));
  }

  Status writeContainer(const ByteSink &sink) {
    std::vector<SectionEntry> table;
    uint64_t end = sizeof(ContainerHeader) + sections.size() * sizeof(SectionEntry);
    for (const Section &section : sections) {
      XXH3_state_t state;
      XXH3_64bits_reset(&state);
      KILN_RETURN_IF_ERROR(section.write([&](std::string_view bytes) {
        XXH3_64bits_update(&state, bytes.data(), bytes.size());
        return okStatus();
      }));
      uint64_t offset = alignUp(end, kSectionAlignment);
      table.push_back({section.kind, 0, offset, section.length, XXH3_64bits_digest(&state)});
      end = offset + section.length;
    }

    ContainerHeader header = {};
    std::memcpy(header.magic, kContainerMagic, sizeof(header.magic));
    header.version = kContainerVersion;
    header.section_count = static_cast<uint32_t>(sections.size());
    header.file_size = end;
    std::string front(reinterpret_cast<const char *>(&header), sizeof(header));
    front.append(reinterpret_cast<const char *>(table.data()), table.size() * sizeof(SectionEntry));
    header.table_checksum = checksumBytes(front);
    std::memcpy(front.data(), &header, sizeof(header));

    KILN_RETURN_IF_ERROR(sink(front));
    uint64_t position = front.size();
    for (size_t i = 0; i < sections.size(); ++i) {
      KILN_RETURN_IF_ERROR(writeZeros(table[i].offset - position, sink));
      KILN_RETURN_IF_ERROR(sections[i].write(sink));
      position = table[i].offset + table[i].length;
    }
    return okStatus();
  }

  const ModuleDesc &module;
  std::vector<Section> sections;
  Bytes metadata;
  Bytes code;
  uint32_t constantSection = 0;
  std::vector<std::pair<uint64_t, uint64_t>> rodataRanges; // offset in the section, and length
  std::vector<uint32_t> variantSections;                   // of all variants, in order
};

} // namespace

Status writeModule(const ModuleDesc &module, const ByteSink &sink) {
  return ModuleWriter(module).write(sink);
}

Result<std::string> writeModuleToString(const ModuleDesc &module) {
  std::string file;
  KILN_RETURN_IF_ERROR(writeModule(module, [&](std::string_view bytes) {
    file += bytes;
    return okStatus();
  }));
  return file;
}

} // namespace kiln::schema
