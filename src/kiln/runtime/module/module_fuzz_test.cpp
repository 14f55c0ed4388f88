// Damaged and hostile modules: every byte changed, every length cut, with and without matching checksums. Nothing may
// crash; what loads must be safe to run.
#include <cstring>

#include "gtest/gtest.h"

#include "kiln/runtime/module/instruction.h"
#include "kiln/runtime/module/test_module.h"

namespace kiln::vm {
namespace {

using schema::ContainerHeader;
using schema::SectionEntry;

std::string richBytes() {
  return *schema::writeModuleToString(testing::richDesc());
}

// Makes the checksums of a changed file match again, as whoever wants to do harm would.
void repairChecksums(std::string &bytes) {
  ContainerHeader header;
  if (bytes.size() < sizeof(header))
    return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.section_count > (bytes.size() - sizeof(header)) / sizeof(SectionEntry))
    return;
  char *table = bytes.data() + sizeof(header);
  for (uint32_t i = 0; i < header.section_count; ++i) {
    SectionEntry entry;
    std::memcpy(&entry, table + i * sizeof(entry), sizeof(entry));
    if (entry.offset > bytes.size() || entry.length > bytes.size() - entry.offset)
      continue;
    entry.checksum = schema::checksumBytes({bytes.data() + entry.offset, entry.length});
    std::memcpy(table + i * sizeof(entry), &entry, sizeof(entry));
  }
  header.file_size = bytes.size();
  header.table_checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.table_checksum =
      schema::checksumBytes({bytes.data(), sizeof(header) + header.section_count * sizeof(SectionEntry)});
  std::memcpy(bytes.data(), &header, sizeof(header));
}

// Looks at everything that a module offers.
void useModule(const std::string &bytes) {
  std::vector<Status> problems;
  Container container = readContainer("fuzz", borrowFileBytes(bytes, {}), true, problems);
  Ref<Module> module = Module::inspect(std::move(container), problems);
  if (!module)
    return;
  size_t size = module->name().size();
  for (const FunctionInfo &function : module->functions())
    size += functionText(*module, function).size();
  for (const RodataInfo &rodata : module->rodata())
    size += std::string(rodata.bytes).size();
  for (const ExecutableInfo &executable : module->executables())
    for (const VariantInfo &variant : executable.variants)
      size += std::string(variant.bytes).size() + variant.exports.size();
  for (const ExportInfo &entry : module->exports())
    for (const AttributeInfo &attribute : entry.attributes)
      size += std::string(attribute.key).size() + std::string(attribute.value).size();
  EXPECT_GT(size, 0u);
}

TEST(ModuleFuzz, everyFlippedByteIsFound) {
  std::string bytes = richBytes();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char flip : {char(1), char(0x80), char(0xff)}) {
      std::string copy = bytes;
      copy[i] ^= flip;
      Result<Ref<Module>> module = testing::loadBytes(copy, {.verifyConstants = true});
      ASSERT_FALSE(module.ok()) << "byte " << i;
      ASSERT_NE(module.status().message().find("test.vmfb"), std::string_view::npos);
    }
}

TEST(ModuleFuzz, everyTruncationIsFound) {
  std::string bytes = richBytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(testing::loadBytes(bytes.substr(0, size)).ok()) << size;
    if (size < 8192 || size % 16 == 0) {
      std::string hostile = bytes.substr(0, size);
      repairChecksums(hostile);
      ASSERT_FALSE(testing::loadBytes(hostile).ok()) << size;
      useModule(hostile);
    }
  }
}

TEST(ModuleFuzz, hostileModulesAreSafeToLookAt) {
  std::string bytes = richBytes();
  size_t loaded = 0, refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    // Padding says the same for every byte of it.
    if (bytes[i] == 0 && i > 16 && bytes.compare(i - 8, 16, std::string(16, '\0')) == 0)
      continue;
    for (int bit = 0; bit < 9; ++bit) {
      std::string copy = bytes;
      copy[i] ^= bit < 8 ? static_cast<char>(1 << bit) : char(0xff);
      repairChecksums(copy);
      useModule(copy);
      ++(testing::loadBytes(copy).ok() ? loaded : refused);
    }
  }
  // Some changes make another valid module (a name, an immediate); most do not.
  EXPECT_GT(loaded, 1000u);
  EXPECT_GT(refused, loaded / 2);
}

} // namespace
} // namespace kiln::vm
