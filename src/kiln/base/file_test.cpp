#include "kiln/base/file.h"

#include "gtest/gtest.h"

#include "kiln/base/testing/test_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace kiln {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
protected:
  std::string path(const char *name) const { return folder.file(name); }
  size_t fileCount() const {
    return size_t(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()));
  }

  TestFolder folder;
};

std::string contents(const std::string &path) {
  Result<Ref<FileContents>> file = FileContents::open(path);
  return file.ok() ? std::string((*file)->text()) : file.status().toString();
}

using Mode = OutputFile::Mode;

Status writeAs(Mode mode, const std::string &path, std::string_view text) {
  KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(path, mode));
  KILN_RETURN_IF_ERROR(file.write(text));
  return file.commit();
}

TEST_F(FileTest, WritesAndReadsBack) {
  ASSERT_TRUE(writeFile(path("a"), std::string_view("hello")).ok());
  EXPECT_EQ(contents(path("a")), "hello");
  ASSERT_TRUE(writeFile(path("a"), std::string_view("")).ok());
  EXPECT_EQ(contents(path("a")), "");
  EXPECT_EQ(fileCount(), 1u);
}

// Mapped, its text would change, and what was cut off would end the process.
TEST_F(FileTest, WhatWasReadStays) {
  std::string text(100'000, 'a');
  ASSERT_TRUE(writeFile(path("a"), text).ok());
  Result<Ref<FileContents>> file = FileContents::open(path("a"));
  ASSERT_TRUE(file.ok()) << file.status().toString();
  std::ofstream(path("a"), std::ios::in | std::ios::binary) << "b";
  EXPECT_EQ((*file)->text(), text);
  fs::resize_file(path("a"), 0);
  EXPECT_EQ((*file)->text(), text);
}

TEST_F(FileTest, WritesPartsInOrder) {
  std::byte a[3] = {std::byte('x'), std::byte('y'), std::byte('z')};
  std::byte b[1] = {std::byte('!')};
  std::span<const std::byte> parts[] = {a, {}, b};
  ASSERT_TRUE(writeFile(path("a"), parts).ok());
  EXPECT_EQ(contents(path("a")), "xyz!");
}

TEST_F(FileTest, ReadsWhatIsNotARegularFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string text(50'000, 'q');
  ASSERT_EQ(write(ends[1], text.data(), text.size()), ssize_t(text.size()));
  close(ends[1]);
  Result<Ref<FileContents>> file = FileContents::read(ends[0], "pipe");
  close(ends[0]);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->text(), text);
  EXPECT_FALSE(contents("/proc/self/status").empty());
}

TEST_F(FileTest, SaysWhatCannotBeRead) {
  EXPECT_EQ(contents(path("none")), "NOT_FOUND: cannot open '" + path("none") + "': No such file or directory");
  EXPECT_EQ(contents(folder.path), "INVALID_ARGUMENT: cannot read '" + folder.path + "': Is a directory");
}

TEST_F(FileTest, SaysWhatCannotBeWritten) {
  Status status = writeFile(path("none/a"), std::string_view("x"));
  EXPECT_EQ(status.toString(),
            "NOT_FOUND: cannot write '" + path("none/a") + "': the folder '" + path("none") + "' does not exist");
  EXPECT_FALSE(writeFile(folder.path, std::string_view("x")).ok());
}

TEST_F(FileTest, FollowsLinksAndKeepsPermissions) {
  ASSERT_TRUE(writeFile(path("a"), std::string_view("old")).ok());
  ASSERT_EQ(chmod(path("a").c_str(), 0640), 0);
  fs::create_symlink(path("a"), path("link"));
  ASSERT_TRUE(writeFile(path("link"), std::string_view("new")).ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("a")), "new");
  struct stat info;
  ASSERT_EQ(stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(FileTest, WritesDevicesDirectly) {
  EXPECT_TRUE(writeFile("/dev/null", std::string_view("x")).ok());
  Status status = writeFile("/dev/full", std::string_view("x"));
  EXPECT_EQ(status.toString(), "RESOURCE_EXHAUSTED: cannot write '/dev/full': No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

// A limit on the size of files fails in the middle of writing, as a full disk does.
TEST_F(FileTest, LeavesTheOldFileWhenItFails) {
  ASSERT_TRUE(writeFile(path("a"), std::string_view("old")).ok());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  Status status = writeFile(path("a"), std::string(10'000, 'n'));
  Status fresh = writeFile(path("b"), std::string(10'000, 'n'));
  Status appended = writeAs(Mode::Append, path("a"), std::string(10'000, 'n'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(fresh.ok());
  EXPECT_FALSE(appended.ok());
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(fileCount(), 1u);
}

// Opened, and written to, but never committed.
void beginFile(const std::string &path, Mode mode) {
  Result<OutputFile> file = OutputFile::open(path, mode);
  ASSERT_TRUE(file.ok()) << file.status().toString();
  ASSERT_TRUE(file->write(std::string_view("half")).ok());
}

TEST_F(FileTest, AppearsOnlyWithCommit) {
  beginFile(path("a"), Mode::Replace);
  EXPECT_EQ(fileCount(), 0u);
  ASSERT_TRUE(writeAs(Mode::Replace, path("a"), "old").ok());
  beginFile(path("a"), Mode::Replace);
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileTest, WhoIsKilledLeavesNoFile) {
  std::string old = path("old");
  ASSERT_TRUE(writeFile(old, std::string_view("old")).ok());
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Result<OutputFile> replacing = OutputFile::open(old), fresh = OutputFile::open(path("new"));
    bool written = replacing.ok() && fresh.ok() && replacing->write(std::string_view("half")).ok() &&
                   fresh->write(std::string_view("half")).ok();
    _exit(written ? 0 : 1); // as a signal would: nothing is destroyed
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(old), "old");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileTest, AFileThatAppearsMeanwhileIsReplaced) {
  Result<OutputFile> file = OutputFile::open(path("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(std::string_view("mine")).ok());
  ASSERT_TRUE(writeFile(path("a"), std::string_view("theirs")).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(contents(path("a")), "mine");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileTest, AppendIsUndoneWithoutCommit) {
  beginFile(path("a"), Mode::Append);
  EXPECT_EQ(fileCount(), 0u);
  ASSERT_TRUE(writeAs(Mode::Append, path("a"), "one").ok());
  ASSERT_TRUE(writeAs(Mode::Append, path("a"), "two").ok());
  beginFile(path("a"), Mode::Append);
  EXPECT_EQ(contents(path("a")), "onetwo");
}

TEST_F(FileTest, SaysWhatCannotBeAppendedTo) {
  Status status = writeAs(Mode::Append, path("none/a"), "x");
  EXPECT_EQ(status.message(),
            "cannot write '" + path("none/a") + "': the folder '" + path("none") + "' does not exist");
  EXPECT_FALSE(writeAs(Mode::Append, folder.path, "x").ok());
}

} // namespace
} // namespace kiln
