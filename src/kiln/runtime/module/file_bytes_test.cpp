// Module files that change while they are in use.
#include "kiln/runtime/module/file_bytes.h"

#include "gtest/gtest.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "fmt/format.h"
#include "kiln/base/file.h"
#include "kiln/base/sanitized.h"
#include "kiln/base/watched_pages.h"
#include "kiln/runtime/module/test_module.h"
#include "kiln/schema/container.h"

namespace kiln::vm {
namespace {

namespace fs = std::filesystem;

bool contains(const Status &status, std::string_view text) {
  return status.message().find(text) != std::string_view::npos;
}

class FileBytesTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kiln-module-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = folder / "m.vmfb";
    ASSERT_TRUE(installPageLossHandler().ok());
  }
  void TearDown() override { fs::remove_all(folder); }

  // With constants of 1 MiB each.
  static schema::ModuleDesc withConstants(unsigned count) {
    schema::ModuleDesc desc = testing::richDesc();
    for (unsigned i = 0; i < count; ++i)
      desc.rodata.push_back({"large", schema::Bytes::own(std::string(kLarge, char('A' + i)))});
    return desc;
  }
  Ref<Module> load(const schema::ModuleDesc &desc) {
    EXPECT_TRUE(writeFile(path, *schema::writeModuleToString(desc)).ok());
    Result<Ref<Module>> module = Module::loadFile(path);
    EXPECT_TRUE(module.ok()) << module.status().toString();
    return module.ok() ? *module : nullptr;
  }
  // In place, as `cp` does.
  void overwrite(const std::string &bytes) const {
    std::ofstream(path, std::ios::in | std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  }

  static constexpr size_t kLarge = size_t(1) << 20;
  fs::path folder;
  std::string path;
};

// All that is executed or trusted, as text.
std::string trustedParts(const Module &module) {
  std::string text(module.name());
  for (const FunctionInfo &function : module.functions())
    text += fmt::format("\n{} {} {}", function.name, function.signatureText, fmt::join(function.code, ","));
  for (const ExecutableInfo &executable : module.executables())
    for (const VariantInfo &variant : executable.variants)
      text += fmt::format("\n{} {} {}", executable.name, variant.target, variant.bytes);
  for (const ImportInfo &import : module.imports())
    text += fmt::format("\n{} {}", import.name, import.signatureText);
  return text;
}

TEST_F(FileBytesTest, WhatIsTrustedIsACopy) {
  for (unsigned constants : {0, 4}) {
    Ref<Module> module = load(withConstants(constants));
    ASSERT_TRUE(module);
    EXPECT_EQ(module->file().file->isMapped(), constants > 0);
    std::string before = trustedParts(*module);
    overwrite(std::string(fs::file_size(path), '\x5a'));
    EXPECT_EQ(trustedParts(*module), before);
    fs::resize_file(path, 0);
    EXPECT_EQ(trustedParts(*module), before);
  }
}

TEST_F(FileBytesTest, SmallConstantsAreCopied) {
  Ref<Module> module = load(withConstants(1));
  ASSERT_TRUE(module);
  EXPECT_FALSE(module->file().file->isMapped());
  fs::resize_file(path, 0);
  EXPECT_EQ(module->rodata()[2].bytes, std::string(kLarge, 'A'));
  EXPECT_TRUE(module->file().file->checkUnchanged().ok()) << "nothing depends on the file any more";
}

TEST_F(FileBytesTest, NobodyCanWriteToWhatIsRead) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  for (std::string_view bytes : {std::string_view(module->name()), module->rodata()[3].bytes})
    EXPECT_DEATH(const_cast<char &>(bytes[0]) = 'x', kSanitized ? "SEGV" : "");
}

TEST_F(FileBytesTest, LargeConstantsAreMappedAndRight) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(module->rodata()[2 + i].bytes, std::string(kLarge, char('A' + i)));
  module = nullptr;
  // Those too are checked when they are loaded.
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(std::streamoff(fs::file_size(path) / 2));
  file.put('x');
  file.close();
  Status damaged = Module::loadFile(path).status();
  EXPECT_NE(damaged.message().find("(constants, "), std::string_view::npos) << damaged.toString();
}

TEST_F(FileBytesTest, ChangesOfTheFileAreFound) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  const FileBytes &file = *module->file().file;
  EXPECT_TRUE(file.checkUnchanged().ok()) << file.checkUnchanged().toString();

  // Another folder changes nothing: the file's name was noted in full.
  fs::path current = fs::current_path();
  fs::current_path(folder);
  module = load(withConstants(4));
  path = "m.vmfb";
  Result<Ref<Module>> relative = Module::loadFile(path);
  fs::current_path(current);
  ASSERT_TRUE(relative.ok());
  EXPECT_TRUE((*relative)->file().file->checkUnchanged().ok());
  path = folder / "m.vmfb";

  overwrite("K");
  Status status = (*relative)->file().file->checkContents();
  EXPECT_TRUE(contains(status, "'m.vmfb' was changed since it was loaded")) << status.toString();
  EXPECT_FALSE(module->file().file->checkUnchanged().ok());
}

TEST_F(FileBytesTest, AnotherSizeIsAChange) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  uint64_t size = fs::file_size(path);
  fs::file_time_type time = fs::last_write_time(path);
  std::ofstream(path, std::ios::app | std::ios::binary) << "more";
  fs::last_write_time(path, time);
  Status status = module->file().file->checkUnchanged();
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(contains(status, fmt::format("it had {} bytes and has {}", size, size + 4))) << status.toString();
}

TEST_F(FileBytesTest, AnotherTimeIsAChangeAndIsSaid) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  Status status = module->file().file->checkUnchanged();
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(contains(status, fmt::format("its modification time is another one, and its {} bytes may be others, too",
                                           fs::file_size(path))))
      << status.toString();
}

TEST_F(FileBytesTest, OtherBytesOfTheSameSizeAndTimeAreAChange) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  fs::file_time_type time = fs::last_write_time(path);
  std::string bytes = *schema::writeModuleToString(withConstants(4));
  bytes[bytes.find(std::string(64, 'B'))] = 'b';
  // The system counts in ticks of some milliseconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  overwrite(bytes);
  fs::last_write_time(path, time);
  for (int i = 0; i < 2; ++i) {
    Status status = module->file().file->checkContents();
    EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
    EXPECT_TRUE(
        contains(status, fmt::format("its modification time is the same, and its {} bytes are others", bytes.size())))
        << status.toString();
  }
}

TEST_F(FileBytesTest, OtherRightsAndNamesAreNoChange) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  const FileBytes &file = *module->file().file;
  auto expectUnchanged = [&](const char *what) {
    EXPECT_TRUE(file.checkUnchanged().ok()) << what << ": " << file.checkUnchanged().toString();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  };
  expectUnchanged("nothing");
  fs::permissions(path, fs::perms::owner_read);
  expectUnchanged("rights");
  fs::create_hard_link(path, folder / "second");
  expectUnchanged("a second name");
  fs::rename(path, folder / "third");
  fs::remove(folder / "second");
  fs::remove(folder / "third");
  expectUnchanged("no name");
}

TEST_F(FileBytesTest, AnotherFileOfTheNameIsAChangeButNotOfTheContents) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  const FileBytes &file = *module->file().file;
  fs::rename(path, folder / "moved");
  EXPECT_TRUE(file.checkUnchanged().ok()) << "the pages are there as long as they are mapped";
  ASSERT_TRUE(writeFile(path, *schema::writeModuleToString(withConstants(4))).ok());
  Status status = file.checkUnchanged();
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(contains(status, "another file has taken the place of module '" + path + "'")) << status.toString();
  EXPECT_TRUE(file.checkContents().ok());
  EXPECT_EQ(module->rodata()[5].bytes, std::string(kLarge, 'D'));
}

TEST_F(FileBytesTest, TruncatedConstantsAreLost) {
  Ref<Module> module = load(withConstants(4));
  ASSERT_TRUE(module);
  const FileBytes &file = *module->file().file;
  fs::resize_file(path, kLarge);
  EXPECT_TRUE(file.checkReadable().ok());
  EXPECT_EQ(module->rodata()[5].bytes[kLarge / 2], '\0');
  for (const Status &status : {file.checkReadable(), file.checkContents(), file.checkUnchanged()}) {
    EXPECT_EQ(status.code(), StatusCode::DataLoss);
    EXPECT_TRUE(contains(status, "constants of module '" + path + "' cannot be read any more")) << status.toString();
  }
  // A file that is whole again is another one.
  fs::resize_file(path, 5 * kLarge);
  EXPECT_FALSE(file.checkContents().ok());
}

// A damaged table does not decide what is mapped.
TEST_F(FileBytesTest, DamagedTablesAreReadAsTheyAre) {
  std::string bytes = *schema::writeModuleToString(withConstants(4));
  for (size_t at = sizeof(schema::ContainerHeader); at < 32 + 6 * sizeof(schema::SectionEntry); ++at) {
    std::string damaged = bytes;
    damaged[at] = char(~damaged[at]);
    ASSERT_TRUE(writeFile(path, damaged).ok());
    Result<Ref<FileBytes>> file = openFileBytes(path);
    ASSERT_TRUE(file.ok()) << file.status().toString();
    ASSERT_EQ((*file)->bytes(), damaged) << at;
  }
}

// Constants of 1 GiB take no memory and no time until they are read.
TEST_F(FileBytesTest, LargeConstantsCostNothingToLoad) {
  std::string bytes = *schema::writeModuleToString(withConstants(0));
  schema::ContainerHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  // The last section of the file grows by a hole: it is the constants'.
  schema::SectionEntry last = {};
  size_t entryAt = 0;
  for (uint32_t i = 0; i < header.section_count; ++i) {
    schema::SectionEntry entry;
    std::memcpy(&entry, bytes.data() + sizeof(header) + i * sizeof(entry), sizeof(entry));
    if (entry.offset >= last.offset) {
      last = entry;
      entryAt = sizeof(header) + i * sizeof(entry);
    }
  }
  last.kind = schema::SectionKind::Constants;
  last.length = uint64_t(1) << 30;
  std::memcpy(bytes.data() + entryAt, &last, sizeof(last));
  ASSERT_TRUE(writeFile(path, bytes).ok());
  fs::resize_file(path, last.offset + last.length);
  auto residentPages = [] {
    long total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident;
  };
  long before = residentPages();
  Result<Ref<FileBytes>> file = openFileBytes(path);
  ASSERT_TRUE(file.ok()) << file.status().toString();
  EXPECT_TRUE((*file)->isMapped());
  EXPECT_LT(residentPages() - before, 1024);
  EXPECT_EQ((*file)->bytes().size(), last.offset + last.length);
}

} // namespace
} // namespace kiln::vm
