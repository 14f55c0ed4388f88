#include "kiln/schema/module_writer.h"

#include <cstring>

#include "gtest/gtest.h"

#include "kiln/schema/container.h"
#include "kiln/schema/module_generated.h"
#include "kiln/schema/vm_code.h"

namespace kiln::schema {
namespace {

ModuleDesc exampleDesc() {
  ModuleDesc desc;
  desc.name = "example";
  desc.producer = "kiln test";
  FunctionDesc function{"f", "_", 0, 0, {}};
  CodeBuilder code;
  code.ret();
  function.code = *code.finish();
  desc.functions = {function, function};
  desc.rodata.push_back({"a", Bytes::own("abc")});
  desc.rodata.push_back({"splat", Bytes::own("xyz", 100000)});
  desc.rodata.push_back({"", Bytes::borrow("")});
  ExecutableDesc executable{"e", {}};
  for (const char *bytes : {"one", "two", "one"})
    executable.variants.push_back({"llvm-cpu", "elf-x86_64", "", "", {{"d", 1, 2}}, Bytes::borrow(bytes)});
  desc.executables.push_back(executable);
  return desc;
}

std::vector<SectionEntry> sections(const std::string &file) {
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  std::vector<SectionEntry> entries(header.section_count);
  std::memcpy(entries.data(), file.data() + sizeof(header), entries.size() * sizeof(SectionEntry));
  return entries;
}

TEST(ModuleWriter, alignsThePartsOfAConstant) {
  ModuleDesc desc = exampleDesc();
  std::string second(70, 'b');
  desc.rodata.push_back({"parts", Bytes::own("a"), {Bytes::borrow(second), Bytes::own("c", 3)}});
  Result<std::string> file = writeModuleToString(desc);
  ASSERT_TRUE(file.ok()) << file.status().toString();
  std::vector<SectionEntry> entries = sections(*file);
  const Rodata *parts = GetModule(file->data() + entries[0].offset)->rodata()->Get(3);
  EXPECT_EQ(parts->length(), 195u);
  std::string expected = "a" + std::string(63, '\0') + second + std::string(58, '\0') + "ccc";
  EXPECT_EQ(file->substr(entries[2].offset + parts->offset(), parts->length()), expected);
}

TEST(ModuleWriter, laysOutSections) {
  Result<std::string> file = writeModuleToString(exampleDesc());
  ASSERT_TRUE(file.ok()) << file.status().toString();
  ContainerHeader header;
  std::memcpy(&header, file->data(), sizeof(header));
  EXPECT_EQ(std::memcmp(header.magic, kContainerMagic, 8), 0);
  EXPECT_EQ(header.file_size, file->size());
  std::vector<SectionEntry> entries = sections(*file);
  ASSERT_EQ(entries.size(), 5u) << "two variants share their bytes";
  SectionKind kinds[] = {SectionKind::Metadata, SectionKind::Code, SectionKind::Constants, SectionKind::Executable,
                         SectionKind::Executable};
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].kind, kinds[i]);
    EXPECT_EQ(entries[i].offset % kSectionAlignment, 0u);
    EXPECT_EQ(checksumBytes(std::string_view(*file).substr(entries[i].offset, entries[i].length)), entries[i].checksum);
  }
  const Module *module = GetModule(file->data() + entries[0].offset);
  const Rodata *splat = module->rodata()->Get(1);
  EXPECT_EQ(splat->section(), 2u);
  EXPECT_EQ(splat->offset(), 64u);
  EXPECT_EQ(splat->length(), 300000u);
  std::string expected;
  for (int i = 0; i < 100000; ++i)
    expected += "xyz";
  EXPECT_EQ(file->substr(entries[2].offset + splat->offset(), splat->length()), expected);
  auto *variants = module->executables()->Get(0)->variants();
  EXPECT_EQ(variants->Get(0)->section(), 3u);
  EXPECT_EQ(variants->Get(1)->section(), 4u);
  EXPECT_EQ(variants->Get(2)->section(), 3u);
  EXPECT_EQ(module->functions()->Get(1)->code_offset(), 2u);
}

TEST(ModuleWriter, isDeterministic) {
  EXPECT_EQ(*writeModuleToString(exampleDesc()), *writeModuleToString(exampleDesc()));
}

TEST(ModuleWriter, stopsAtTheSinksError) {
  int calls = 0;
  Status status = writeModule(exampleDesc(), [&](std::string_view) {
    return ++calls == 3 ? resourceExhausted("the disk is full") : okStatus();
  });
  EXPECT_EQ(status.message(), "the disk is full");
  EXPECT_EQ(calls, 3);
}

// A constant beyond 4 GiB is written in pieces, and nothing of its size is ever in memory.
TEST(ModuleWriter, largeConstants) {
  ModuleDesc desc = exampleDesc();
  uint64_t repeat = (uint64_t(5) << 30) / 65536;
  desc.rodata.push_back({"large", Bytes::own(std::string(65536, 'q'), repeat)});
  desc.rodata.push_back({"after", Bytes::own("after")});
  uint64_t written = 0, largest = 0;
  std::string front;
  ASSERT_TRUE(writeModule(desc, [&](std::string_view bytes) {
                if (written < 16384)
                  front += bytes;
                written += bytes.size();
                largest = std::max<uint64_t>(largest, bytes.size());
                return okStatus();
              }).ok());
  EXPECT_LT(largest, 1u << 20);
  EXPECT_GT(written, uint64_t(5) << 30);
  const Module *module = GetModule(front.data() + sections(front)[0].offset);
  EXPECT_EQ(module->rodata()->Get(3)->length(), uint64_t(5) << 30);
  EXPECT_GT(module->rodata()->Get(4)->offset(), uint64_t(5) << 30);
}

TEST(ModuleWriter, refusesWhatCannotBeRepresented) {
  ModuleDesc desc = exampleDesc();
  desc.functions[0].valueRegisters = 40000;
  EXPECT_EQ(writeModuleToString(desc).status().code(), StatusCode::OutOfRange);
  desc = exampleDesc();
  desc.exports.push_back({"x", 2, {}});
  EXPECT_FALSE(writeModuleToString(desc).ok());
  desc = exampleDesc();
  desc.initializer = 2;
  EXPECT_FALSE(writeModuleToString(desc).ok());
  desc = exampleDesc();
  desc.valueGlobals = 70000;
  EXPECT_FALSE(writeModuleToString(desc).ok());
}

} // namespace
} // namespace kiln::schema
