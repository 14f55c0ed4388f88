// For the tests of this folder: a folder that goes away with the test, and short spellings.
#ifndef KILN_RUNTIME_IO_TEST_UTIL_H
#define KILN_RUNTIME_IO_TEST_UTIL_H

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace kiln::io {

class TemporaryFolder {
public:
  TemporaryFolder() {
    path = (std::filesystem::temp_directory_path() / "kiln-io-XXXXXX").string();
    if (!mkdtemp(path.data()))
      std::abort();
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }

  std::string operator/(std::string_view name) const { return path + "/" + std::string(name); }

  std::string write(std::string_view name, std::string_view bytes) const {
    std::string file = *this / name;
    FILE *stream = std::fopen(file.c_str(), "wb");
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), stream), bytes.size());
    EXPECT_EQ(std::fclose(stream), 0);
    return file;
  }

  static std::string read(const std::string &file) {
    std::string bytes;
    if (FILE *stream = std::fopen(file.c_str(), "rb")) {
      char chunk[4096];
      while (size_t count = std::fread(chunk, 1, sizeof(chunk), stream))
        bytes.append(chunk, count);
      std::fclose(stream);
    }
    return bytes;
  }

  size_t fileCount() const {
    return std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator());
  }

  std::string path;
};

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

#define EXPECT_CONTAINS(text, part) EXPECT_TRUE(::kiln::io::contains(text, part)) << (text)

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_TEST_UTIL_H
