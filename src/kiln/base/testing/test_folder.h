// A folder of one test alone, also where its other instances run at the same time; removed with all that is in it.
#ifndef KILN_BASE_TESTING_TEST_FOLDER_H
#define KILN_BASE_TESTING_TEST_FOLDER_H

#include <cstdlib>
#include <filesystem>
#include <string>

#include <stdlib.h>

namespace kiln {

class TestFolder {
public:
  TestFolder() : path((std::filesystem::temp_directory_path() / "kiln-test-XXXXXX").string()) {
    if (!mkdtemp(path.data()))
      std::abort();
  }
  ~TestFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  TestFolder(const TestFolder &) = delete;
  TestFolder &operator=(const TestFolder &) = delete;

  std::string file(const std::string &name) const { return path + "/" + name; }

  std::string path;
};

} // namespace kiln

#endif // KILN_BASE_TESTING_TEST_FOLDER_H
