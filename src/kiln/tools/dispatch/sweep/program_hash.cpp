#include "kiln/tools/dispatch/sweep/program_hash.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <unistd.h>
#include <wordexp.h>

#include "fmt/format.h"

#include "kiln/base/file.h"
#include "kiln/base/split.h"
#include "kiln/store/facts.h"

namespace kiln {

namespace fs = std::filesystem;

static constexpr uint64_t kLargestRead = uint64_t(256) << 20;

// As a shell has them, without running anything. Of what is more than one plain command, all that stands between blanks
// and operators.
static std::vector<std::string> wordsOf(const std::string &command) {
  wordexp_t expanded = {};
  const int failed = ::wordexp(command.c_str(), &expanded, WRDE_NOCMD);
  std::vector<std::string> words;
  if (failed == 0)
    words.assign(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
  if (failed == 0 || failed == WRDE_NOSPACE)
    ::wordfree(&expanded);
  if (failed == 0)
    return words;
  constexpr std::string_view kBetween = " \t\n|&;<>(){}'\"";
  for (size_t start = 0; (start = command.find_first_not_of(kBetween, start)) != command.npos;) {
    const size_t end = std::min(command.find_first_of(kBetween, start), command.size());
    words.push_back(command.substr(start, end - start));
    start = end;
  }
  return words;
}

// Where a shell finds the program; empty where it does not.
static std::string onPath(const std::string &program) {
  const char *path = std::getenv("PATH");
  if (program.find('/') != program.npos || !path)
    return program;
  for (std::string_view folder : split(path, ':')) {
    std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, program);
    std::error_code error;
    if (fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0)
      return file;
  }
  return {};
}

// Empty for what is no file that can be read.
static std::string fileHash(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return {};
  const uint64_t size = fs::file_size(path, error);
  if (!error && size > kLargestRead)
    return store::contentKey(
        {"large", std::to_string(size), std::to_string(fs::last_write_time(path, error).time_since_epoch().count())});
  Result<Ref<FileContents>> file = FileContents::open(path);
  return file.ok() ? store::contentKey({(*file)->text()}) : "";
}

std::string programHash(const std::string &command) {
  const std::vector<std::string> words = wordsOf(command);
  std::string files;
  for (size_t i = 0; i < words.size(); ++i)
    files += fileHash(i == 0 ? onPath(words[i]) : words[i]) + "\n";
  return store::contentKey({"program", command, files});
}

} // namespace kiln
