// Damaged and hostile modules: every byte changed, every length cut, with and without matching checksums. Nothing may
// crash; what loads must be safe to run.
#include "gtest/gtest.h"

#include "kiln/runtime/module/test_module.h"

namespace kiln::vm {
namespace {

std::string richBytes() {
  return *schema::writeModuleToString(testing::richDesc());
}

// Looks at all that is left of a module.
void useModule(const std::string &bytes) {
  std::vector<Status> problems;
  Container container = readContainer("fuzz", borrowFileBytes(bytes, {}), problems);
  if (Ref<Module> module = Module::inspect(std::move(container), problems)) {
    EXPECT_GT(testing::readModule(*module), 0u);
  }
}

TEST(ModuleFuzz, everyFlippedByteIsFound) {
  std::string bytes = richBytes();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char flip : {char(1), char(0x80), char(0xff)}) {
      std::string copy = bytes;
      copy[i] ^= flip;
      Result<Ref<Module>> module = testing::loadBytes(copy);
      ASSERT_FALSE(module.ok()) << "byte " << i;
      ASSERT_NE(module.status().message().find("test.vmfb"), std::string_view::npos);
    }
}

TEST(ModuleFuzz, everyTruncationIsFound) {
  std::string bytes = richBytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(testing::loadBytes(bytes.substr(0, size)).ok()) << size;
    if (size < 8192 || size % 16 == 0) {
      std::string hostile = bytes.substr(0, size);
      testing::repairChecksums(hostile);
      ASSERT_FALSE(testing::loadBytes(hostile).ok()) << size;
      useModule(hostile);
    }
  }
}

TEST(ModuleFuzz, hostileModulesAreSafeToLookAt) {
  std::string bytes = richBytes();
  size_t loaded = 0, refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    // Padding says the same for every byte of it.
    if (bytes[i] == 0 && i > 16 && bytes.compare(i - 8, 16, std::string(16, '\0')) == 0)
      continue;
    for (int bit = 0; bit < 9; ++bit) {
      std::string copy = bytes;
      copy[i] ^= bit < 8 ? static_cast<char>(1 << bit) : char(0xff);
      testing::repairChecksums(copy);
      useModule(copy);
      ++(testing::loadBytes(copy).ok() ? loaded : refused);
    }
  }
  // Some changes make another valid module (a name, an immediate); most do not.
  EXPECT_GT(loaded, 1000u);
  EXPECT_GT(refused, loaded / 2);
}

} // namespace
} // namespace kiln::vm
