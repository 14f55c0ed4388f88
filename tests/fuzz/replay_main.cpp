// Runs a fuzz target on files, and on all files of folders, without libFuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

// In full, since a target may change the working directory.
std::vector<std::filesystem::path> filesOf(const std::filesystem::path &name) {
  const std::filesystem::path path = std::filesystem::absolute(name);
  if (!std::filesystem::is_directory(path))
    return {path};
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    if (entry.is_regular_file())
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i)
    std::ranges::copy(filesOf(argv[i]), std::back_inserter(paths));
  for (const std::filesystem::path &path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot read '%s'\n", argv[0], path.c_str());
      return 1;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    // A target that crashes leaves the name of its input as the last line.
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", paths.size());
  return paths.empty() ? 1 : 0;
}
