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

// What a family makes, it also finds by the types of its inputs and outputs. Split-k is no operation of its own, and
// types do not tell the zero points of quantized products.
TEST(Families, FindTheirProblemsByTheirTypes) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  for (const std::unique_ptr<measure::Family> &family : registry.families()) {
    Result<std::vector<std::unique_ptr<measure::Problem>>> problems = family->problems({});
    ASSERT_TRUE(problems.ok()) << problems.status().toString();
    for (const std::unique_ptr<measure::Problem> &problem : *problems) {
      size_t found = 0;
      for (const std::unique_ptr<measure::Problem> &like : registry.problemsWith(problem->inputs(), problem->outputs()))
        found += like->name() == problem->name();
      const bool isFound = family->name() != "matmul_splitk" && family->name() != "qmatmul";
      EXPECT_EQ(found, isFound ? 1U : 0U) << problem->name();
    }
  }
}

// No types of a program that somebody else wrote are too strange to be looked at.
TEST(Families, HaveNoProblemsOfTypesThatAreStrangeToThem) {
  measure::FamilyRegistry registry;
  registerFamilies(registry);
  using measure::TensorType;
  using T = hal::ElementType;
  const TensorType scalar{T::F32, {}}, none{T::F32, {0, 0, 0, 0}}, huge{T::F32, {uint64_t(1) << 40, 1 << 20}},
      deep{T::F32, {2, 2, 2, 2, 2, 2}}, truth{T::I1, {4, 4}};
  for (const TensorType &type : {scalar, none, huge, deep, truth})
    for (size_t inputs = 0; inputs < 4; ++inputs)
      EXPECT_TRUE(registry.problemsWith(std::vector<TensorType>(inputs, type), std::vector<TensorType>{type}).empty())
          << inputs << " of rank " << type.shape.size();
}

} // namespace
} // namespace kiln::families
