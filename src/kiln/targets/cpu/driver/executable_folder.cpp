#include "kiln/targets/cpu/driver/executable_folder.h"

#include "kiln/base/file.h"
#include "kiln/base/own_folder.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kiln::hal {

namespace fs = std::filesystem;

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
  KILN_RETURN_IF_ERROR(openOwnFolder(folder));
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
