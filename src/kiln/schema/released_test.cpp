// What was released is still there: tests/released has the interface of each version, a line for each part.
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "fmt/format.h"
#include "gtest/gtest.h"

#include "kiln/schema/version.h"
#include "kiln/schema/vm_code.h"

namespace kiln::schema {
namespace {

// One line for each part of today's interface.
std::set<std::string> interfaceLines() {
  std::set<std::string> lines;
  for (uint16_t i = 0; i < kOpcodeCount; ++i)
    lines.insert(fmt::format("opcode {} {} {}", i, kOpcodes[i].mnemonic, kOpcodes[i].format));
#define KILN_HAL_IMPORT(Name, name, signature) lines.insert(fmt::format("import {} {}", name, signature));
#include "kiln/schema/hal_imports.def"
#define KILN_CHECK_IMPORT(Name, name, signature) lines.insert(fmt::format("import {} {}", name, signature));
#include "kiln/schema/check_imports.def"
#define KILN_ELEMENT_TYPE(Name, text, number, bits) lines.insert(fmt::format("element {} {} {}", number, text, bits));
#include "kiln/schema/element_type.def"
  return lines;
}

TEST(Released, EverythingIsStillThere) {
  std::set<std::string> now = interfaceLines();
  size_t versions = 0, released = 0;
  for (const auto &entry : std::filesystem::directory_iterator(KILN_RELEASED)) {
    if (entry.path().extension() != ".interface")
      continue;
    ++versions;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++released)
      EXPECT_TRUE(now.contains(line)) << entry.path() << " has: " << line;
  }
  EXPECT_GE(versions, 1u);
  EXPECT_GE(released, 100u);
}

// Who adds to the interface raises a version, and writes down what it has: see tests/released/README.md.
TEST(Released, NothingIsThereThatNoVersionHas) {
  std::filesystem::path path =
      std::filesystem::path(KILN_RELEASED) / fmt::format("vm-{}.{}-hal-{}.{}-check-{}.{}.interface", kVmVersion.major,
                                                         kVmVersion.minor, kHalVersion.major, kHalVersion.minor,
                                                         kCheckVersion.major, kCheckVersion.minor);
  std::string now, written;
  for (const std::string &line : interfaceLines())
    now += line + "\n";
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << "there is no " << path << "; it would hold:\n" << now;
  for (std::string line; std::getline(file, line);)
    written += line + "\n";
  EXPECT_EQ(written, now) << path;
}

TEST(Released, VersionsSupportEarlierMinorOnes) {
  EXPECT_TRUE((Version{1, 2}).supports({1, 2}));
  EXPECT_TRUE((Version{1, 2}).supports({1, 0}));
  EXPECT_FALSE((Version{1, 2}).supports({1, 3}));
  EXPECT_FALSE((Version{2, 0}).supports({1, 0}));
  EXPECT_FALSE((Version{1, 9}).supports({2, 0}));
}

} // namespace
} // namespace kiln::schema
