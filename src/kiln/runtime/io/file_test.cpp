#include "kiln/runtime/io/file.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kiln/runtime/io/test_util.h"

namespace kiln::io {
namespace {

std::span<const uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

Status writeFile(const std::string &path, OutputFile::Mode mode, std::string_view text) {
  Result<OutputFile> file = OutputFile::open(path, mode);
  if (!file.ok())
    return std::move(file).status();
  KILN_RETURN_IF_ERROR(file->write(bytes(text)));
  return file->commit();
}

TEST(InputFileTest, ReadsInPieces) {
  TemporaryFolder folder;
  std::string path = folder.write("f", "abcdef");
  Result<InputFile> file = InputFile::open(path);
  ASSERT_TRUE(file.ok());
  uint8_t buffer[4];
  EXPECT_EQ(file->remaining(), 6u);
  ASSERT_TRUE(file->read(buffer).ok());
  EXPECT_EQ(buffer[3], 'd');
  EXPECT_FALSE(*file->atEnd());
  EXPECT_EQ(file->remaining(), 2u);
  ASSERT_TRUE(file->read({buffer, 2}).ok());
  EXPECT_EQ(buffer[0], 'e');
  EXPECT_TRUE(*file->atEnd());
  Status status = file->read({buffer, 1});
  EXPECT_EQ(status.code(), StatusCode::DataLoss);
  EXPECT_EQ(status.message(), "'" + path + "' ends early: 1 bytes are needed from byte 6 on, and 0 are there");
}

TEST(InputFileTest, MissingFilesAndFolders) {
  TemporaryFolder folder;
  EXPECT_EQ(InputFile::open(folder / "none").status().code(), StatusCode::NotFound);
  EXPECT_EQ(InputFile::open(folder.path).status().code(), StatusCode::InvalidArgument);
  EXPECT_CONTAINS(InputFile::open(folder / "none").status().message(), folder / "none");
}

TEST(OutputFileTest, AppearsOnlyWithCommit) {
  TemporaryFolder folder;
  std::string path = folder / "f";
  {
    Result<OutputFile> file = OutputFile::open(path, OutputFile::Mode::Replace);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes("half")).ok());
  }
  EXPECT_EQ(folder.fileCount(), 0u);
  ASSERT_TRUE(writeFile(path, OutputFile::Mode::Replace, "whole").ok());
  EXPECT_EQ(folder.read(path), "whole");
  EXPECT_EQ(folder.fileCount(), 1u);
}

TEST(OutputFileTest, KeepsTheOldFileUntilCommit) {
  TemporaryFolder folder;
  std::string path = folder.write("f", "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  {
    Result<OutputFile> file = OutputFile::open(path, OutputFile::Mode::Replace);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes("new")).ok());
    EXPECT_EQ(folder.read(path), "old");
  }
  EXPECT_EQ(folder.read(path), "old");
  ASSERT_TRUE(writeFile(path, OutputFile::Mode::Replace, "new").ok());
  EXPECT_EQ(folder.read(path), "new");
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST(OutputFileTest, LinksStayLinks) {
  TemporaryFolder folder;
  std::string path = folder.write("f", "old");
  std::string link = folder / "link";
  ASSERT_EQ(symlink("f", link.c_str()), 0);
  ASSERT_TRUE(writeFile(link, OutputFile::Mode::Replace, "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(folder.read(path), "new");
}

TEST(OutputFileTest, AppendIsUndoneWithoutCommit) {
  TemporaryFolder folder;
  std::string path = folder / "f";
  {
    Result<OutputFile> file = OutputFile::open(path, OutputFile::Mode::Append);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes("half")).ok());
  }
  EXPECT_EQ(folder.fileCount(), 0u);
  ASSERT_TRUE(writeFile(path, OutputFile::Mode::Append, "one").ok());
  ASSERT_TRUE(writeFile(path, OutputFile::Mode::Append, "two").ok());
  {
    Result<OutputFile> file = OutputFile::open(path, OutputFile::Mode::Append);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(bytes("half")).ok());
  }
  EXPECT_EQ(folder.read(path), "onetwo");
}

TEST(OutputFileTest, MissingFolder) {
  TemporaryFolder folder;
  for (OutputFile::Mode mode : {OutputFile::Mode::Replace, OutputFile::Mode::Append}) {
    Status status = writeFile(folder / "none/f", mode, "x");
    EXPECT_EQ(status.code(), StatusCode::NotFound);
    EXPECT_EQ(status.message(),
              "cannot write '" + (folder / "none/f") + "': the folder '" + (folder / "none") + "' does not exist");
    EXPECT_FALSE(writeFile(folder.path, mode, "x").ok());
  }
}

TEST(OutputFileTest, FullDevice) {
  Status status = writeFile("/dev/full", OutputFile::Mode::Replace, "x");
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_EQ(status.message(), "cannot write '/dev/full': No space left on device");
}

// A limit on file sizes stands for a disk that fills up during the write.
TEST(OutputFileTest, NothingHalfWrittenStays) {
  TemporaryFolder folder;
  std::string old = folder.write("old", "old");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = {1000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string large(2000, 'x');
  Status fresh = writeFile(folder / "new", OutputFile::Mode::Replace, large);
  Status replaced = writeFile(old, OutputFile::Mode::Replace, large);
  Status appended = writeFile(old, OutputFile::Mode::Append, large);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(fresh.ok());
  EXPECT_FALSE(replaced.ok());
  EXPECT_FALSE(appended.ok());
  EXPECT_EQ(folder.fileCount(), 1u);
  EXPECT_EQ(folder.read(old), "old");
}

} // namespace
} // namespace kiln::io
