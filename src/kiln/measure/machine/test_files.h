// A folder that stands in for the root of /proc and /sys.
#ifndef KILN_MEASURE_MACHINE_TEST_FILES_H
#define KILN_MEASURE_MACHINE_TEST_FILES_H

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace kiln::measure {

class FakeRoot {
public:
  FakeRoot() {
    std::string pattern = testing::TempDir() + "kiln-machine-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~FakeRoot() { std::filesystem::remove_all(path); }
  FakeRoot(const FakeRoot &) = delete;
  FakeRoot &operator=(const FakeRoot &) = delete;

  void write(const std::string &name, const std::string &text) const {
    std::filesystem::path file(path + name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }

  std::string path;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_TEST_FILES_H
