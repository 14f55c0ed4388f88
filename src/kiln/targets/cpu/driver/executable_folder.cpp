#include "kiln/targets/cpu/driver/executable_folder.h"

#include "kiln/base/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::hal {

namespace fs = std::filesystem;

// Code is executed from here: a folder that others may write to is not trusted.
static Status openFolder(const std::string &folder) {
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return errnoStatus(errno, fmt::format("cannot create '{}'", folder));
  struct stat info;
  if (stat(folder.c_str(), &info) != 0)
    return errnoStatus(errno, fmt::format("cannot use '{}'", folder));
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)))
    return permissionDenied("'{}' is not a folder that only its owner can write to", folder);
  return okStatus();
}

static bool holds(const std::string &path, std::span<const std::byte> bytes) {
  Result<Ref<FileContents>> file = FileContents::open(path);
  return file.ok() && (*file)->bytes().size() == bytes.size() &&
         std::memcmp((*file)->bytes().data(), bytes.data(), bytes.size()) == 0;
}

// Whatever goes wrong here is no reason to fail: other processes do the same, and files vanish meanwhile.
static void removeOldest(const std::string &folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    fs::file_time_type time = it->last_write_time(error);
    if (!error && it->path().extension() == ".so")
      files.emplace_back(time, it->path());
    error.clear();
  }
  if (files.size() <= kMaxKeptExecutables)
    return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - kMaxKeptExecutables);
  for (const auto &[time, path] : files)
    fs::remove(path, error);
}

Result<std::string> keepExecutable(const std::string &folder, std::string_view name, std::span<const std::byte> bytes) {
  KILN_RETURN_IF_ERROR(openFolder(folder));
  std::string path = fmt::format("{}/{}-{:016x}.so", folder, name, XXH3_64bits(bytes.data(), bytes.size()));
  if (holds(path, bytes)) {
    // Young again, because it is used.
    std::error_code error;
    fs::last_write_time(path, fs::file_time_type::clock::now(), error);
    return path;
  }
  KILN_RETURN_IF_ERROR(writeFile(path, bytes));
  removeOldest(folder);
  return path;
}

} // namespace kiln::hal
