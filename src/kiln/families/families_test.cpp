// The goldens of each family are in its workload/test/, where lit compiles and runs them.
#include "kiln/families/families.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

namespace kiln::families {
namespace {

// Without the lines for lit.
std::string readGolden(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with("//"))
      text += line + "\n";
  return text;
}

// A golden is named after its problem and, where it has one, its configuration.
TEST(Families, EmitWhatTheirGoldensSay) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  std::map<std::string, size_t> goldens;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(KILN_FAMILIES_DIR)) {
    if (entry.path().extension() != ".mlir")
      continue;
    std::string stem = entry.path().stem();
    size_t at = stem.find("_tile_config_");
    std::string configuration = at == std::string::npos ? "" : stem.substr(at + 1);
    Result<std::unique_ptr<measure::Problem>> problem = registry.parse(stem.substr(0, at));
    ASSERT_TRUE(problem.ok()) << problem.status().toString();
    EXPECT_EQ((*problem)->mlir(stem, configuration), readGolden(entry.path())) << stem;
    ++goldens[std::string((*problem)->family())];
  }
  for (const std::unique_ptr<measure::Family> &family : registry.families())
    EXPECT_GT(goldens[std::string(family->name())], 0U) << family->name();
}

} // namespace
} // namespace kiln::families
