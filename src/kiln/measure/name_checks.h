// For tests of families: what holds of all names and configurations.
#ifndef KILN_MEASURE_NAME_CHECKS_H
#define KILN_MEASURE_NAME_CHECKS_H

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "kiln/base/tile_config.h"
#include "kiln/measure/family.h"

namespace kiln::measure {

inline void expectNamesComeBack(const FamilyRegistry &registry, const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    Result<std::unique_ptr<Problem>> problem = registry.parse(name);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    EXPECT_EQ((*problem)->name(), name);
    EXPECT_TRUE(name.starts_with((*problem)->family()));
  }
}

// A name, and what its error has to say.
struct MalformedName {
  std::string name, part;
};
inline void expectMalformed(const Family &family, const std::vector<MalformedName> &names) {
  for (const MalformedName &malformed : names) {
    Status status = family.parse(malformed.name).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << malformed.name;
    EXPECT_NE(status.message().find(malformed.part), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("the form is"), std::string::npos) << status.message();
  }
}

inline void expectConfigurations(const std::vector<std::string> &names, size_t fewest, size_t most) {
  EXPECT_GE(names.size(), fewest);
  EXPECT_LE(names.size(), most);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string &name : names) {
    Result<TileConfig> config = TileConfig::parse(name);
    ASSERT_TRUE(config.ok()) << config.status().message();
    EXPECT_EQ(config->name(), name);
  }
}

} // namespace kiln::measure

#endif // KILN_MEASURE_NAME_CHECKS_H
