#include "kiln/tools/bench_model/work_folder.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "fmt/format.h"

namespace kiln {

namespace {

constexpr std::string_view kPrefix = "kiln-bench-model.";

// The folder, locked; nothing where somebody else holds the lock, or where it is no folder of this user.
FileDescriptor lockFolder(const std::string &path) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts = {};
  const bool isOwn = folder && ::fstat(folder.get(), &facts) == 0 && facts.st_uid == ::geteuid();
  return isOwn && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(folder) : FileDescriptor();
}

// What cannot be removed stays: it is not this process's to tell.
void removeStale(const std::string &parent) {
  std::error_code ignored;
  for (const std::filesystem::directory_entry &entry : std::filesystem::directory_iterator(parent, ignored))
    if (entry.path().filename().string().starts_with(kPrefix))
      if (FileDescriptor lock = lockFolder(entry.path().string()))
        std::filesystem::remove_all(entry.path(), ignored);
}

} // namespace

Result<WorkFolder> WorkFolder::create(const std::string &parent) {
  std::error_code error;
  const std::string place = parent.empty() ? std::filesystem::temp_directory_path(error).string() : parent;
  if (error)
    return errnoStatus(error.value(), "cannot find the folder of temporary files");
  removeStale(place);
  // More than one is needed only where another process takes the new folder for a stale one.
  constexpr int kTries = 100;
  for (int tried = 1;; ++tried) {
    std::string path = fmt::format("{}/{}XXXXXX", place, kPrefix);
    if (!::mkdtemp(path.data()))
      return errnoStatus(errno, fmt::format("cannot make a folder '{}'", path));
    FileDescriptor lock = lockFolder(path);
    // A file system without locks has folders all the same, which then stay where their process is killed.
    struct stat facts = {};
    if ((lock || tried == kTries) && ::stat(path.c_str(), &facts) == 0)
      return WorkFolder(std::move(path), std::move(lock));
  }
}

WorkFolder::WorkFolder(WorkFolder &&other) noexcept
    : path(std::exchange(other.path, {})), lock(std::move(other.lock)) {}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (!path.empty())
    std::filesystem::remove_all(path, ignored);
}

} // namespace kiln
