// What tests of the store expect of a Status and a Result.
#ifndef KILN_STORE_TESTING_EXPECTATIONS_H
#define KILN_STORE_TESTING_EXPECTATIONS_H

#include <gtest/gtest.h>
#include <string_view>
#include <utility>

#include "kiln/base/status.h"

#define ASSERT_OK(expression)                                                                                          \
  do {                                                                                                                 \
    ::kiln::Status testStatus = (expression);                                                                          \
    ASSERT_TRUE(testStatus.ok()) << testStatus.toString();                                                             \
  } while (false)

namespace kiln::store::testing {

template <typename T> T valueOf(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().toString();
  return result.ok() ? *std::move(result) : T();
}

inline bool mentions(const Status &status, std::string_view text) {
  return status.message().find(text) != std::string_view::npos;
}

} // namespace kiln::store::testing

#endif // KILN_STORE_TESTING_EXPECTATIONS_H
