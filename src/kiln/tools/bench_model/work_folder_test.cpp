#include "kiln/tools/bench_model/work_folder.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace kiln {
namespace {

class WorkFolders : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "work-folders-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    parent = name;
  }
  void TearDown() override { std::filesystem::remove_all(parent); }
  size_t count() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(parent), std::filesystem::directory_iterator()));
  }

  std::string parent;
};

TEST_F(WorkFolders, GoWithTheirContent) {
  {
    Result<WorkFolder> folder = WorkFolder::create(parent);
    ASSERT_TRUE(folder.ok());
    std::ofstream(folder->name() + "/input.0.npy") << "x";
    const WorkFolder moved = *std::move(folder);
    EXPECT_TRUE(std::filesystem::exists(moved.name() + "/input.0.npy"));
    EXPECT_EQ(count(), 1U);
  }
  EXPECT_EQ(count(), 0U);
}

TEST_F(WorkFolders, OfLivingProcessesStay) {
  const Result<WorkFolder> first = WorkFolder::create(parent), second = WorkFolder::create(parent);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(std::filesystem::exists(first->name()));
  EXPECT_EQ(count(), 2U);
}

TEST_F(WorkFolders, OfKilledProcessesAreRemovedAndNothingElse) {
  std::filesystem::create_directory(parent + "/kiln-bench-modelling");
  const pid_t child = ::fork();
  if (child == 0) {
    Result<WorkFolder> folder = WorkFolder::create(parent);
    if (folder.ok())
      std::ofstream(folder->name() + "/input.0.npy") << "x";
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(count(), 2U);
  const Result<WorkFolder> folder = WorkFolder::create(parent);
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(count(), 2U);
  EXPECT_TRUE(std::filesystem::exists(parent + "/kiln-bench-modelling"));
}

TEST_F(WorkFolders, NeedTheirParent) {
  const Result<WorkFolder> folder = WorkFolder::create(parent + "/missing");
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.status().message().find(parent + "/missing"), std::string_view::npos);
}

} // namespace
} // namespace kiln
