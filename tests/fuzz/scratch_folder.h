// Where a target puts files: a folder of its own, which is the working directory while the target runs.
#ifndef KILN_TESTS_FUZZ_SCRATCH_FOLDER_H
#define KILN_TESTS_FUZZ_SCRATCH_FOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace kiln::fuzz {

class ScratchFolder {
public:
  ScratchFolder() : path((std::filesystem::temp_directory_path() / "kiln-fuzz-XXXXXX").string()) {
    if (!::mkdtemp(path.data()))
      std::abort();
    std::filesystem::current_path(path);
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::current_path("/", error);
    std::filesystem::remove_all(path, error);
  }
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;

  void write(const std::string &name, std::string_view contents) const {
    std::ofstream(path + "/" + name, std::ios::binary) << contents;
  }

private:
  std::string path;
};

} // namespace kiln::fuzz

#endif // KILN_TESTS_FUZZ_SCRATCH_FOLDER_H
