// Where loaded code lives; the conformance suite has the good and bad executables.
#include "kiln/targets/cpu/driver/elf_image.h"

#include "kiln/base/file.h"
#include "kiln/base/file_descriptor.h"
#include "kiln/runtime/hal/conformance/test_executables.h"
#include "kiln/schema/executable_abi.h"
#include "kiln/targets/cpu/driver/executable_folder.h"

#include "gtest/gtest.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string>
#include <unistd.h>

namespace kiln::hal {
namespace {

namespace fs = std::filesystem;

class ElfImageTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kiln-elf-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
    folder = (root / "a" / "b").string();
    Result<Ref<FileContents>> file = conformance::testExecutableBytes("kernels");
    ASSERT_TRUE(file.ok()) << file.status().toString();
    contents = *file;
  }
  void TearDown() override { fs::remove_all(root); }

  std::set<std::string> names() const {
    std::set<std::string> result;
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
      result.insert(entry.path().filename().string());
    return result;
  }
  // The file that the loader has mapped the object from.
  static std::string mappedFrom(const ElfImage &image) {
    Dl_info info;
    return dladdr(image.symbol(KILN_EXECUTABLE_QUERY_SYMBOL), &info) ? info.dli_fname : "";
  }
  // Runs code of the object.
  static bool callsWork(const ElfImage &image) {
    auto query = reinterpret_cast<kiln_executable_query_fn_t>(image.symbol(KILN_EXECUTABLE_QUERY_SYMBOL));
    return query && query(KILN_EXECUTABLE_ABI_VERSION) != nullptr;
  }

  fs::path root;
  std::string folder;
  Ref<FileContents> contents;
};

TEST_F(ElfImageTest, LivesInAFileInMemoryThatDebuggersCanOpen) {
  Result<std::unique_ptr<ElfImage>> image = ElfImage::load("my module", contents->bytes(), "");
  ASSERT_TRUE(image.ok()) << image.status().toString();
  std::string path = mappedFrom(**image);
  EXPECT_EQ(path.rfind("/proc/", 0), 0u);
  EXPECT_NE(fs::read_symlink(path).string().find("my_module"), std::string::npos);
  Result<Ref<FileContents>> seen = FileContents::open(path);
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ((*seen)->text(), contents->text());
  *image = nullptr;
  EXPECT_FALSE(fs::exists(path));
}

// Nobody may change code that runs.
TEST_F(ElfImageTest, TheFileInMemoryIsSealed) {
  Result<std::unique_ptr<ElfImage>> image = ElfImage::load("m", contents->bytes(), folder);
  ASSERT_TRUE(image.ok()) << image.status().toString();
  FileDescriptor file(open(mappedFrom(**image).c_str(), O_RDWR));
  EXPECT_FALSE(file && write(file.get(), "x", 1) == 1);
  EXPECT_FALSE(file && ftruncate(file.get(), 0) == 0);
  EXPECT_TRUE(callsWork(**image));
}

TEST_F(ElfImageTest, ACopyStaysInTheFolderAndCodeDoesNotDependOnIt) {
  {
    Result<std::unique_ptr<ElfImage>> image = ElfImage::load("m", contents->bytes(), folder);
    ASSERT_TRUE(image.ok()) << image.status().toString();
    ASSERT_EQ(names().size(), 1u);
    EXPECT_EQ(names().begin()->rfind("m-", 0), 0u);
    Result<std::unique_ptr<ElfImage>> again = ElfImage::load("m", contents->bytes(), folder);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(names().size(), 1u);
    EXPECT_TRUE(callsWork(**image) && callsWork(**again));
    fs::resize_file(folder + "/" + *names().begin(), 0);
    EXPECT_TRUE(callsWork(**image) && callsWork(**again));
  }
  // It stays for perf, and is whole again with the next that loads it.
  ASSERT_TRUE(ElfImage::load("m", contents->bytes(), folder).ok());
  Result<Ref<FileContents>> kept = FileContents::open(folder + "/" + *names().begin());
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ((*kept)->text(), contents->text());
}

TEST_F(ElfImageTest, DoesNotTrustADamagedFile) {
  Result<std::string> path = keepExecutable(folder, "m", contents->bytes());
  ASSERT_TRUE(path.ok()) << path.status().toString();
  ASSERT_TRUE(writeFile(*path, std::string_view("something else")).ok());
  Result<std::unique_ptr<ElfImage>> image = ElfImage::load("m", contents->bytes(), folder);
  ASSERT_TRUE(image.ok()) << image.status().toString();
  EXPECT_TRUE(callsWork(**image));
  EXPECT_EQ((*FileContents::open(*path))->text(), contents->text());
}

TEST_F(ElfImageTest, TakesMemoryWhereTheFolderCannotBeUsed) {
  ASSERT_TRUE(writeFile((root / "file").string(), std::string_view("x")).ok());
  fs::create_directory(root / "open");
  fs::permissions(root / "open", fs::perms::all);
  for (const std::string &bad : {(root / "file").string(), (root / "file" / "x").string(), (root / "open").string(),
                                 std::string("/proc/nowhere")}) {
    Result<std::unique_ptr<ElfImage>> image = ElfImage::load("m", contents->bytes(), bad);
    ASSERT_TRUE(image.ok()) << image.status().toString();
    EXPECT_EQ(mappedFrom(**image).rfind("/proc/", 0), 0u) << bad;
  }
  EXPECT_TRUE(fs::is_empty(root / "open"));
}

TEST_F(ElfImageTest, KeepsTheNewestFiles) {
  std::string first = *keepExecutable(folder, "first", contents->bytes());
  std::string second = *keepExecutable(folder, "second", contents->bytes());
  fs::last_write_time(first, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::last_write_time(second, fs::file_time_type::clock::now() - std::chrono::hours(1));
  for (size_t i = 0; i < kMaxKeptExecutables - 2; ++i)
    ASSERT_TRUE(keepExecutable(folder, "x", std::as_bytes(std::span(&i, 1))).ok());
  EXPECT_EQ(names().size(), kMaxKeptExecutables);
  // To use a file makes it young.
  EXPECT_EQ(*keepExecutable(folder, "first", contents->bytes()), first);
  ASSERT_TRUE(keepExecutable(folder, "last", contents->bytes()).ok());
  EXPECT_EQ(names().size(), kMaxKeptExecutables);
  EXPECT_TRUE(fs::exists(first));
  EXPECT_FALSE(fs::exists(second));
}

} // namespace
} // namespace kiln::hal
