#include "kiln/base/expression.h"

#include <ctime>
#include <gtest/gtest.h>

namespace kiln {
namespace {

bool finds(const std::string &expression, const std::string &text) {
  Result<std::regex> parsed = parseExpression(expression);
  EXPECT_TRUE(parsed.ok()) << parsed.status().toString();
  return parsed.ok() && std::regex_search(text, *parsed);
}

TEST(Expression, IsWhatUsersWrite) {
  EXPECT_TRUE(finds("matmul_[0-9]+x64", "matmul_128x64x32_f32t"));
  EXPECT_TRUE(finds("^softmax|norm$", "rms_norm"));
  EXPECT_FALSE(finds("(?!.*f16)x", "y"));
  EXPECT_FALSE(parseExpression("[a-").ok());
  EXPECT_FALSE(parseExpression("(a").ok());
  EXPECT_NE(parseExpression("(m)\\1").status().message().find("refers back"), std::string::npos);
}

// Each of these took exponential time, or all of the stack.
TEST(Expression, NoneTakesForEver) {
  const std::clock_t start = std::clock(); // processor time
  const std::string name = "matmul_128x128x128_f32t_f32t_f32t_tile_config_default";
  EXPECT_FALSE(finds("(([a-z0-9_]+)+)+Z", name));
  EXPECT_FALSE(finds("(a|a|[a-z_0-9]*)*Z", name));
  EXPECT_TRUE(finds(std::string(900, '(') + "m" + std::string(900, ')'), name));
  for (size_t depth : {2'000, 60'000})
    EXPECT_EQ(parseExpression(std::string(depth, '(') + "m" + std::string(depth, ')')).status().code(),
              StatusCode::InvalidArgument);
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
}

} // namespace
} // namespace kiln
