// A folder for one test, removed with all that is in it.
#ifndef KILN_STORE_TESTING_TEMPORARY_FOLDER_H
#define KILN_STORE_TESTING_TEMPORARY_FOLDER_H

#include <filesystem>
#include <string>

#include <stdlib.h>

namespace kiln::store::testing {

class TemporaryFolder {
public:
  TemporaryFolder() : path((std::filesystem::temp_directory_path() / "kiln-store-XXXXXX").string()) {
    if (!mkdtemp(path.data()))
      path.clear();
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path.empty())
      std::filesystem::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string file(const std::string &name) const { return path + "/" + name; }

private:
  std::string path;
};

} // namespace kiln::store::testing

#endif // KILN_STORE_TESTING_TEMPORARY_FOLDER_H
