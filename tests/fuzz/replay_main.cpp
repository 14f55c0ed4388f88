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

std::vector<std::filesystem::path> filesOf(const std::filesystem::path &path) {
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
  size_t inputs = 0;
  for (int i = 1; i < argc; ++i)
    for (const std::filesystem::path &path : filesOf(argv[i])) {
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
      ++inputs;
    }
  std::printf("%zu inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
