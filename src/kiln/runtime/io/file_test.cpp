#include "kiln/runtime/io/file.h"

#include "kiln/runtime/io/test_util.h"

namespace kiln::io {
namespace {

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

} // namespace
} // namespace kiln::io
